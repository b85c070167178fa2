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
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * Locks and semaphores as lines of ephemeral sequential nodes, one for each request, under a container for each name; after
 * the lock recipe of ZooKeeper.
 *
 * <p>An uncontended acquire is a creation and a listing, sent together and answered in one round trip, or a
 * creation alone ({@link FirstInLine}); a release is a deletion. What is believed was confirmed by a majority: by the
 * creation of the request's own node, or by a transaction that changes nothing but is written, like any other, only while the session lives ({@link Session#transact}). Reads, which
 * one server answers by itself, only tell whom a request has to wait for: a node that has once been seen to be deleted
 * never comes back.
 */
final class ZooKeeperBackend implements LockBackend {
    static final Set<Feature> FEATURES = Collections.unmodifiableSet(EnumSet.of(
            Feature.READ_WRITE,
            Feature.SEMAPHORE,
            Feature.FENCING,
            Feature.FIFO,
            Feature.LIST,
            Feature.BREAK,
            Feature.WAKE_UP));

    private static final Guarantees GUARANTEES = new Guarantees(
            new Guarantee(Grade.ALWAYS, "while a majority of the ensemble keeps what it has written"),
            new Guarantee(
                    Grade.TIMED,
                    "if the answer is used at once, and no server is lost within half a tick of its answer to a client that"
                            + " reaches no other"),
            new Guarantee(Grade.ALWAYS, "while a majority of the ensemble keeps what it has written"),
            new Guarantee(Grade.ALWAYS, "while a majority of the ensemble keeps what it has written"),
            LockOptions.MIN_TTL,
            LockOptions.MAX_TTL);

    private final ZooKeeperSettings settings;
    private final Paths paths;
    private final RequestNodes places = new RequestNodes();
    private final Containers containers;
    private final TokenFloorWriter floor;
    private final Session.Terms terms;
    private final Sessions sessions;
    private final LockInspection inspection;
    private final NodeRemoval departures;
    private @Nullable Signals signals;
    private @Nullable Renewals renewals;

    ZooKeeperBackend(ZooKeeperSettings settings) {
        this.settings = settings;
        this.paths = new Paths(settings.base());
        this.containers = new Containers(paths);
        this.floor = new TokenFloorWriter(settings.floor(), paths, containers);
        this.terms = new Session.Terms(settings.servers(), settings.acl(), paths, settings.foresight());
        this.sessions = settings.source().sessions(settings, terms, new SessionEvents(places, this::signals), places);
        this.departures = new NodeRemoval(sessions, places, containers);
        this.inspection = new LockInspection(paths);
    }

    @Override
    public void start(Signals told, Incarnation client) throws Exception {
        signals = told;
        renewals = new Renewals(told, places, departures::gone);
        sessions.runIn(told);
        if (settings.eager().isPresent()) {
            Await until = Await.of(settings.eager().get());
            floor.give(sessions.connected(settings.anyKey(), settings.ttl(), until, false), until);
        }
    }

    private Signals signals() {
        Signals told = signals;
        if (told == null) {
            throw new IllegalStateException("not started");
        }
        return told;
    }

    // Requests.

    @Override
    public Attempt attempt(Request request, Duration limit) throws Exception {
        Await until = Await.of(limit);
        if (departures.isWithdrawn(request.id())) {
            throw new NotExecutedException("request " + request.id() + " was withdrawn");
        }
        long called = System.nanoTime();
        Session session = sessions.connected(request.key(), request.ttl(), until, request.queue());
        RequestNode place = place(request, session, until);
        place.begin(until);
        try {
            floor.give(session, until);
            Attempt result = attempt(place, called, until);
            if (departures.isWithdrawn(request.id())) {
                // Its withdrawal may have come before its place was there to be seen.
                departures.leave(place, until);
                departures.gone(place);
                throw new NotExecutedException("request " + request.id() + " was withdrawn");
            }
            return result;
        } catch (KeeperException.SessionExpiredException e) {
            throw new NotExecutedException("the session ended, and with it all that was asked in it", e);
        } catch (KeeperException e) {
            throw translated(e);
        } finally {
            place.end();
        }
    }

