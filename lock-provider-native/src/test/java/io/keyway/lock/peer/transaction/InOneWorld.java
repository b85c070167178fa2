// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.MemoryWorld;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Several clients of one world, whose time the test moves. */
abstract class InOneWorld {
    static final Duration SOON = Duration.ofSeconds(10);
    static final Duration SHORT = Duration.ofMillis(100);

    final List<LockClient> clients = new ArrayList<>();
    MemoryWorld world;
    String url;

    @BeforeEach
    void open() {
        url = "lock:native:mem://one" + System.nanoTime() + "?clock=manual&maxTtl=15s";
        world = client().unwrap(MemoryWorld.class);
    }

    @AfterEach
    void close() {
        clients.forEach(LockClient::close);
    }

    final LockClient client() {
        LockClient client = Locks.open(url);
        clients.add(client);
        return client;
    }

    final void until(BooleanSupplier condition) throws InterruptedException {
        world.advanceUntil(condition, SOON);
    }

    final void holds(LockTransaction transaction) throws InterruptedException {
        until(() -> transaction.status() == Status.HELD);
    }

    final void waits(LockTransaction transaction) {
        world.advance(SHORT);
        assertThat(transaction.status()).isEqualTo(Status.WAITING);
    }
}
