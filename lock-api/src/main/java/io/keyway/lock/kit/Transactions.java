// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.Probe;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Which transaction of a client has a request or a lock, so that probes find their agents. */
final class Transactions {

    private record Use(LockName name, long token) {}

    /** Who gets the probes of a transaction. */
    interface Prober {
        void probed(LockName name, long token, long ahead, Probe probe);
    }

    /** Drawn with the first transaction of the process: most clients have none. */
    private static final class Numbers {
        static final long NUMBER = UUID.randomUUID().getMostSignificantBits();
        static final AtomicLong CLIENTS = new AtomicLong();

        static long nextClient() {
            return (NUMBER + CLIENTS.incrementAndGet()) & Long.MAX_VALUE;
        }
    }

    /** Of this client, forever; 0 before its first transaction. */
    private final AtomicLong client = new AtomicLong();

    private final AtomicLong numbers = new AtomicLong();
    private final Map<Long, Prober> byRequest = new ConcurrentHashMap<>();
    private final Map<Use, Prober> byUse = new ConcurrentHashMap<>();

    Probe.Agent next() {
        return new Probe.Agent(
                client.updateAndGet(known -> known != 0 ? known : Numbers.nextClient()), numbers.incrementAndGet());
    }

    void asks(long request, Prober by) {
        byRequest.put(request, by);
    }

    void asksNoMore(long request) {
        byRequest.remove(request);
    }

    void uses(LockName name, long token, Prober by) {
        byUse.put(new Use(name, token), by);
    }

    void usesNoMore(LockName name, long token) {
        byUse.remove(new Use(name, token));
    }

    void probed(LockKey key, long token, long ahead, Probe probe) {
        Prober to = token != 0 ? byUse.get(new Use(key.name(), token)) : byRequest.get(ahead);
        if (to != null) {
            to.probed(key.name(), token, ahead, probe);
        }
    }
}
