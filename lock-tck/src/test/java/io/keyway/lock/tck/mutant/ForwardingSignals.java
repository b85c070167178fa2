// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockKey;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/** What a store says to a client, passed on; a defective backend overrides a word of it. */
class ForwardingSignals implements LockBackend.Signals {
    private final LockBackend.Signals to;

    ForwardingSignals(LockBackend.Signals to) {
        this.to = to;
    }

    @Override
    public void recheck(LockKey key) {
        to.recheck(key);
    }

    @Override
    public void recheck(LockKey key, long request) {
        to.recheck(key, request);
    }

    @Override
    public void granted(Request request, Supplier<Optional<Attempt.Granted>> word) {
        to.granted(request, word);
    }

    @Override
    public void doubt(String why) {
        to.doubt(why);
    }

    @Override
    public void ended(LockKey key, long token, LeaseLoss.Cause cause) {
        to.ended(key, token, cause);
    }

    @Override
    public void ended(LockKey key, long token, LeaseLoss.Cause cause, String detail) {
        to.ended(key, token, cause, detail);
    }

    @Override
    public void endedAll(LeaseLoss.Cause cause) {
        to.endedAll(cause);
    }

    @Override
    public void connected(String server) {
        to.connected(server);
    }

    @Override
    public void disconnected(String server, String why) {
        to.disconnected(server, why);
    }

    @Override
    public void awaitDelivery(Duration limit) {
        to.awaitDelivery(limit);
    }

    @Override
    public void background(String name, LockBackend.Loop loop) {
        to.background(name, loop);
    }
}
