// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.zookeeper.QueuePosition.Kind;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;

/**
 * The time without readers that a soft writer waits for (LK-1209), as it hears of readers.
 *
 * <p><b>Whom it hears of.</b> A reader whose node was created after the writer's has the writer in its listing, and
 * writes to the node of the name when it is granted ({@link ReaderNotice}). One whose node was created before is in the
 * writer's listing, and has begun to hold when it is not among those that wait any more; that it has left instead is
 * taken for the same.
 *
 * <p><b>States.</b> Not begun: nothing was listed. Begun: the time runs from {@code since}, which each reader that is
 * heard of sets to now. The node of the name is watched ({@code watched}) or is about to be; what was written while it
 * was not is seen by the next listing, whose {@link Stat#getMzxid} is another.
 *
 * <p><b>Invariant.</b> {@code since} is not before the grant of a reader that was heard of: the writer's own clock is
 * read after the ensemble's answer, and it runs steadily, as the ensemble's, which is that of whoever leads it, does
 * not.
 */
final class QuietTime implements Watcher {
    private final Supplier<Watches> watches;
    private final String containerPath;
    private final Duration time;
    private final LongSupplier clock;

    /** The numbers of readers that asked before the writer and wait. */
    private Set<Integer> waiting = Set.of();

    private boolean begun;
    private long since;

    /** The last transaction that has written to the node of the name. */
    private long written;

    private boolean watched;

    /** @param clock monotonic, in nanoseconds */
    QuietTime(Supplier<Watches> watches, String containerPath, Duration time, LongSupplier clock) {
        this.watches = watches;
        this.containerPath = containerPath;
        this.time = time;
        this.clock = clock;
    }

    /**
     * Takes a listing, and returns the position of the writer, which yields for as long as the time has not passed.
     *
     * @param number of the writer's node
     * @param seen its position by that listing alone
     */
    synchronized QueuePosition look(RequestQueue queue, int number, Stat containerNow, QueuePosition seen) {
        heard(containerNow);
        Set<Integer> now = new HashSet<>();
        queue.waitingReaders(number).forEach(reader -> now.add(reader.number()));
        if (!now.containsAll(waiting)) {
            since = clock.getAsLong();
        }
        waiting = now;
        return seen.kind() == Kind.PASSES && !left().isZero() ? seen.yields() : seen;
    }

    private synchronized void heard(Stat containerNow) {
        if (!begun || containerNow.getMzxid() > written) {
            begun = true;
            written = containerNow.getMzxid();
            since = clock.getAsLong();
        }
    }

    /** How long it still has to wait, if no reader comes; not negative. */
    synchronized Duration left() {
        Duration left = time.minusNanos(begun ? clock.getAsLong() - since : 0);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** Hears of readers from now on as they are granted. */
    void watch() {
        synchronized (this) {
            if (watched) {
                return;
            }
            watched = true;
        }
        CompletableFuture<?> unused = watches.get()
                .data(containerPath, this, (data, stat) -> stat)
                .whenComplete((stat, failure) -> {
                    if (failure == null) {
                        heard(stat);
                    } else {
                        unwatched();
                    }
                });
    }

    private synchronized void unwatched() {
        watched = false;
    }

    void stop() {
        watches.get().forget(containerPath, this);
        unwatched();
    }

    /** The writer asks anew: readers that came since its node was deleted could not know of it. */
    synchronized void anew() {
        begun = false;
        waiting = Set.of();
    }

    @Override
    public void process(WatchedEvent event) {
        unwatched();
        if (event.getType() == Event.EventType.NodeDataChanged) {
            watch();
        }
    }
}
