// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.process.ChildJvm;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whoever only looks does not start a host, and must not take a machine for idle that is not. */
class LocalRestTest {
    @TempDir
    Path directory;

    private boolean atRest() {
        return LocalRest.of(LockUrl.parse("lock:native:local://" + directory.resolve("locks")), Map.of());
    }

    @Test
    void aDirectoryIsAtRestBeforeTheFirstUseAndAfterTheLast() throws Exception {
        assertThat(atRest()).isTrue();
        assertThat(directory.resolve("locks/clients.lock")).doesNotExist();
        try (LockClient client = Locks.open("lock:native:local://" + directory.resolve("locks"));
                Lease lease = client.lock("n").acquire()) {
            assertThat(lease.isHeld()).isTrue();
            assertThat(atRest()).isFalse();
        }
        assertThat(atRest()).isTrue();
    }

    @Test
    void whoeverLivesMayHoldSomethingAlsoWithoutAHost() throws Exception {
        assertThat(atRest()).isTrue();
        try (ChildJvm holder = ChildJvm.start(
                ByteHolder.class, directory.resolve("locks/clients.lock").toString())) {
            holder.await("ready");
            assertThat(holder.ask("take", "took")).isNotEmpty();
            assertThat(atRest()).isFalse();
        }
        assertThat(atRest()).isTrue();
    }

    @Test
    void otherUrlsAreNotAsked() {
        assertThat(LocalRest.of(LockUrl.parse("lock:native://127.0.0.1:1/x"), Map.of()))
                .isFalse();
        assertThat(LocalRest.of(LockUrl.parse("lock:redis://127.0.0.1:1"), Map.of()))
                .isFalse();
    }
}
