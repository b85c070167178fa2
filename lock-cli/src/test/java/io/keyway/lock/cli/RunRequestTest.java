// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Locks;
import io.keyway.lock.WriterPolicy;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RunRequestTest {
    private static final LockName SITE = LockName.of("site");

    @Test
    void whoDrainsIsLetInBesideNobodyAndTurnsNobodyAway() throws Exception {
        try (LockClient client = Locks.open("lock:jdbc:h2:mem:drained")) {
            RunRequest drains = RunRequest.draining(client, SITE, WriterPolicy.soft(), LockOptions.none());
            try (Lease reader = client.readWriteLock(SITE).read().acquire()) {
                assertThat(drains.tryAcquire(Duration.ZERO)).isEmpty();
                try (Lease other =
                        client.readWriteLock(SITE).read().tryAcquire().orElseThrow()) {
                    assertThat(other.isHeld() && reader.isHeld()).isTrue();
                }
            }
            Optional<HeldLocks> alone = drains.tryAcquire(Duration.ofSeconds(30));
            assertThat(alone).isPresent();
            assertThat(client.admin().show(LockKey.lock(SITE)).orElseThrow().holders())
                    .hasSize(1);
            assertThat(client.readWriteLock(SITE).read().tryAcquire()).isEmpty();
            assertThatThrownBy(drains::acquire).isInstanceOf(UnsupportedOperationException.class);
        }
    }

    @Test
    void aTreeIsLockedWithAllBelowAndWaitsAtItsLevels() throws Exception {
        try (LockClient client = Locks.open("lock:native:mem://run-tree");
                LockClient other = Locks.open("lock:native:mem://run-tree")) {
            LockName name = LockName.of("db/orders/7");
            RunRequest tree = RunRequest.tree(client, name, false, LockOptions.none());
            assertThat(tree.keys()).containsExactly(LockKey.lock(name));
            assertThat(tree.waits()).containsExactly(LockKey.lock(name), LockKey.lock("db"), LockKey.lock("db/orders"));
            assertThat(tree.tryAcquire(Duration.ZERO)).isPresent();
            assertThat(other.tree("db").read().tryAcquire()).isEmpty();
            assertThat(RunRequest.tree(other, LockName.of("db/users"), true, LockOptions.none())
                            .tryAcquire(Duration.ZERO))
                    .isPresent();
        }
    }
}
