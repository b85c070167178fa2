// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.ChangeHints;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.Leftovers;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * Locks and semaphores in ZooKeeper, as queues of ephemeral sequential nodes: one node for each request
 * ({@link RequestNode}), under a container for each name, in a session of this client's ({@link Session}). The verbs
 * find the session and the request, and translate what the ensemble answers.
 */
final class ZooKeeperBackend implements LockBackend, ChangeHints {
    static final Set<Feature> FEATURES = Collections.unmodifiableSet(EnumSet.of(
            Feature.READ_WRITE,
            Feature.SEMAPHORE,
            Feature.FENCING,
            Feature.FIFO,
            Feature.LIST,
            Feature.BREAK,
            Feature.WAKE_UP,
            Feature.DRAIN));

    private static final Guarantees GUARANTEES = new Guarantees(
            new Guarantee(Grade.ALWAYS, "while a majority of the ensemble keeps what it has written"),
            new Guarantee(
                    Grade.TIMED,
                    "if the answer is used at once, and no server is lost within half a tick of its answer to a client "
                            + "that"
                            + " reaches no other"),
            new Guarantee(Grade.ALWAYS, "while a majority of the ensemble keeps what it has written"),
            new Guarantee(Grade.ALWAYS, "while a majority of the ensemble keeps what it has written"),
            LockOptions.MIN_TTL,
            LockOptions.MAX_TTL);

    /** Of nodes that are deleted. */
    private static final int AT_ONCE = 100;

    private final ZooKeeperSettings settings;
    private final Containers containers;
    private final RequestNodes requests;
    private final Sessions sessions;
    private final Renewals renewals;
    private final LockInspection inspection;

    /** Null if this client asks for no floor of tokens. */
    private final @Nullable TokenFloorWriter floor;

    ZooKeeperBackend(ZooKeeperSettings settings) {
        this.settings = settings;
        Paths paths = settings.session().paths();
        this.containers = new Containers(paths);
        this.requests = new RequestNodes(paths, containers);
        this.floor = settings.floor()
                .map(wanted -> new TokenFloorWriter(wanted, paths, containers))
                .orElse(null);
        this.sessions = settings.source().sessions(settings, requests);
        this.renewals = new Renewals(requests);
        this.inspection = new LockInspection(paths);
    }

    @Override
    public void start(Signals signals, Incarnation client) throws Exception {
        requests.start(signals, sessions);
        sessions.runIn(signals);
        if (settings.eager().isPresent()) {
            Deadline deadline = Deadline.after(settings.eager().get());
            Session session = sessions.connected(settings.anyKey(), settings.ttl(), deadline, false);
            giveFloor(session, deadline);
        }
    }

    private void giveFloor(Session session, Deadline deadline) throws Exception {
        if (floor != null) {
            floor.give(session, deadline);
        }
    }

    // Requests.

    @Override
    public Attempt attempt(Request request, Duration limit) throws Exception {
        Deadline deadline = Deadline.after(limit);
        if (requests.isWithdrawn(request.id())) {
            throw withdrawn(request);
        }
        long calledAt = System.nanoTime();
        Session session = sessions.connected(request.key(), request.ttl(), deadline, request.queue());
        RequestNode node = requests.of(request, session, deadline);
        node.begin(deadline);
        try {
            giveFloor(session, deadline);
            Attempt result = node.attempt(calledAt, deadline);
            if (node.isGone()) {
                requests.gone(node);
            }
            if (requests.isWithdrawn(request.id())) {
                // Its withdrawal may have come before its node was there to be seen.
                node.leave(deadline);
                requests.gone(node);
                throw withdrawn(request);
            }
            return result;
        } catch (KeeperException.SessionExpiredException e) {
            throw new NotExecutedException("the session ended, and with it all that was asked in it", e);
        } catch (KeeperException e) {
            throw translated(e);
        } finally {
            node.end();
        }
    }

