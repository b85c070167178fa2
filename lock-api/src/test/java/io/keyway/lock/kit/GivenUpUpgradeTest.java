// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUrl;
import io.keyway.lock.reference.Verb;
import io.keyway.lock.spi.LockEngine;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An upgrade is granted at the moment in which its owner gives it up: the reader that it was may believe still. */
class GivenUpUpgradeTest extends ReferenceClients {

    private static final LockUrl URL = LockUrl.parse("lock:reference://given-up?closeTimeout=2s&name=given-up");
    private static final Duration TTL = Duration.ofSeconds(4);

    private final CountDownLatch granted = new CountDownLatch(1);
    private LockClient other;
    private LockClient client;

    @BeforeEach
    void openBoth() {
        other = open(URL.toString(), ClientOptions.defaults().withName("other"));
        client = beside(other, URL, "given-up", ClientOptions.defaults(), this::late);
    }

    @AfterEach
    void closeClient() {
        client.close();
    }

    /** The same engine, which hears of a withdrawal only when the grant has been told. */
    private LockEngine late(LockEngine engine) {
        return proxy(LockEngine.class, engine, (name, arguments) -> {
            if (name.equals("withdraw")) {
                faults(client).resume(Verb.ATTEMPT);
                assertThat(granted.await(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                        .isTrue();
            } else if (name.equals("convert")) {
                LockEngine.Sink sink = (LockEngine.Sink) arguments[3];
                arguments[3] = proxy(LockEngine.Sink.class, sink, (verb, ignored) -> {
                    if (verb.equals("granted")) {
                        granted.countDown();
                    }
                });
            }
        });
    }

    /** What is done before a call. */
    private interface Before {
        void call(String method, Object[] arguments) throws Exception;
    }

    private static <T> T proxy(Class<T> type, T target, Before before) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    before.call(method.getName(), arguments);
                    return invoke(target, method, arguments);
                }));
    }

    @Test
    void nobodyIsGrantedWhileTheReaderBelieves() throws Exception {
        DistributedReadWriteLock ours = client.readWriteLock("x");
        Lease read = ours.read().with(LockOptions.none().withTtl(TTL)).acquire();
        long tokenOfReader = read.token();
        faults(client).hang(Verb.ATTEMPT);
        Running<Optional<Lease>> upgrade = inThread(() -> ours.tryUpgrade(read, Duration.ofMinutes(1)));
        await().atMost(PATIENCE).until(() -> faults(client).isHanging(Verb.ATTEMPT));
        upgrade.thread().interrupt();
        assertThatThrownBy(upgrade::get).hasCauseInstanceOf(InterruptedException.class);

        Lease write = other.readWriteLock("x").write().tryAcquire(PATIENCE).orElseThrow();

        assertThat(read.isHeld()).as("the reader believes beside a writer").isFalse();
        assertThat(write.token()).isGreaterThan(tokenOfReader);
        write.close();
    }
}
