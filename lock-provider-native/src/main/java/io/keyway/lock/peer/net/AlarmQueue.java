// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.spi.TimeSource;
import java.util.Comparator;
import java.util.PriorityQueue;

/** Tasks that are due later, by times that can be compared. For tasks only, but for {@link #next}. */
final class AlarmQueue {
    /** Later than any time. */
    static final long NEVER = Long.MAX_VALUE;

    private final class Alarm implements TimeSource.Scheduled, Runnable {
        private final long at;
        private final Runnable task;
        private boolean cancelled;

        Alarm(long at, Runnable task) {
            this.at = at;
            this.task = task;
        }

        @Override
        public void run() {
            if (!cancelled) {
                task.run();
            }
        }

        @Override
        public void cancel() {
            cancelled = true;
            if (alarms.remove(this)) {
                look();
            }
        }
    }

    private final PriorityQueue<Alarm> alarms = new PriorityQueue<>(Comparator.comparingLong((Alarm each) -> each.at));
    private volatile long next = NEVER;

    TimeSource.Scheduled add(long at, Runnable task) {
        Alarm alarm = new Alarm(at, task);
        alarms.add(alarm);
        look();
        return alarm;
    }

    /** When the first one is due, or {@link #NEVER}. From any thread. */
    long next() {
        return next;
    }

    /** What is due by now becomes a task. */
    void moveDue(long now, SerialTasks tasks) {
        for (Alarm due = alarms.peek(); due != null && due.at <= now; due = alarms.peek()) {
            tasks.add(due);
            alarms.remove();
        }
        look();
    }

    private void look() {
        Alarm first = alarms.peek();
        next = first == null ? NEVER : first.at;
    }
}
