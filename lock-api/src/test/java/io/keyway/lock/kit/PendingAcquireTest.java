// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Option;
import io.keyway.lock.Renewal;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class PendingAcquireTest {
    private static final LockKey KEY = LockKey.lock(LockName.of("x"));
    private static final Duration TTL = Duration.ofSeconds(10);

    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final ClientContext client = new ClientContext(
            (LockEngine) Proxy.newProxyInstance(
                    LockEngine.class.getClassLoader(),
                    new Class<?>[] {LockEngine.class},
                    (proxy, method, arguments) -> {
                        if (method.getName().equals("time")) {
                            return new StillTime();
                        }
                        asked.add(method.getName());
                        return null;
                    }),
            Settings.of(
                    LockUrl.parse("lock:test://x"),
                    ClientOptions.defaults(),
                    new StillTime(),
                    PendingAcquireTest::byDefault),
            new EventDispatcher(Runnable::run));

    private static <T> T byDefault(Option<T> option) {
        return option.defaultValue().orElseThrow();
    }

    /** As where one thread closes a transaction while another is about to send a request of it. */
    @Test
    void whatWasGivenUpBeforeItWasSentIsNotSentAndLeavesNothing() {
        Owner owner = new Owner("a", Map.of());
        ResolvedOptions options = new ResolvedOptions(TTL, null, null, Renewal.AUTO, owner, null, Duration.ZERO);
        HeldLease lease = new HeldLease(client, KEY, LockMode.EXCLUSIVE, 1, options);
        Request request = new Request(1, KEY, LockMode.EXCLUSIVE, 1, 1, TTL, true, owner);
        PendingAcquire pending = new PendingAcquire(client, lease, request, null);

        assertThat(pending.withdraw()).isTrue();
        assertThat(pending.send().toCompletableFuture()).isCancelled();

        assertThat(asked).doesNotContain("submit");
        assertThat(client.pending().close()).isEmpty();
    }
}
