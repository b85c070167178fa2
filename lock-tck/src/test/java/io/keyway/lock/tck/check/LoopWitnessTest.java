// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceProvider;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.Interceptor;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.TimeSource;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a backend runs in the background, and how often it ends. */
class LoopWitnessTest {
    private static final LockUrl URL = LockUrl.parse("lock:looping://loop-witness");

    /** The reference, whose loop fails twice and goes on then. */
    public static final class Looping extends ReferenceProvider {
        private static final AtomicInteger RUNS = new AtomicInteger();

        @Override
        public Set<String> schemes() {
            return Set.of("looping");
        }

        @Override
        protected ReferenceBackend backend(LockUrl url, ReferenceWorld world, TimeSource time, String trouble) {
            return new ReferenceBackend(world, time, Set.of(Feature.FENCING), trouble) {
                @Override
                public void start(Signals signals, Incarnation client) throws NotExecutedException {
                    super.start(signals, client);
                    signals.background("messages", () -> {
                        if (RUNS.incrementAndGet() <= 2) {
                            throw new IOException("the stream ended");
                        }
                        new CountDownLatch(1).await();
                    });
                }
            };
        }
    }

    @Test
    void aLoopThatBeginsAgainHasEndedAndOneThatIsClosedHasNot() throws Exception {
        LoopWitness witness = new LoopWitness();
        Interceptor between = new Interceptor() {
            @Override
            public LockBackend backend(LockBackend backend) {
                return witness.over(backend);
            }
        };
        try (LockClient client = Locks.open(URL, ClientOptions.defaults(), Looping.class.getClassLoader(), between)) {
            client.lock("a").acquire().close();
            await().until(() -> Looping.RUNS.get() == 3);
            assertThat(client.unwrap(LockBackend.class)).isNotNull();
            assertThat(client.unwrap(ReferenceWorld.class)).isNotNull();
        }
        assertThat(witness.note()).get().asString().contains("themselves: 2 [messages threw java.io.IOException");
        assertThat(Looping.RUNS).hasValue(3);
    }
}
