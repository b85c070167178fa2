// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Capacity;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Direction;
import io.keyway.lock.tck.proxy.Fault;
import io.keyway.lock.tck.proxy.FaultProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A client in another region, and clients beside the database that write the same row all the time. */
class FarClientTest {

    private static final int NEAR = 3;

    @Test
    @Tag("soak")
    void aFarHolderIsNotStarvedByClientsNearTheDatabase() throws Exception {
        PostgresServer server = PostgresServer.shared();
        String url = server.url("far");
        AtomicBoolean over = new AtomicBoolean();
        List<LockClient> near = new ArrayList<>();
        List<CompletableFuture<Void>> busy = new ArrayList<>();
        try (FaultProxy proxy = FaultProxy.to(server.address());
                LockClient far = Locks.open(url.replace(
                                "127.0.0.1:" + server.port(),
                                "127.0.0.1:" + proxy.address().getPort())
                        + "&lock.ttl=12s")) {
            far.semaphore("seats", Capacity.of(10)).acquire(1).close();
            Lease lease = far.semaphore("seats", Capacity.of(10)).acquire(1);
            for (int i = 0; i < NEAR; i++) {
                LockClient client = Locks.open(url);
                near.add(client);
                busy.add(CompletableFuture.runAsync(() -> useSeats(client, over)));
            }
            proxy.set(Direction.TO_SERVER, Fault.delayed(Duration.ofMillis(60)));
            for (int i = 0; i < 3; i++) {
                Renewals.awaitNext(lease);
            }
            assertThat(lease.isHeld()).isTrue();
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        } finally {
            over.set(true);
            for (CompletableFuture<Void> each : busy) {
                each.get(Patience.seconds(60), TimeUnit.SECONDS);
            }
            near.forEach(LockClient::close);
        }
    }

    private static void useSeats(LockClient client, AtomicBoolean over) {
        while (!over.get()) {
            try {
                client.semaphore("seats", Capacity.of(10)).acquire(1).close();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
