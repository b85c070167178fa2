// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is asked of a grant reaches its cell in the order in which it was asked, however busy the router is. */
class WithdrawnChangeTest {
    private static final Duration TTL = Duration.ofSeconds(10);
    private static final LockKey X = LockKey.lock(LockName.of("x"));

    private final List<LockCall> atTheCell = new ArrayList<>();

    /** Of a router that has come to nothing yet. */
    private final ClientRuntime busy = proxy(ClientRuntime.class);

    private final ClientCell cell = new ClientCell() {
        @Override
        public String server() {
            return "a:7400";
        }

        @Override
        public void post(Input input) {
            atTheCell.add((LockCall) ((Input.Command) input).call());
        }
    };

    private static <T> T proxy(Class<T> type) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> null));
    }

    private static Request request(long id) {
        return new Request(id, X, LockMode.EXCLUSIVE, 1, 1, TTL, true, new Owner("c", Map.of()));
    }

    @Test
    void aChangeOfModeFollowsTheWithdrawalOfTheOneBefore() {
        Guarantee promise = new Guarantee(Grade.TIMED, "");
        NativeEngine engine = new NativeEngine(
                "c",
                Algorithms.standard(),
                Duration.ofSeconds(2),
                EnumSet.of(Feature.UPGRADE),
                new Guarantees(promise, promise, promise, promise, Duration.ofMillis(100), TTL),
                listener -> busy);
        LockCall.Acquire reader = new LockCall.Acquire(
                1, LockMode.SHARED, 1, 1, TTL.toNanos(), request(1).owner(), true, false, 0, 0, "reader");
        GrantHandle handle = GrantHandle.taken(
                LockKeys.lock(Algorithms.standard().id(), "x"), 7, 7, reader, 0, 0, new Belief(TTL.toNanos(), 1));
        GrantHold held = new GrantHold(handle, cell, null, null);
        LockEngine.Sink sink = proxy(LockEngine.Sink.class);

        engine.convert(held, 7, request(2), sink);
        engine.withdraw(held, request(2));
        engine.convert(held, 7, request(3), sink);

        assertThat(atTheCell)
                .extracting(call -> call instanceof LockCall.Withdraw withdraw
                        ? "withdraw " + withdraw.request()
                        : "change " + ((LockCall.Acquire) call).request())
                .containsExactly("change 2", "withdraw 2", "change 3");
    }
}