    private RequestNode place(Request request, Session session, Await until) throws Exception {
        String container = paths.container(request.key());
        RequestNode place = places.of(request, session, container, this::turnHasCome);
        if (place.request.capacity() != request.capacity()) {
            // Its node says by which capacity everybody is to judge it, and a node's name does not change.
            departures.withdraw(place, until);
            place = places.of(request, session, container, this::turnHasCome);
        }
        return place;
    }

    private Attempt attempt(RequestNode place, long called, Await until) throws Exception {
        Session session = place.session;
        CompletableFuture<BrokenGrants> begun = session.breaks().begin();
        while (true) {
            CreatedNode node = place.node();
            if (node != null && session.isOld(place.lookedAt(), 1)) {
                place.lookAgain(until);
            }
            if (node == null || place.isStale()) {
                Optional<List<String>> names = enter(place, until);
                if (place.isBeyondNumbers()) {
                    throw beyondNumbers(place, until);
                }
                names.ifPresent(place::lookAtOnce);
                node = place.node();
            }
            QueuePosition standing = place.standing();
            if (node == null || standing.kind() == QueuePosition.Kind.ABSENT) {
                // Somebody has deleted it: the request begins anew, behind the others.
                place.lost();
                continue;
            }
            boolean granted = standing.kind() == QueuePosition.Kind.GRANTED;
            if (!begun.isDone() || begun.isCompletedExceptionally()) {
                awaitBreaks(session, until);
                begun = session.breaks().begin();
            }
            if (!granted && !place.request.queue()) {
                departures.leave(place, until);
                departures.gone(place);
                return waiting(place, standing);
            }
            if ((place.held || session.isOld(session.confirmedAt(), granted ? 4 : 8))
                    && !confirmed(place, node, until)) {
                continue;
            }
            if (!granted) {
                return waiting(place, standing);
            }
            BrokenGrants broken = session.breaks().heard(until);
            if (!broken.has(node)) {
                return granted(place, node, called);
            }
            // Once the kit has given it back the request begins anew, behind the others.
            return new Attempt.Waiting(soon(place), OptionalInt.empty(), List.of(), Optional.of(place.grant(node)));
        }
    }

    /** Nothing is granted that could not be broken. */
    private void awaitBreaks(Session session, Await until) throws Exception {
        try {
            BrokenGrants unused = session.breaks().heard(until);
        } catch (KeeperException.NoNodeException e) {
            containers.makeUnderBase(session, paths.sessions(), until);
            BrokenGrants unused = session.breaks().heard(until);
        }
    }

    /** Leaves, so that the container can be deleted and made anew. */
    private NotExecutedException beyondNumbers(RequestNode place, Await until) throws Exception {
        departures.leave(place, until);
        place.lost();
        CompletableFuture<Boolean> unused = place.session.delete(place.container);
        return new NotExecutedException("the numbers of " + place.container + " are at their end, after "
                + Container.LAST + " requests without a pause; it is made anew as soon as nobody holds or waits there");
    }

    /** On the thread of the session's events, or of a caller who has just left. */
    private void turnHasCome(RequestNode place) {
        Session session = place.session;
        long confirmedAt = session.confirmedAt();
        CreatedNode node = place.node();
        if (node != null && isGranted(place, node) && !session.isOld(confirmedAt, 4)) {
            handOut(place);
            signals()
                    .granted(
                            place.request,
                            () -> node.equals(place.node()) && isGranted(place, node)
                                    ? Optional.of(new Attempt.Granted(
                                            place.grant(node), Duration.ofNanos(System.nanoTime() - confirmedAt)))
                                    : Optional.empty());
        } else {
            signals().recheck(place.request.key(), place.request.id());
        }
    }

