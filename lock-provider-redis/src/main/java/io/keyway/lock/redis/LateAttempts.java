// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Requests of which an attempt had no answer: it may still arrive, but for no longer than {@link #UNDER_WAY}. */
final class LateAttempts {

    /** Longer than an attempt can be under way. */
    static final Duration UNDER_WAY = Duration.ofMinutes(1);

    private static final long LIMIT = UNDER_WAY.toNanos();

    private final Map<Long, Long> since = new ConcurrentHashMap<>();
    private final AtomicLong swept;

    LateAttempts(long now) {
        swept = new AtomicLong(now);
    }

    /** Forgets what cannot arrive any more, now and then: not all that is given up is ended at the server. */
    void add(long request, long now) {
        since.put(request, now);
        long last = swept.get();
        if (now - last > LIMIT && swept.compareAndSet(last, now)) {
            since.values().removeIf(at -> now - at > LIMIT);
        }
    }

    boolean contains(long request) {
        return !since.isEmpty() && since.containsKey(request);
    }

    void remove(long request) {
        since.remove(request);
    }

    int size() {
        return since.size();
    }
}