    private static NotExecutedException withdrawn(Request request) {
        return new NotExecutedException("request " + request.id() + " was withdrawn");
    }

    @Override
    public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
        return renewals.renew(grants, Deadline.after(limit));
    }

    @Override
    public Answer release(Grant grant, Duration limit) throws Exception {
        return requests.release(grant, Deadline.after(limit));
    }

    @Override
    public void withdraw(Request request, Duration limit) throws Exception {
        requests.withdraw(request, Deadline.after(limit));
    }

    private Exception translated(KeeperException e) {
        if (e instanceof KeeperException.AuthFailedException) {
            return settings.session().refusal(e);
        }
        if (e instanceof KeeperException.NoAuthException) {
            return new InvalidLockUrlException(
                    "The ensemble of " + settings.url() + " does not let this client use " + e.getPath()
                            + ": the user and password of the URL are not those that created it, or lack the right. Use"
                            + " the same for all clients, or a path of your own in the URL.",
                    e);
        }
        return e;
    }

    // Administration.

    @Override
    public LockPage list(String prefix, Optional<String> after, int max, Duration limit) throws Exception {
        Deadline deadline = Deadline.after(limit);
        return inspection.list(session(deadline), prefix, after, max, deadline);
    }

    @Override
    public Optional<LockStatus> show(LockKey key, Duration limit) throws Exception {
        Deadline deadline = Deadline.after(limit);
        return inspection.show(session(deadline), key, deadline);
    }

    @Override
    public CompletionStage<Long> change(LockKey key, long known, Duration limit) throws NotExecutedException {
        Session session = sessions.open().orElseThrow(() -> new NotExecutedException("no session is open"));
        return inspection.change(session, key, known, limit);
    }

    @Override
    public boolean breakGrant(LockKey key, long token, String reason, Duration limit) throws Exception {
        Deadline deadline = Deadline.after(limit);
        return inspection.breakGrant(session(deadline), key, token, reason, deadline);
    }

    @Override
    public int availablePermits(LockKey key, int capacity, Duration limit) throws Exception {
        Deadline deadline = Deadline.after(limit);
        return inspection.availablePermits(session(deadline), key, capacity, deadline);
    }

    private Session session(Deadline deadline) throws NotExecutedException, InterruptedException {
        return sessions.any(settings.anyKey(), settings.ttl(), deadline);
    }

    // The rest.

    /** All waits are waits for a future, until the limit or an interrupt. */
    @Override
    public boolean prompt() {
        return true;
    }

    @Override
    public boolean sessionBound() {
        return true;
    }

    /** A node says when it was created, and nothing is written when those before it leave. */
    @Override
    public boolean notesGrants() {
        return false;
    }

    @Override
    public void forgotten(Request request) {
        requests.forgotten(request.id());
    }

    @Override
    public Set<Feature> features() {
        return FEATURES;
    }

    @Override
    public Guarantees guarantees() {
        return GUARANTEES;
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        if (type == CuratorFramework.class) {
            return sessions.framework().map(type::cast);
        }
        if (type == Leftovers.class) {
            Leftovers leftovers = this::removeBase;
            return Optional.of(type.cast(leftovers));
        }
        return type == ZooKeeper.class ? sessions.open().map(session -> type.cast(session.handle())) : Optional.empty();
    }

    private void removeBase(Duration limit) throws Exception {
        Deadline deadline = Deadline.after(limit);
        Session session = sessions.connected(settings.anyKey(), settings.ttl(), deadline, false);
        Paths paths = settings.session().paths();
        while (!ZKUtil.deleteRecursive(session.handle(), paths.base(), AT_ONCE)) {
            deadline.check("all nodes below " + paths.base() + " were deleted");
        }
    }

    @Override
    public void close() {
        sessions.open().ifPresent(containers::deleteAll);
        sessions.close(Deadline.after(settings.closing()));
    }
}
