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
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * One request in one session: its node, and where that stands. While it waits it watches one node, that which decides when
 * its turn comes; what the watch says is followed up on the thread of the session's events, without a wait, and the kit is
 * told when the turn has come. An attempt and a withdrawal are made one after the other ({@link #begin}).
 */
final class Place {
    final Request request;
    final Session session;
    final String container;
    private final Consumer<Place> turn;
    private final ReentrantLock verb = new ReentrantLock();
    private final Creation creation;

    /** What is known about its line; null before the first attempt. */
    private volatile @Nullable Head head;

    /** Its node was created, and whether its number would have told enough is not known yet. */
    private boolean entering;

    private volatile Standing standing = Standing.ABSENT;

    /** What is watched is not known: look again. */
    private volatile boolean stale = true;

    private volatile long lookedAt;

    /** Counts what is watched; an answer or event of an earlier watch says nothing. */
    private int watch;

    /** It was not granted at once, and those behind it have not been told that it is. */
    private volatile boolean waited;

    private volatile boolean everWaited;

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
        this.turn = turn;
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
        return standing;
    }

    /** Those behind it may watch how it leaves. */
    boolean isFollowed() {
        Creation.Made own = creation.made();
        return request.mode() == LockMode.EXCLUSIVE
                && (everWaited || standing.followed())
                && (own == null || !own.succession().isAwaited());
    }

    boolean isStale() {
        return stale;
    }

    long lookedAt() {
        return lookedAt;
    }

    /** The grant is handed out; true if it had to be waited for. */
    boolean handOut() {
        held = true;
        boolean first = waited;
        waited = false;
        return first;
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
            standsAt(Standing.FIRST_BY_NUMBER);
            return true;
        }
        if (own.sent().numbered() && request.queue()) {
            behind(own);
            return true;
        }
        return false;
    }

    boolean isBeyondNumbers() {
        Creation.Made own = creation.made();
        return own != null && own.isBeyondNumbers();
    }

    /** It is known where it stands; returns the count of what it is to watch. */
    private synchronized int standsAt(Standing seen) {
        standing = seen;
        lookedAt = System.nanoTime();
        stale = false;
        boolean waits = seen.kind() != Standing.Kind.GRANTED;
        waited |= waits;
        everWaited |= waits;
        return ++watch;
    }

    /** Waits behind the writer of the number before, if it is there; if it has left, it looks who else is. */
    private void behind(Creation.Made own) {
        int count = standsAt(Standing.behind(own.before()));
        Succession before = own.head().writer(own.number() - 1);
        if (before != null && before.isAwaitedBy(after(count))) {
            own.head().told(true);
            return;
        }
        CompletableFuture<?> unused = Ahead.watch(
                        session,
                        container + "/" + own.before(),
                        Standing.Knowledge.ALL_LEFT_IF_IT_HELD,
                        listener(count))
                .whenComplete((none, failure) -> own.head().told(failure == null));
    }

    private Succession.Next after(int count) {
        return new Succession.Next() {
            @Override
            public boolean waits() {
                return isWatch(count);
            }

            @Override
            public void left(boolean held) {
                follow(held, count);
            }
        };
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
        stopWatching();
        try {
            creation.settle(limit);
        } catch (KeeperException.ConnectionLossException e) {
            // Looked for below.
        }
        creation.resolve(limit);
    }

    /** The node is gone: the request stands nowhere. */
    void lost() {
        // What it watched was in the way of the old node, and says nothing of the next.
        stopWatching();
        leave(false);
        creation.lost();
        held = false;
        broken = false;
        watched = false;
        standing = Standing.ABSENT;
        stale = true;
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
        look(line, 0, false);
    }

    /** Whether its number, without the listing, would have told what that says. */
    private boolean wouldTell(Creation.Made own, Line line) {
        boolean mayFollow = request.mode() == LockMode.EXCLUSIVE && request.queue();
        return own.head().wouldBeFirst(own.number())
                || (mayFollow
                        && line.writer(own.number() - 1).filter(own::wouldKnow).isPresent());
    }

    /**
     * Takes a listing, and watches what it says is to be watched. True if the turn has come, or somebody deleted the node.
     *
     * @param asOf the count of what was watched when it was asked for, without which it says nothing; 0 for an attempt's own
     * @param watchesLine whether a watch of the line came with it
     */
    private boolean look(Line line, int asOf, boolean watchesLine) {
        Standing seen;
        int count;
        synchronized (this) {
            if (asOf != 0 && asOf != watch) {
                return false;
            }
            Creation.Made own = creation.made();
            seen = own == null ? Standing.ABSENT : line.of(own.name());
            boolean wasGranted = standing.kind() == Standing.Kind.GRANTED;
            count = standsAt(seen);
            if (watchesLine) {
                // It still watches what it was told of.
                watch = asOf;
                count = asOf;
            }
            if (seen.kind() == Standing.Kind.GRANTED) {
                if (seen.ahead().orElse(1) == 0) {
                    standsFirst();
                }
                return !wasGranted;
            }
        }
        if (seen.kind() == Standing.Kind.ABSENT) {
            return true;
        }
        if (!request.queue()) {
            return false;
        }
        if (seen.behind().isPresent()) {
            watch(seen.behind().get(), seen.then(), count);
        } else if (!watchesLine) {
            lookAndWatchLine();
        }
        return false;
    }

    private void standsFirst() {
        Creation.Made own = creation.made();
        if (own != null) {
            own.head().isFirst(own.number(), own.sent().entry());
        }
    }

    private void watch(String name, Standing.Knowledge then, int count) {
        String path = container + "/" + name;
        if (request.mode() == LockMode.PERMITS) {
            Ahead.watchPermits(session, path, listener(count));
        } else {
            CompletableFuture<?> unused = Ahead.watch(session, path, then, listener(count));
        }
    }

    private Ahead.Listener listener(int count) {
        return new Ahead.Listener() {
            @Override
            public void left(boolean nobody) {
                follow(nobody, count);
            }

            @Override
            public void lostSight() {
                Place.this.lostSight();
            }
        };
    }

    /** Whom it watched has left or changed. */
    private void follow(boolean granted, int count) {
        boolean wasFirst;
        synchronized (this) {
            if (count != watch) {
                return;
            }
            wasFirst = standing.kind() == Standing.Kind.FIRST;
            if (granted) {
                watch++;
                standing = standing.granted();
                if (request.mode() == LockMode.EXCLUSIVE) {
                    // A reader may have other readers before it.
                    standsFirst();
                }
            }
        }
        if (granted) {
            turn.accept(this);
        } else if (wasFirst) {
            lookAndWatchLine();
        } else {
            CompletableFuture<List<String>> unused = session.children(container, null)
                    .whenComplete((names, failure) -> {
                        if (failure != null) {
                            lostSight();
                        } else if (look(Line.of(names), count, false)) {
                            turn.accept(this);
                        }
                    });
        }
    }

    /** Nobody will tell it: it has to ask. */
    private void lostSight() {
        stale = true;
        if (!session.isOver()) {
            turn.accept(this);
        }
    }

    private void lookAndWatchLine() {
        int count;
        synchronized (this) {
            count = ++watch;
        }
        Watcher watcher = event -> {
            if (event.getType() != Watcher.Event.EventType.None) {
                follow(false, count);
            }
        };
        CompletableFuture<List<String>> unused = session.children(container, watcher)
                .whenComplete((names, failure) -> {
                    if (failure != null) {
                        lostSight();
                    } else if (look(Line.of(names), count, true)) {
                        turn.accept(this);
                    }
                });
    }

    private synchronized boolean isWatch(int count) {
        return count == watch;
    }

    private synchronized void stopWatching() {
        watch++;
    }

    /** Tells those behind it that it waits no more; they look at permits anew. */
    void announce() {
        Node own = creation.node();
        if (own != null && request.mode() == LockMode.PERMITS && standing.followed()) {
            CompletableFuture<Stat> unused =
                    session.set(own.path(), Note.of(request.owner()).asGranted().bytes(), -1);
        }
    }
}
