// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * One request in one session: its node, and where that stands ({@link PredecessorWatch}). An attempt and a withdrawal are made one after
 * the other ({@link #begin}).
 */
final class RequestNode {
    final Request request;
    final Session session;
    final String container;
    private final ReentrantLock verb = new ReentrantLock();
    private final NodeCreation creation;
    private final PredecessorWatch lookout;

    /** The parent of its node; null before the first attempt. */
    private volatile @Nullable Container parent;

    /** How its node was created. */
    private volatile FirstInLine.Entry entry = FirstInLine.Entry.UNPLEDGED;

    /** It was created, and the line has not been looked at since. */
    private boolean entered;

    /** The grant was handed out. */
    volatile boolean held;

    /** This client waits for the node to change. */
    volatile boolean watched;

    volatile boolean broken;

    /** What is between the number of a transaction and a token; negative until its first grant. */
    private long floor = -1;

    /** {@code note}: what its node is to hold; not changed any more. */
    RequestNode(Request request, Session session, String container, byte[] note, Consumer<RequestNode> turn) {
        this.request = request;
        this.session = session;
        this.container = container;
        this.creation = new NodeCreation(request, session, container, note);
        this.lookout = new PredecessorWatch(request, session, container, this::node, () -> turned(turn));
    }

    /** Waits until no other attempt or withdrawal is under way; to be ended by {@link #end}. */
    void begin(Await limit) throws TimeoutException, InterruptedException {
        if (!verb.tryLock(limit.end().nanos(), TimeUnit.NANOSECONDS)) {
            throw new TimeoutException("another call for request " + request.id() + " was under way all the time");
        }
    }

    void end() {
        verb.unlock();
    }

    @Nullable
    CreatedNode node() {
        return creation.node();
    }

    QueuePosition standing() {
        return lookout.standing();
    }

    /** Those behind it may watch how it leaves. */
    boolean isFollowed() {
        return request.mode() == LockMode.EXCLUSIVE && lookout.hasFollowers();
    }

    boolean isStale() {
        return lookout.isStale();
    }

    long lookedAt() {
        return lookout.lookedAt();
    }

    /** Asks whether the one that it waits for is still there. */
    void lookAgain(Await limit) throws KeeperException, TimeoutException, InterruptedException {
        try {
            limit.await(lookout.lookAgain());
        } catch (KeeperException.NoNodeException e) {
            // It has left: the line says who else is in the way.
        }
    }

    /** The grant is handed out; true if those behind it are to be told. */
    boolean handOut() {
        held = true;
        return lookout.endWait();
    }

    Grant grant(CreatedNode created) {
        return new Grant(request.id(), request.key(), token(created), session.timeout(), created.path());
    }

    /** The same for as long as its node is there. */
    synchronized long token(CreatedNode created) {
        if (floor < 0) {
            floor = session.breaks().tokenFloor();
        }
        return Math.addExact(created.czxid(), floor);
    }

    /** The number of the transaction of which that is the token. */
    synchronized long czxid(Grant grant) {
        return grant.token() - Math.max(0, floor);
    }

    private synchronized void forgetFloor() {
        floor = -1;
    }

    /** Where it is to stand; to be called before it enters. */
    void goTo(Container container) {
        parent = container;
    }

    @Nullable
    Container parent() {
        return parent;
    }

    /**
     * Creates the node if there is none yet, and lists the line, in one round trip. If the answer to the creation was lost
     * it looks first whether the node is there. If its number alone says that it is the first there is no listing.
     *
     * @return empty if its number says where it stands
     * @throws KeeperException.NoNodeException if the container is missing
     */
    Optional<List<String>> enter(Container in, Await limit)
            throws KeeperException, TimeoutException, InterruptedException {
        creation.resolve(limit);
        if (creation.node() == null && !creation.isPending()) {
            entered = true;
            entry = in.foresight.send(creation::send);
            if (entry == FirstInLine.Entry.ALONE) {
                settle(in, limit);
                if (in.foresight.knowsFirst(number())) {
                    entered = false;
                    lookout.standFirst();
                    return Optional.empty();
                }
            }
        }
        CompletableFuture<List<String>> listing = session.children(container, null);
        List<String> names = List.of();
        KeeperException failure = null;
        try {
            // It is answered last, so that the thread is woken once.
            names = limit.await(listing);
        } catch (KeeperException e) {
            failure = e;
        }
        settle(in, limit);
        if (failure != null) {
            throw failure;
        }
        return Optional.of(names);
    }

    private void settle(Container in, Await limit) throws KeeperException, TimeoutException, InterruptedException {
        creation.settle(limit);
        in.created(number());
    }

    private int number() {
        CreatedNode own = creation.node();
        return own == null ? 0 : own.number();
    }

    /** Nobody may be granted anything with its number. */
    boolean isBeyondNumbers() {
        int number = number();
        return number > Container.LAST || number < 0;
    }

    /** Finds out whether there is a node, and stops to watch for a turn: the request is given up. */
    void find(Await limit) throws KeeperException, TimeoutException, InterruptedException {
        lookout.stop();
        try {
            creation.settle(limit);
        } catch (KeeperException.ConnectionLossException e) {
            // Looked for below.
        }
        creation.resolve(limit);
    }

    /** The session goes on without this client. */
    void leaveTo(LeftoverNodes leftovers) {
        lookout.stop();
        boolean sent = creation.end();
        CreatedNode own = creation.node();
        if (own != null) {
            leftovers.delete(own.path());
        } else if (sent) {
            leftovers.deleteAll(container, NodeName.owner(session.owner(), request.id()));
        }
    }

    /** The node is gone: the request stands nowhere. */
    void lost() {
        forgetFloor();
        lookout.standNowhere();
        creation.lost();
        held = false;
        broken = false;
        watched = false;
    }

    /** Takes the listing of an attempt. */
    void lookAtOnce(List<String> names) {
        lookout.look(RequestQueue.of(names));
        Container in = parent;
        boolean first = standing().isFirst();
        if (in != null && entered && (first || request.queue())) {
            in.foresight.listed(number(), entry, first);
        }
        entered = false;
    }

    /** On the thread of the session's events: its turn has come, or it has to ask. */
    private void turned(Consumer<RequestNode> turn) {
        Container in = parent;
        // A reader may have other readers before it.
        if (in != null && request.mode() == LockMode.EXCLUSIVE && standing().kind() == QueuePosition.Kind.GRANTED) {
            in.foresight.isFirst(number(), entry);
        }
        turn.accept(this);
    }

    /** Its node was deleted by this client. */
    void deleted() {
        Container in = parent;
        if (in != null && creation.node() != null) {
            in.foresight.deleted(number());
        }
    }

    /** Tells those behind it that it waits no more; they look at permits anew. */
    void announce() {
        CreatedNode own = creation.node();
        if (own != null && request.mode() == LockMode.PERMITS && standing().followed()) {
            CompletableFuture<Stat> unused = session.set(
                    own.path(), NodeData.of(request.owner()).asGranted().bytes(), -1);
        }
    }
}
