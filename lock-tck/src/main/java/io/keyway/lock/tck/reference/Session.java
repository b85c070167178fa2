// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** One client's life at the store: whom to signal, what it has withdrawn, and which alarms ring on its clock. */
public final class Session {

    private final LockBackend.Signals signals;
    private final BooleanSupplier reachable;
    final TimeSource time;
    final Set<LockEntry> alarms = new LinkedHashSet<>();
    boolean closed;

    private final Map<Long, Long> withdrawn = new LinkedHashMap<>();

    /** Begins a life: {@code signals} is told of what concerns it, on a thread of {@code time} if nobody else asked. */
    public Session(LockBackend.Signals signals, TimeSource time) {
        this(signals, time, () -> true);
    }

    /** As the other, for a client whose link may be cut: what it is told meanwhile is lost. */
    Session(LockBackend.Signals signals, TimeSource time, BooleanSupplier reachable) {
        this.signals = signals;
        this.time = time;
        this.reachable = reachable;
    }

    void tell(Consumer<LockBackend.Signals> word) {
        if (reachable.getAsBoolean()) {
            word.accept(signals);
        }
    }

    /** Waits until what the client was told has reached the application; for at most that much real time. */
    void awaitDelivery(Duration limit) {
        signals.awaitDelivery(limit);
    }

    /** No attempt of that request succeeds before {@code until}; by then none can be under way. */
    void withdraw(long request, long now, long until) {
        Iterator<Long> oldest = withdrawn.values().iterator();
        while (oldest.hasNext() && now - oldest.next() > 0) {
            oldest.remove();
        }
        withdrawn.put(request, until);
    }

    /** How many withdrawn requests are remembered. */
    long remembered(long now) {
        return withdrawn.values().stream().filter(until -> until - now > 0).count();
    }

    boolean hasWithdrawn(long request) {
        return withdrawn.containsKey(request);
    }
}
