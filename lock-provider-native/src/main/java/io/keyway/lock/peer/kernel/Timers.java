// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The armed timers of one cell, earliest first; equal times in the order in which they were armed. A binary heap that
 * cancels in logarithmic time.
 */
final class Timers {
    static final class Timer {
        final Key key;
        final int slot;
        private long at;
        private long order;
        private int index = -1;

        Timer(Key key, int slot) {
            this.key = key;
            this.slot = slot;
        }

        boolean armed() {
            return index >= 0;
        }

        long at() {
            return at;
        }
    }

    private @Nullable Timer[] heap = new @Nullable Timer[16];
    private int size;
    private long orders;

    int size() {
        return size;
    }

    void arm(Timer timer, long at) {
        if (timer.armed()) {
            if (timer.at == at) {
                return;
            }
            remove(timer);
        }
        timer.at = at;
        timer.order = orders++;
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
        timer.index = size;
        heap[size++] = timer;
        up(timer.index);
    }

    void cancel(Timer timer) {
        if (timer.armed()) {
            remove(timer);
        }
    }

    /** {@link Turn#NEVER} if none is armed. */
    long nextDue() {
        return size == 0 ? Turn.NEVER : at(0).at;
    }

    @Nullable
    Timer pollDue(long now) {
        if (size == 0 || at(0).at - now > 0) {
            return null;
        }
        Timer first = at(0);
        remove(first);
        return first;
    }

    /** All armed timers as they will come due. */
    List<Timer> inOrder() {
        List<Timer> all = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            all.add(at(i));
        }
        all.sort((a, b) -> before(a, b) ? -1 : 1);
        return all;
    }

    private void remove(Timer timer) {
        int hole = timer.index;
        timer.index = -1;
        size--;
        Timer last = at(size);
        heap[size] = null;
        if (hole < size) {
            place(last, hole);
            up(hole);
            down(last.index);
        }
    }

    private void up(int from) {
        Timer moving = at(from);
        int i = from;
        while (i > 0) {
            int parent = (i - 1) >>> 1;
            if (!before(moving, at(parent))) {
                break;
            }
            place(at(parent), i);
            i = parent;
        }
        place(moving, i);
    }

    private void down(int from) {
        Timer moving = at(from);
        int i = from;
        while (2 * i + 1 < size) {
            int child = 2 * i + 1;
            if (child + 1 < size && before(at(child + 1), at(child))) {
                child++;
            }
            if (!before(at(child), moving)) {
                break;
            }
            place(at(child), i);
            i = child;
        }
        place(moving, i);
    }

    private static boolean before(Timer a, Timer b) {
        long difference = a.at - b.at;
        return difference != 0 ? difference < 0 : a.order < b.order;
    }

    private void place(Timer timer, int index) {
        heap[index] = timer;
        timer.index = index;
    }

    private Timer at(int index) {
        Timer timer = heap[index];
        if (timer == null) {
            throw new IllegalStateException("no timer at " + index + " of " + size);
        }
        return timer;
    }
}
