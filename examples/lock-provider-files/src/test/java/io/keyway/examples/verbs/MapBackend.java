// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.examples.verbs;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockKey;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;

/** Exclusive locks without a queue, in a map: it stands for a store that carries out each verb in one step. */
final class MapBackend implements LockBackend {

    static final Set<Feature> FEATURES = Set.of(Feature.FENCING);

    /** What the store keeps; each verb has it for itself. */
    static final class Store {
        private final Map<LockKey, Held> held = new HashMap<>();
        private final Map<String, Long> withdrawn = new HashMap<>();
        private long token;
    }

    private record Held(String request, long token, long ttl, long end) {
        boolean isIn(long now) {
            return end - now > 0;
        }
    }

    private final Store store;
    private String client = "";

    MapBackend(Store store) {
        this.store = store;
    }

    @Override
    public Set<Feature> features() {
        return FEATURES;
    }

    @Override
    public Guarantees guarantees() {
        return new Guarantees(
                new Guarantee(Grade.ALWAYS, "within one JVM"),
                new Guarantee(Grade.TIMED, "store and clients share one clock"),
                new Guarantee(Grade.ALWAYS, "while the JVM lives"),
                new Guarantee(Grade.NO, "the store ends with its JVM"),
                Duration.ofMillis(500),
                Duration.ofHours(24));
    }

    @Override
    public void start(Signals signals, Incarnation incarnation) {
        client = incarnation + ":";
    }

    @Override
    public Attempt attempt(Request request, Duration limit) {
        synchronized (store) {
            long now = System.nanoTime();
            String mine = client + request.id();
            if (store.withdrawn.containsKey(mine)) {
                return new Attempt.Refused(List.of());
            }
            Held held = store.held.get(request.key());
            boolean again = held != null && held.isIn(now) && held.request().equals(mine);
            if (held != null && held.isIn(now) && !again) {
                return new Attempt.Waiting(Duration.ofMillis(20), OptionalInt.empty(), List.of());
            }
            long token = again ? held.token() : ++store.token;
            long ttl = request.ttl().toNanos();
            store.held.put(request.key(), new Held(mine, token, ttl, now + ttl));
            return new Attempt.Granted(new Grant(request.id(), request.key(), token, request.ttl()));
        }
    }

    @Override
    public List<Answer> renew(List<Grant> grants, Duration limit) {
        synchronized (store) {
            return grants.stream().map(grant -> change(grant, true)).toList();
        }
    }

    @Override
    public Answer release(Grant grant, Duration limit) {
        synchronized (store) {
            return change(grant, false);
        }
    }

    /** Only if it is in force: by the id of its request, its token, and its end. */
    private Answer change(Grant grant, boolean renews) {
        long now = System.nanoTime();
        Held held = store.held.get(grant.key());
        if (held == null
                || !held.isIn(now)
                || held.token() != grant.token()
                || !held.request().equals(client + grant.id())) {
            return Answer.NOT_HELD;
        }
        if (renews) {
            store.held.put(grant.key(), new Held(held.request(), held.token(), held.ttl(), now + held.ttl()));
        } else {
            store.held.remove(grant.key());
        }
        return Answer.DONE;
    }

    @Override
    public void withdraw(Request request, Duration limit) {
        synchronized (store) {
            long now = System.nanoTime();
            String mine = client + request.id();
            store.withdrawn.values().removeIf(until -> until - now <= 0);
            store.withdrawn.put(mine, now + Duration.ofMinutes(1).toNanos());
            Held held = store.held.get(request.key());
            if (held != null && held.request().equals(mine)) {
                store.held.remove(request.key());
            }
        }
    }
}
