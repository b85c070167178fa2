// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockSnapshot;
import io.keyway.lock.Locks;
import io.keyway.lock.Subscription;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A watcher of a lock hears of each change from the ensemble, long before it would ask again. */
class WatchTest {
    private static final Duration NEVER = Duration.ofHours(1);

    @AutoClose
    private static OneServer server;

    @BeforeAll
    static void beginTheServer(@TempDir Path directory) throws Exception {
        server = new OneServer(directory);
    }

    @Test
    void eachChangeIsToldByTheEnsemble() throws Exception {
        LockKey key = LockKey.lock(LockName.of("watched"));
        List<LockSnapshot> told = new CopyOnWriteArrayList<>();
        try (LockClient watcher = Locks.open(server.url());
                LockClient first = Locks.open(server.url());
                LockClient second = Locks.open(server.url())) {
            first.lock("watched").acquire().release();
            try (Subscription watch = watcher.watch(key, NEVER, told::add)) {
                until(told, LockSnapshot::isFree);
                for (int i = 0; i < 3; i++) {
                    Lease lease = first.lock("watched").acquire();
                    until(told, now -> holds(now, first));
                    CompletableFuture<Lease> next =
                            second.lock("watched").acquireAsync().toCompletableFuture();
                    until(told, now -> now.status().waiters().size() == 1);
                    lease.release();
                    until(
                            told,
                            now -> holds(now, second) && now.status().waiters().isEmpty());
                    next.get().release();
                    until(told, LockSnapshot::isFree);
                }
            }
        }
        assertThat(told).isSortedAccordingTo((one, other) -> Long.compare(one.version(), other.version()));
    }

    private static boolean holds(LockSnapshot now, LockClient client) {
        return now.status().holders().size() == 1
                && now.status().holders().get(0).client().equals(client.name());
    }

    private static void until(List<LockSnapshot> told, Predicate<LockSnapshot> last) {
        await().atMost(Patience.of(Duration.ofSeconds(60)))
                .until(() -> !told.isEmpty() && last.test(told.get(told.size() - 1)));
    }
}
