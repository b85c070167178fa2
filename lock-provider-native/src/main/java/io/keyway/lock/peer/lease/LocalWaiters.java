// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.kernel.Canon;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The users of one client who want one lock: those who queue, in order, and those who want an answer at once. Of those who queue only the first has a request at the manager. */
final class LocalWaiters {
    static final class Waiter {
        final LeaseCall.Acquire call;
        final long since;
        /** Its request is at the manager of the present session. */
        boolean sent;
        /** It was told that it waits. */
        boolean told;
        /** How many grants in a row were stale when they came. */
        int stale;

        private Waiter(LeaseCall.Acquire call, long since) {
            this.call = call;
            this.since = since;
        }

        private Waiter copy() {
            Waiter copy = new Waiter(call, since);
            copy.sent = sent;
            copy.told = told;
            copy.stale = stale;
            return copy;
        }

        private void encode(Canon out) {
            out.put(call.request())
                    .value(call.mode())
                    .put(call.permits())
                    .put(call.limit())
                    .put(call.ttl());
            out.value(call.owner())
                    .put(call.wantPlace())
                    .time(since)
                    .put(sent)
                    .put(told)
                    .put(stale);
        }
    }

    private final Map<Long, Waiter> queue = new LinkedHashMap<>(2);
    private final Map<Long, Waiter> asks = new LinkedHashMap<>(2);

    void add(LeaseCall.Acquire call, long now) {
        (call.queue() ? queue : asks).putIfAbsent(call.request(), new Waiter(call, now));
    }

    @Nullable
    Waiter find(long request) {
        Waiter waiter = queue.get(request);
        return waiter == null ? asks.get(request) : waiter;
    }

    @Nullable
    Waiter remove(long request) {
        Waiter waiter = queue.remove(request);
        return waiter == null ? asks.remove(request) : waiter;
    }

    boolean isEmpty() {
        return queue.isEmpty() && asks.isEmpty();
    }

    /** The first who queues. */
    @Nullable
    Waiter first() {
        return first(queue);
    }

    /** The first who wants an answer at once. */
    @Nullable
    Waiter firstAsk() {
        return first(asks);
    }

    private static @Nullable Waiter first(Map<Long, Waiter> of) {
        Iterator<Waiter> all = of.values().iterator();
        return all.hasNext() ? all.next() : null;
    }

    Collection<Waiter> asks() {
        return asks.values();
    }

    Collection<Waiter> queue() {
        return queue.values();
    }

    /** The session is over, and all requests with it. */
    void unsent() {
        asks.values().forEach(ask -> ask.sent = false);
        Waiter first = first();
        if (first != null) {
            first.sent = false;
        }
    }

    LocalWaiters copy() {
        LocalWaiters copy = new LocalWaiters();
        queue.forEach((request, waiter) -> copy.queue.put(request, waiter.copy()));
        asks.forEach((request, waiter) -> copy.asks.put(request, waiter.copy()));
        return copy;
    }

    void encode(Canon out) {
        out.put(queue.size());
        queue.values().forEach(waiter -> waiter.encode(out));
        out.put(asks.size());
        asks.values().forEach(waiter -> waiter.encode(out));
    }
}
