// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.StateEncoder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** All that is going to happen, earliest first; equal times in an order drawn from the seed. Events are pooled. */
final class EventHeap {
    private final long seed;
    private Event[] heap = new Event[256];
    private int size;
    private long pushed;
    private Event[] pool = new Event[256];
    private int pooled;

    EventHeap(long seed) {
        this.seed = seed;
    }

    int size() {
        return size;
    }

    Event push(long time, Event.Kind kind, SimCell cell) {
        Event event = push(time, kind, cell.node());
        event.cell = cell;
        return event;
    }

    Event push(long time, Event.Kind kind, SimNode node) {
        Event event = pooled > 0 ? pool[--pooled] : new Event();
        event.time = time;
        event.order = StateEncoder.mix(seed + pushed++);
        event.kind = kind;
        event.node = node;
        event.incarnation = node.incarnation();
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
        up(size++, event);
        return event;
    }

    @Nullable
    Event peek() {
        return size == 0 ? null : heap[0];
    }

    @Nullable
    Event poll() {
        if (size == 0) {
            return null;
        }
        Event first = heap[0];
        Event last = heap[--size];
        if (size > 0) {
            down(last);
        }
        return first;
    }

    /** The event was handled; nobody keeps it. */
    void recycle(Event event) {
        event.clear();
        if (pooled == pool.length) {
            pool = Arrays.copyOf(pool, pooled * 2);
        }
        pool[pooled++] = event;
    }

    private void up(int from, Event moving) {
        int i = from;
        while (i > 0) {
            int parent = (i - 1) >>> 1;
            if (!moving.before(heap[parent])) {
                break;
            }
            heap[i] = heap[parent];
            i = parent;
        }
        heap[i] = moving;
    }

    private void down(Event moving) {
        int i = 0;
        while (2 * i + 1 < size) {
            int child = 2 * i + 1;
            if (child + 1 < size && heap[child + 1].before(heap[child])) {
                child++;
            }
            if (!heap[child].before(moving)) {
                break;
            }
            heap[i] = heap[child];
            i = child;
        }
        heap[i] = moving;
    }
}
