// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Interceptor;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.Request;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** What a store grants by a message is believed from when its term began, however late the message is taken. */
class GrantByMessageTest extends ReferenceClients {
    private static final Duration TTL = Duration.ofSeconds(8);

    private final LockClient holder = open("holder");
    private volatile LockBackend.Signals signals;
    private volatile Request waits;
    private String taken;
    private volatile Duration pause = Duration.ZERO;
    private volatile long askedAt;

    /** The store knows nothing of what is told here, so that each test leaves its lock as it is. */
    @BeforeEach
    void name(TestInfo test) {
        taken = test.getTestMethod().orElseThrow().getName();
    }

    private LockClient waiter() {
        Interceptor between = new Interceptor() {
            @Override
            public LockBackend backend(LockBackend backend) {
                return (LockBackend) Proxy.newProxyInstance(
                        LockBackend.class.getClassLoader(),
                        new Class<?>[] {LockBackend.class},
                        (proxy, verb, arguments) -> {
                            if (verb.getName().equals("start")) {
                                signals = (LockBackend.Signals) arguments[0];
                            } else if (arguments != null && arguments[0] instanceof Request request) {
                                asked(request);
                            }
                            try {
                                return verb.invoke(backend, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
            }
        };
        return Locks.open(
                LockUrl.parse(manual + "&ttl=8s"),
                ClientOptions.defaults(),
                getClass().getClassLoader(),
                between);
    }

    /** Within the call for another name the message comes, and then the process stands still. */
    private void asked(Request request) {
        if (request.key().equals(key("later"))) {
            return;
        }
        if (request.key().equals(key(taken))) {
            waits = request;
            askedAt = time(holder).nanoTime();
        } else {
            Grant grant = new Grant(waits.id(), waits.key(), 99, TTL, "");
            signals.granted(
                    waits,
                    () -> Optional.of(new Attempt.Granted(
                            grant, Duration.ofNanos(time(holder).nanoTime() - askedAt))));
            time(holder).advance(pause);
        }
    }

    private CompletableFuture<Lease> waits(LockClient waiter) throws InterruptedException {
        holder.lock(taken).acquire();
        CompletableFuture<Lease> lease = waiter.lock(taken).acquireAsync();
        awaitWaiters(holder, taken, 1);
        return lease;
    }

    @Test
    void itIsTakenWithoutAnotherCall() throws Exception {
        try (LockClient waiter = waiter()) {
            CompletableFuture<Lease> lease = waits(waiter);
            waiter.lock("other").acquireAsync().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(lease.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).token())
                    .isEqualTo(99);
        }
    }

    @Test
    void aPauseBeforeItIsTakenIsPartOfItsTerm() throws Exception {
        try (LockClient waiter = waiter()) {
            CompletableFuture<Lease> lease = waits(waiter);
            pause = TTL;
            var unused = waiter.lock("other").acquireAsync();
            await().atMost(PATIENCE).until(() -> time(holder).nanoTime() - askedAt >= TTL.toNanos());
            // What was said before is taken before this.
            waiter.lock("later").acquireAsync().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(lease).isNotDone();
        }
    }
}
