// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Request;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

/**
 * Where a request stands in its line, and the one node that it watches while it waits: that which decides when its turn comes.
 * What the watch says is followed up on the thread of the session's events, without a wait.
 */
final class PredecessorWatch {
    private final Request request;
    private final Session session;
    private final String container;
    private final Supplier<@Nullable CreatedNode> node;
    private final Runnable turn;

    private volatile QueuePosition standing = QueuePosition.ABSENT;

    /** What is watched is not known: look again. */
    private volatile boolean stale = true;

    private volatile long lookedAt;

    /** Counts what is watched; an answer or event of an earlier watch says nothing. */
    private int watch;

    /** Ends what is watched. */
    private Runnable unwatch = () -> {};

    /** Those behind it may believe that it waits, and have not been told otherwise. */
    private volatile boolean waited;

    private volatile boolean everWaited;

    /**
     * For one request.
     *
     * @param node its node, while it is known to be there
     * @param turn is told when its turn has come, or when it has to ask
     */
    PredecessorWatch(
            Request request, Session session, String container, Supplier<@Nullable CreatedNode> node, Runnable turn) {
        this.request = request;
        this.session = session;
        this.container = container;
        this.node = node;
        this.turn = turn;
    }

    QueuePosition standing() {
        return standing;
    }

    boolean isStale() {
        return stale;
    }

    long lookedAt() {
        return lookedAt;
    }

    /** Others may stand behind it. */
    boolean hasFollowers() {
        return everWaited || standing.followed();
    }

    /** It was granted; true if those behind it are to be told. */
    boolean endWait() {
        boolean first = waited;
        waited = false;
        return first;
    }

    /** Its node is not there; what it watched was in the way of that, and says nothing of the next. */
    void standNowhere() {
        stop();
        standing = QueuePosition.ABSENT;
        stale = true;
    }

    /** Its number says that nobody stands before it. */
    void standFirst() {
        int unused = standsAt(QueuePosition.FIRST);
    }

    /** It is known where it stands; returns the count of what it is to watch. */
    private synchronized int standsAt(QueuePosition seen) {
        standing = seen;
        lookedAt = System.nanoTime();
        stale = false;
        boolean waits = seen.kind() != QueuePosition.Kind.GRANTED;
        // Those behind it may have seen it wait, though it has not seen that itself.
        waited |= waits || (request.mode() == LockMode.PERMITS && seen.followed());
        everWaited |= waits;
        return anotherWatch();
    }

    private synchronized int anotherWatch() {
        unwatch.run();
        unwatch = () -> {};
        return ++watch;
    }

    /** What is watched by that count can be ended so. */
    private synchronized void watches(int count, Runnable end) {
        if (count == watch) {
            unwatch = end;
        } else {
            end.run();
        }
    }

    /**
     * Whether the one that it waits for is still there, or nobody but the line says whom it waits for; if not it has to
     * look anew. Asked once in a while, in case that a watch was lost.
     */
    CompletableFuture<?> lookAgain() {
        QueuePosition seen = standing;
        lookedAt = System.nanoTime();
        if (seen.kind() == QueuePosition.Kind.GRANTED) {
            return CompletableFuture.completedFuture(null);
        }
        if (seen.behind().isEmpty() || request.mode() == LockMode.PERMITS) {
            // That one may be there and wait no more, and may have failed to say so.
            stale = true;
            return CompletableFuture.completedFuture(null);
        }
        return session.stat(container + "/" + seen.behind().get()).whenComplete((none, failure) -> {
            if (failure instanceof KeeperException.NoNodeException && seen.equals(standing)) {
                stale = true;
            }
        });
    }

    /** Takes the listing of an attempt. */
    void look(RequestQueue line) {
        look(line, 0, false);
    }

    /**
     * Takes a listing, and watches what it says is to be watched. True if the turn has come, or somebody deleted the node.
     *
     * @param asOf the count of what was watched when it was asked for, without which it says nothing; 0 for an attempt's own
     * @param watchesLine whether a watch of the line came with it
     */
    private boolean look(RequestQueue line, int asOf, boolean watchesLine) {
        QueuePosition seen;
        int count;
        synchronized (this) {
            if (asOf != 0 && asOf != watch) {
                return false;
            }
            CreatedNode own = node.get();
            seen = own == null ? QueuePosition.ABSENT : line.of(NodeName.name(own.path()));
            boolean wasGranted = standing.kind() == QueuePosition.Kind.GRANTED;
            Runnable ofTheLine = unwatch;
            if (watchesLine) {
                unwatch = () -> {};
            }
            count = standsAt(seen);
            if (watchesLine) {
                // It still watches what it was told of.
                watch = asOf;
                count = asOf;
                unwatch = ofTheLine;
            }
            if (seen.kind() == QueuePosition.Kind.GRANTED) {
                return !wasGranted;
            }
        }
        if (seen.kind() == QueuePosition.Kind.ABSENT) {
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

    private void watch(String name, QueuePosition.Knowledge then, int count) {
        NodeWatch ahead = ahead(name, then, count);
        if (request.mode() == LockMode.PERMITS) {
            ahead.watchPermits();
        } else {
            CompletableFuture<?> unused = ahead.watch();
        }
    }

    private NodeWatch ahead(String name, QueuePosition.Knowledge then, int count) {
        NodeWatch ahead = new NodeWatch(session, container + "/" + name, then, listener(count));
        watches(count, ahead::stop);
        return ahead;
    }

    private NodeWatch.Listener listener(int count) {
        return new NodeWatch.Listener() {
            @Override
            public void left(boolean nobody) {
                follow(nobody, count);
            }

            @Override
            public void lostSight() {
                PredecessorWatch.this.lostSight();
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
            wasFirst = standing.kind() == QueuePosition.Kind.FIRST;
            if (granted) {
                int unused = anotherWatch();
                standing = standing.granted();
            }
        }
        if (granted) {
            turn.run();
        } else if (wasFirst) {
            lookAndWatchLine();
        } else {
            list(null, count);
        }
    }

    private void list(@Nullable Watcher watcher, int count) {
        CompletableFuture<List<String>> listing = watcher == null
                ? session.children(container, null)
                : session.watches().children(container, watcher);
        CompletableFuture<List<String>> unused = listing.whenComplete((names, failure) -> {
            if (failure != null) {
                lostSight();
            } else if (look(RequestQueue.of(names), count, watcher != null)) {
                turn.run();
            }
        });
    }

    /** Nobody will tell it: it has to ask. */
    private void lostSight() {
        stale = true;
        if (!session.isOver()) {
            turn.run();
        }
    }

    private void lookAndWatchLine() {
        int count = anotherWatch();
        Watcher watcher = event -> follow(false, count);
        watches(count, () -> session.watches().forget(container, watcher));
        list(watcher, count);
    }

    /** Whatever is watched says nothing more. */
    void stop() {
        int unused = anotherWatch();
    }
}
