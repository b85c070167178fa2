// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.memory;

import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.spi.TimeSource;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/** What is due at some time of a world, in order. On the world's thread, but for {@link Alarm#cancel}. */
final class Alarms {
    private static final int CROWD = 1_000;

    private final PriorityQueue<Alarm> queue = new PriorityQueue<>();
    private long order;
    /** With so many alarms, those that were cancelled are thrown out. */
    private int crowded = CROWD;

    static final class Alarm implements TimeSource.Scheduled, Comparable<Alarm> {
        private final long at;
        private final Runnable task;
        private volatile boolean cancelled;
        private long order;

        Alarm(long at, Runnable task) {
            this.at = at;
            this.task = task;
        }

        private void ring(Consumer<Runnable> runner) {
            if (!cancelled) {
                runner.accept(task);
            }
        }

        @Override
        public void cancel() {
            cancelled = true;
        }

        @Override
        public int compareTo(Alarm other) {
            long difference = at - other.at;
            return difference != 0 ? Long.signum(difference) : Long.compare(order, other.order);
        }
    }

    void add(Alarm alarm) {
        alarm.order = order++;
        queue.add(alarm);
        if (queue.size() > crowded) {
            // Cancelled ones would keep what they hold until their time comes.
            queue.removeIf(each -> each.cancelled);
            crowded = Math.max(CROWD, 2 * queue.size());
        }
    }

    /** Rings the first one, by {@code runner}, if it is due; false if none is. */
    boolean ring(long now, Consumer<Runnable> runner) {
        Alarm first = queue.peek();
        if (first == null || first.at - now > 0) {
            return false;
        }
        queue.poll();
        first.ring(runner);
        return true;
    }

    /** Nanoseconds until the first one is due; {@link Turn#NEVER} if there is none. */
    long nextDue(long now) {
        Alarm first = queue.peek();
        return first == null ? Turn.NEVER : first.at - now;
    }
}
