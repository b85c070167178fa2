// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.LockKey;
import java.util.ArrayList;
import java.util.List;

/** One verb at the store: when it came, and the signals that it causes. They go out when the store is free again. */
final class Turn {

    final long now;
    private final List<Runnable> signals = new ArrayList<>(1);

    Turn(long now) {
        this.now = now;
    }

    void recheck(Place waiter) {
        LockKey key = waiter.request.key();
        signals.add(() -> waiter.session.tell(client -> client.recheck(key)));
    }

    void broken(Place holder, String reason) {
        LockKey key = holder.request.key();
        long token = holder.token;
        signals.add(() -> holder.session.tell(client -> client.ended(key, token, Cause.BROKEN, "broken: " + reason)));
    }

    void send() {
        for (Runnable signal : signals) {
            signal.run();
        }
    }
}
