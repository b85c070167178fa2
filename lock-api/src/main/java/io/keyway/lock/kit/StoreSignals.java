// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockKey;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.LockEngine.Observer;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a store says unasked: each signal is an input of the {@link StoreMachine}, so that it has its turn with the
 * answers.
 */
final class StoreSignals implements LockBackend.Signals {

    private final Consumer<StoreMachine.Input> inputs;
    private final BackgroundLoops loops;
    private volatile @Nullable Observer observer;

    StoreSignals(Consumer<StoreMachine.Input> inputs, BackgroundLoops loops) {
        this.inputs = inputs;
        this.loops = loops;
    }

    void observe(Observer told) {
        observer = told;
    }

    @Override
    public void recheck(LockKey key) {
        inputs.accept((machine, now) -> machine.recheck(key));
    }

    @Override
    public void recheck(LockKey key, long request) {
        inputs.accept((machine, now) -> machine.recheck(request));
    }

    @Override
    public void recheckAll() {
        inputs.accept((machine, now) -> machine.recheckAll());
    }

    @Override
    public void granted(Request request, Supplier<Optional<Attempt.Granted>> known) {
        // The clock is read before it is asked what is known: a pause between the two makes the grant older than it is.
        inputs.accept((machine, now) -> machine.granted(request.id(), known, now));
    }

    @Override
    public void doubt(String why) {
        inputs.accept((machine, now) -> machine.doubt(why, now));
    }

    @Override
    public void ended(LockKey key, long token, LeaseLoss.Cause cause) {
        ended(key, token, cause, "ended by the store");
    }

    @Override
    public void ended(LockKey key, long token, LeaseLoss.Cause cause, String detail) {
        inputs.accept((machine, now) -> machine.ended(key, token, cause, detail, now));
    }

    @Override
    public void endedAll(LeaseLoss.Cause cause) {
        inputs.accept((machine, now) -> machine.endedAll(cause, now));
    }

    @Override
    public void connected(String server) {
        inputs.accept((machine, now) -> {
            machine.reconnected(now);
            Observer told = observer;
            if (told != null) {
                told.connected(server);
            }
        });
    }

    @Override
    public void disconnected(String server, String why) {
        inputs.accept((machine, now) -> {
            Observer told = observer;
            if (told != null) {
                told.disconnected(server, why);
            }
        });
    }

    @Override
    public void awaitDelivery(Duration limit) {
        Observer told = observer;
        if (told != null) {
            told.awaitDelivery(limit);
        }
    }

    @Override
    public void background(String name, LockBackend.Loop loop) {
        loops.start(name, loop);
    }
}
