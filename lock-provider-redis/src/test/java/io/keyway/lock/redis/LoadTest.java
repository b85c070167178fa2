// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Locks;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Direction;
import io.keyway.lock.tck.proxy.Fault;
import io.keyway.lock.tck.proxy.FaultProxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** More is asked for than the connections of a client can carry. */
class LoadTest {
    private static final int THREADS = 200;
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final RedisScript COUNT = RedisScript.of("count");

    @TempDir
    private Path directory;

    @Test
    void whatRenewsOrEndsAGrantHasAConnectionThatNothingElseTakes() throws Exception {
        try (RedisServer server = RedisServer.start(directory);
                HeardSignals signals = new HeardSignals();
                SingleLink link = new SingleLink(TestSettings.of(
                        server.url(),
                        ClientOptions.defaults()
                                .with(CommonOptions.CONNECT_TIMEOUT, LIMIT)
                                .with(RedisOptions.CONNECTIONS, 1)))) {
            link.start(signals, Deadline.after(LIMIT));
            link.visitAll(
                    (name, taken) -> {
                        RedisScript.Call call = new RedisScript.Call(COUNT, new byte[][] {{'a'}}, new byte[0][]);
                        assertThatThrownBy(() -> link.run(call, Deadline.after(Duration.ofMillis(50))))
                                .isInstanceOf(NotExecutedException.class)
                                .hasMessageContaining("in use");
                        RedisScript.Call urgent = new RedisScript.Call(COUNT.asUrgent(), call.keys(), call.arguments());
                        assertThat(link.run(urgent, Deadline.after(LIMIT))).isEqualTo(1L);
                        assertThat(link.runAll(List.of(urgent), 0, Deadline.after(LIMIT)))
                                .containsExactly(2L);
                    },
                    Deadline.after(LIMIT));
        }
    }

    /** Each of those that ask would have to wait for five seconds, longer than the lease lasts. */
    @Test
    @Tag("soak")
    void renewalsDoNotQueueBehindThoseWhoAskForLocks() throws Exception {
        long ttl = Patience.leaseSeconds(4);
        try (RedisServer server = RedisServer.start(directory);
                FaultProxy proxy =
                        FaultProxy.to(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
                LockClient client = Locks.open(
                        "lock:redis://127.0.0.1:" + proxy.address().getPort() + "?connections=1&requestTimeout=10s")) {
            Lease lease = client.lock("held")
                    .with(LockOptions.none().withTtl(Duration.ofSeconds(ttl)))
                    .acquire();
            proxy.set(Direction.TO_CLIENT, Fault.delayed(Duration.ofMillis(25)));
            AtomicBoolean over = new AtomicBoolean();
            LongAdder granted = new LongAdder();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                String name = "asked/" + i;
                threads.add(new Thread(() -> ask(client, name, granted, over), name));
            }
            threads.forEach(Thread::start);
            try {
                assertThat(lease.lost()
                                .toCompletableFuture()
                                .handle((loss, e) -> loss)
                                .completeOnTimeout(null, ttl + 2, TimeUnit.SECONDS)
                                .get())
                        .isNull();
            } finally {
                over.set(true);
                proxy.heal();
                for (Thread each : threads) {
                    each.join();
                }
            }
            assertThat(granted.sum()).as("the others go on, too").isPositive();
        }
    }

    private static void ask(LockClient client, String name, LongAdder granted, AtomicBoolean over) {
        while (!over.get()) {
            try {
                Optional<Lease> lease = client.lock(name).tryAcquire();
                lease.ifPresent(held -> {
                    granted.increment();
                    held.close();
                });
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
