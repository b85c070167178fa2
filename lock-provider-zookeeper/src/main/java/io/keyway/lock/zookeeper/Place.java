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
 * One request in one session: its node, and where that stands ({@link Lookout}). An attempt and a withdrawal are made one after
 * the other ({@link #begin}).
 */
final class Place {
    final Request request;
    final Session session;
    final String container;
    private final ReentrantLock verb = new ReentrantLock();
    private final Creation creation;
    private final Lookout lookout;

    /** What is known about its line; null before the first attempt. */
    private volatile @Nullable Head head;

    /** Its node was created, and whether its number would have told enough is not known yet. */
    private boolean entering;

    /** The grant was handed out. */
    volatile boolean held;

    /** This client waits for the node to change. */
    volatile boolean watched;

    volatile boolean broken;

    /** {@code note}: what its node is to hold; not changed any more. */
    Place(Request request, Session session, String container, byte[] note, Consumer<Place> turn) {
        this.request = request;
        this.session = session;
        this.container = container;
        this.creation = new Creation(request, session, container, note);
        this.lookout = new Lookout(request, session, container, creation::made, () -> turn.accept(this));
    }

    /** Waits until no other attempt or withdrawal is under way; to be ended by {@link #end}. */
    void begin(Limit limit) throws TimeoutException, InterruptedException {
        if (!verb.tryLock(limit.end().nanos(), TimeUnit.NANOSECONDS)) {
            throw new TimeoutException("another call for request " + request.id() + " was under way all the time");
        }
    }

    void end() {
        verb.unlock();
    }

    @Nullable
    Node node() {
        return creation.node();
    }

    Standing standing() {
        return lookout.standing();
    }

    /** Those behind it may watch how it leaves. */
    boolean isFollowed() {
        Creation.Made own = creation.made();
        return request.mode() == LockMode.EXCLUSIVE
                && lookout.hasFollowers()
                && (own == null || !own.succession().isAwaited());
    }

    boolean isStale() {
        return lookout.isStale();
    }

    long lookedAt() {
        return lookout.lookedAt();
    }

    /** Asks whether the one that it waits for is still there. */
    void lookAgain(Limit limit) throws KeeperException, TimeoutException, InterruptedException {
        try {
            limit.await(lookout.lookAgain());
        } catch (KeeperException.NoNodeException e) {
            // It has left: the line says who else is in the way.
        }
    }

    /** The grant is handed out; true if it had to be waited for. */
    boolean handOut() {
        held = true;
        return lookout.endWait();
    }

    Grant grant(Node created) {
        return new Grant(request.id(), request.key(), created.czxid(), session.timeout(), created.path());
    }

    /** Where it is to stand; to be called before it enters. */
    void goTo(Head line) {
        head = line;
    }

    @Nullable
    Head head() {
        return head;
    }

    /**
     * Creates the node if there is none yet, and lists the line, in one round trip. If the answer to the creation was lost
     * it looks first whether the node is there. If its number alone says that it is the first, or who stands before it, there
     * is no listing.
     *
     * @return empty if its number says where it stands
     * @throws KeeperException.NoNodeException if the container is missing
     */
    Optional<List<String>> enter(Limit limit) throws KeeperException, TimeoutException, InterruptedException {
        creation.resolve(limit);
        Head line = head;
        if (creation.node() == null && !creation.isPending() && line != null) {
            entering = true;
            Head.Entry entry = creation.send(line);
            if (entry == Head.Entry.ALONE) {
                creation.settle(limit);
                if (stands()) {
                    entering = false;
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
        creation.settle(limit);
        if (failure != null) {
            throw failure;
        }
        return Optional.of(names);
    }

    /** Whether its number says where it stands. */
    private boolean stands() {
        Creation.Made own = creation.made();
        if (own == null) {
            return false;
        }
        if (own.head().knowsFirst(own.number())) {
            own.head().told(true);
            lookout.standFirst();
            return true;
        }
        if (own.sent().numbered() && request.queue()) {
            lookout.standBehind(own);
            return true;
        }
        return false;
    }

    boolean isBeyondNumbers() {
        Creation.Made own = creation.made();
        return own != null && own.isBeyondNumbers();
    }

    /** Its node was deleted by this client. {@code held}: it was granted, so that all before it have left. */
    void deleted(boolean held) {
        Creation.Made own = creation.made();
        if (own != null) {
            own.head().deleted(own.number());
        }
        leave(held);
    }

    private void leave(boolean held) {
        Creation.Made own = creation.made();
        if (own != null) {
            own.head().leaves(own.number(), own.succession());
            own.succession().end(held);
        }
    }

    /** Whatever has become of its node, nobody is to wait for its word. */
    void gone() {
        leave(false);
    }

    /** Finds out whether there is a node, and stops to watch for a turn: the request is given up. */
    void find(Limit limit) throws KeeperException, TimeoutException, InterruptedException {
        lookout.stop();
        try {
            creation.settle(limit);
        } catch (KeeperException.ConnectionLossException e) {
            // Looked for below.
        }
        creation.resolve(limit);
    }

    /** The session goes on without this client. */
    void leaveTo(Leftovers leftovers) {
        lookout.stop();
        Node own = creation.node();
        if (own != null) {
            leftovers.delete(own.path());
        } else if (creation.wasSent()) {
            leftovers.deleteAll(container, Ticket.owner(session.id(), request.id()));
        }
    }

    /** The node is gone: the request stands nowhere. */
    void lost() {
        lookout.standNowhere();
        leave(false);
        creation.lost();
        held = false;
        broken = false;
        watched = false;
    }

    /** Takes the listing of an attempt. */
    void lookAtOnce(List<String> names) {
        Line line = Line.of(names);
        Creation.Made own = creation.made();
        boolean would = entering && own != null && wouldTell(own, line);
        if (entering && own != null && (would || request.queue())) {
            own.head().told(would);
        }
        entering = false;
        lookout.look(line);
    }

    /** Whether its number, without the listing, would have told what that says. */
    private boolean wouldTell(Creation.Made own, Line line) {
        boolean mayFollow = request.mode() == LockMode.EXCLUSIVE && request.queue();
        return own.head().wouldBeFirst(own.number())
                || (mayFollow
                        && line.writer(own.number() - 1).filter(own::wouldKnow).isPresent());
    }

    /** Tells those behind it that it waits no more; they look at permits anew. */
    void announce() {
        Node own = creation.node();
        if (own != null && request.mode() == LockMode.PERMITS && standing().followed()) {
            CompletableFuture<Stat> unused =
                    session.set(own.path(), Note.of(request.owner()).asGranted().bytes(), -1);
        }
    }
}