    private static boolean isGranted(RequestNode place, CreatedNode node) {
        return place.standing().kind() == QueuePosition.Kind.GRANTED
                && place.session.breaks().knowsFloor()
                && !place.session.breaks().isBroken(node)
                && !place.session.isOver();
    }

    private static Attempt.Granted granted(RequestNode place, CreatedNode node, long called)
            throws NotExecutedException {
        handOut(place);
        if (place.session.isOver()) {
            // Its end was told before there was anything to lose by it.
            throw new NotExecutedException("the session ended, and with it what was granted in it");
        }
        long age = called - place.session.confirmedAt();
        return new Attempt.Granted(place.grant(node), Duration.ofNanos(Math.max(0, age)));
    }

    private static void handOut(RequestNode place) {
        boolean waited = place.handOut();
        if (waited) {
            place.announce();
        }
    }

    private static Attempt waiting(RequestNode place, QueuePosition standing) {
        return new Attempt.Waiting(soon(place), standing.ahead(), List.of());
    }

    private static Duration soon(RequestNode place) {
        return Duration.ofMillis(place.session.timeout().toMillis() / 4);
    }

    /** False if the node is not there any more; the place is lost then. */
    private static boolean confirmed(RequestNode place, CreatedNode node, Await until) throws Exception {
        List<KeeperException.Code> codes = until.await(place.session.transact(List.of(Op.check(node.path(), -1))));
        if (codes.get(0) == KeeperException.Code.NONODE) {
            place.lost();
            return false;
        }
        return true;
    }

    private Optional<List<String>> enter(RequestNode place, Await until) throws Exception {
        Container container = place.parent();
        if (container == null) {
            container = containers.entering(place.container, place.session);
            place.goTo(container);
        }
        while (true) {
            try {
                return place.enter(container, until);
            } catch (KeeperException.NoNodeException e) {
                place.lost();
                // Numbers begin anew.
                container = containers.enteringAnew(container);
                place.goTo(container);
                containers.make(place.session, place.container, until);
            }
        }
    }

    @Override
    public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
        Renewals started = renewals;
        if (started == null) {
            throw new NotExecutedException("not started");
        }
        return started.renew(grants, Await.of(limit));
    }

    @Override
    public Answer release(Grant grant, Duration limit) throws Exception {
        return departures.release(grant, Await.of(limit));
    }

    @Override
    public void withdraw(Request request, Duration limit) throws Exception {
        departures.withdraw(request, Await.of(limit));
    }

    private Exception translated(KeeperException e) {
        if (e instanceof KeeperException.AuthFailedException) {
            return terms.refusal(e);
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

    // Looking and breaking.

    @Override
    public LockPage list(String prefix, Optional<String> after, int max, Duration limit) throws Exception {
        Await until = Await.of(limit);
        return inspection.list(session(until), prefix, after, max, until);
    }

    @Override
    public Optional<LockStatus> show(LockKey key, Duration limit) throws Exception {
        Await until = Await.of(limit);
        return inspection.show(session(until), key, until);
    }

    @Override
    public boolean breakGrant(LockKey key, long token, String reason, Duration limit) throws Exception {
        Await until = Await.of(limit);
        return inspection.breakGrant(session(until), key, token, reason, until);
    }

    @Override
    public int availablePermits(LockKey key, int capacity, Duration limit) throws Exception {
        Await until = Await.of(limit);
        return inspection.availablePermits(session(until), key, capacity, until);
    }

    private Session session(Await until) throws NotExecutedException, InterruptedException {
        return sessions.any(settings.anyKey(), settings.ttl(), until);
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

    @Override
    public void forgotten(Request request) {
        departures.forgotten(request.id());
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
        return type == ZooKeeper.class ? sessions.open().map(session -> type.cast(session.handle())) : Optional.empty();
    }

    @Override
    public void close() {
        sessions.open().ifPresent(containers::deleteAll);
        sessions.close(Await.of(settings.closing()));
    }
}
