// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.process.Patience;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Names that are used once leave nothing, neither at the client nor at the member, which share this JVM's heap. */
class FlatHeapTest {
    private static final int TOGETHER = 200;

    /** Each name costs less than this, or growth would show. */
    private static final double BYTES_PER_NAME = 40;

    private static void use(LockClient client, int from, int to) {
        for (int i = from; i < to; i += TOGETHER) {
            List<CompletableFuture<Lease>> leases = new ArrayList<>();
            for (int j = i; j < i + TOGETHER; j++) {
                leases.add(client.lock("name/" + j).acquireAsync());
            }
            leases.forEach(lease -> lease.join().close());
        }
    }

    /** Used bytes once a collection has run. */
    private static long heap() {
        WeakReference<Object> garbage = new WeakReference<>(new Object());
        await().atMost(Patience.of(Duration.ofSeconds(30))).until(() -> {
            System.gc();
            return garbage.get() == null;
        });
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    private static void assertFlat(String options, int names) {
        try (LockClient client = Locks.open("lock:native:mem://flat-heap" + options)) {
            int warm = names / 4;
            use(client, 0, warm);
            long before = heap();
            use(client, warm, names);
            double growth = (double) (heap() - before) / (names - warm);
            assertThat(growth).as("bytes that a name leaves").isLessThan(BYTES_PER_NAME);
        }
    }

    @Test
    @Tag("soak")
    void aHundredThousandNamesWithoutCache() {
        assertFlat("?cache=off", 100_000);
    }

    @Test
    void aHundredThousandNamesThroughTheCache() {
        assertFlat("?cacheSize=500", 100_000);
    }

    @Test
    @Tag("soak")
    void aMillionNamesWithoutCache() {
        assertFlat("?cache=off", 1_000_000);
    }

    @Test
    @Tag("soak")
    void aMillionNamesThroughTheCache() {
        assertFlat("", 1_000_000);
    }
}
