// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.ParticipantList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The users of one client who want one lock: those who queue, in order, and those who want an answer at once. Of those who queue only the first has a request at the manager. */
final class LocalWaiters {
    static final class Waiter {
        final LockCall.Acquire call;
        final long since;
        /** Its request is at the manager of the present session. */
        boolean sent;
        /** It was told that it waits. */
        boolean told;
        /** How many grants in a row were stale when they came. */
        int stale;

        private Waiter(LockCall.Acquire call, long since) {
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

        private void encode(StateEncoder out) {
            out.put(call.request())
                    .value(call.mode())
                    .put(call.permits())
                    .put(call.limit())
                    .put(call.ttl())
                    .put(call.atLeast());
            out.value(call.owner())
                    .put(call.wantPlace())
                    .time(since)
                    .put(sent)
                    .put(told)
                    .put(stale);
        }
    }

    private final Key key;
    private final boolean cache;
    private final Map<Long, Waiter> queue = new LinkedHashMap<>(2);
    private final Map<Long, Waiter> asks = new LinkedHashMap<>(2);
    /** What the manager last said of the first waiter's place; null while nothing is known. */
    private LockMessage.@Nullable Place place;

    /** @param cache whether granted locks may be kept */
    LocalWaiters(Key key, boolean cache) {
        this.key = key;
        this.cache = cache;
    }

    /** @param local the user of this client who holds the lock; null if none does */
    void add(LockCall.Acquire call, @Nullable List<Participant> local, Turn turn) {
        Waiter waiter = new Waiter(call, turn.now() - call.waited());
        (call.queue() ? queue : asks).put(call.request(), waiter);
        List<Participant> holders = local != null || place == null ? local : place.holders();
        if (holders != null && call.queue() && call.wantPlace()) {
            tellWaiting(waiter, -1, holders, turn);
        }
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

    /** Those who queue, in order, and for how long. */
    ParticipantList parties(long now) {
        ParticipantList parties = new ParticipantList();
        for (Waiter waiter : queue.values()) {
            LockCall.Acquire call = waiter.call;
            parties.add(new Participant(call.owner(), call.mode(), call.permits(), 0, now - waiter.since));
        }
        return parties;
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

    /** The first who queues, else the first who wants an answer at once. */
    @Nullable
    Waiter next() {
        Waiter first = first();
        return first == null ? firstAsk() : first;
    }

    /** Sends the waiter's request, unless that has been done. */
    void request(Waiter waiter, Turn turn) {
        if (waiter.sent) {
            return;
        }
        waiter.sent = true;
        LockCall.Acquire call = waiter.call;
        turn.send(
                turn.client().session(),
                new LockMessage.Acquire(
                        key,
                        call.request(),
                        call.mode(),
                        call.permits(),
                        call.limit(),
                        call.ttl(),
                        !call.queue(),
                        call.wantPlace(),
                        cache && call.atLeast() == 0,
                        turn.now() - waiter.since,
                        call.patience(),
                        call.atLeast(),
                        call.owner()));
    }

    /** The waiter whose request is at the manager learns each place that it is told; the others learn once that they wait behind it. */
    void placed(LockMessage.Place now, Turn turn) {
        Waiter asked = find(now.request());
        if (asked == null) {
            return;
        }
        place = now;
        tellWaiting(asked, now.ahead(), now.holders(), turn);
        for (Waiter waiter : queue.values()) {
            if (!waiter.told && waiter.call.wantPlace()) {
                tellWaiting(waiter, -1, now.holders(), turn);
            }
        }
    }

    private void tellWaiting(Waiter waiter, int ahead, List<Participant> holders, Turn turn) {
        waiter.told = true;
        turn.tell(new LockNotice.Waiting(key, waiter.call.request(), ahead, holders, waiter.call.user()));
    }

    /** The lock is this client's: what was said of places is of no use any more. */
    void granted() {
        place = null;
    }

    /** Another user of this client holds the lock: those who want an answer at once, and whose request was not sent, get it. */
    void refuseAsks(List<Participant> holders, Turn turn) {
        asks.values().removeIf(ask -> {
            if (!ask.sent) {
                turn.tell(new LockNotice.Refused(key, ask.call.request(), holders, ask.call.user()));
            }
            return !ask.sent;
        });
    }

    void trouble(String why, Turn turn) {
        queue.values().forEach(waiter -> tellTrouble(waiter, why, turn));
        asks.values().forEach(waiter -> tellTrouble(waiter, why, turn));
    }

    private void tellTrouble(Waiter waiter, String why, Turn turn) {
        turn.tell(new LockNotice.Trouble(key, waiter.call.request(), why, waiter.call.user()));
    }

    /** Nobody will be served before a configuration is changed. */
    void failAll(String why, Turn turn) {
        for (Waiter waiter = next(); waiter != null; waiter = next()) {
            remove(waiter.call.request());
            turn.tell(new LockNotice.Failed(key, waiter.call.request(), why, true, waiter.call.user()));
        }
    }

    /** The session is over, and all requests with it. */
    void unsent() {
        place = null;
        asks.values().forEach(ask -> ask.sent = false);
        Waiter first = first();
        if (first != null) {
            first.sent = false;
        }
    }

    LocalWaiters copy() {
        LocalWaiters copy = new LocalWaiters(key, cache);
        copy.place = place;
        queue.forEach((request, waiter) -> copy.queue.put(request, waiter.copy()));
        asks.forEach((request, waiter) -> copy.asks.put(request, waiter.copy()));
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(queue.size());
        queue.values().forEach(waiter -> waiter.encode(out));
        out.put(asks.size());
        asks.values().forEach(waiter -> waiter.encode(out));
        out.value(String.valueOf(place));
    }
}
