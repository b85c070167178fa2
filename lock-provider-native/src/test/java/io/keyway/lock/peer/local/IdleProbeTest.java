// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.member.HostElection;
import io.keyway.lock.peer.os.ByteHolder;
import io.keyway.lock.tck.process.ChildJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whoever only looks does not start a host, and must not take a machine for idle that is not. */
class IdleProbeTest {
    @TempDir
    Path directory;

    private boolean atRest() {
        return IdleProbe.of(LockUrl.parse("lock:native:local://" + directory.resolve("locks")), Map.of());
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
    void whileSomebodyHostsNothingIsAtRestThoughItsFileWasRemoved() {
        assertThat(atRest()).isTrue();
        HostElection arbiter = new HostElection(directory.resolve("locks"));
        HostElection.Answer answer = arbiter.tryHost();
        assertThat(answer).isInstanceOf(HostElection.Hosting.class);
        try (HostElection.Hosting hosting = (HostElection.Hosting) answer) {
            assertThat(hosting.checkable()).isTrue();
            assertThat(directory.resolve("locks/clients.lock")).doesNotExist();
            assertThat(atRest()).isFalse();
        }
    }

    @Test
    void whatIsKeptForNobodyIsNoRest() throws Exception {
        String url = "lock:native:local://" + directory.resolve("locks");
        try (LockClient client = Locks.open(url)) {
            LockOptions aWhile = LockOptions.none().withHoldAtLeast(Duration.ofSeconds(60));
            client.lock("n").with(aWhile).acquire().close();
        }
        assertThat(atRest()).isFalse();
        assertThat(IdleProbe.keeps(LockUrl.parse(url), Map.of())).isTrue();
        assertThat(IdleProbe.keeps(LockUrl.parse(url + "?maxTtl=1h"), Map.of()))
                .as("its host would keep the others away")
                .isFalse();
        try (LockClient client = Locks.open(url)) {
            assertThat(client.lock("n").tryAcquire()).isEmpty();
        }
    }

    @Test
    void aLookThatFailsKeepsNobodyFromHosting() throws Exception {
        assertThat(atRest()).isTrue();
        Files.createDirectory(directory.resolve("locks/clients.lock"));
        assertThatThrownBy(this::atRest).isInstanceOf(LockUnavailableException.class);

        HostElection.Answer answer = new HostElection(directory.resolve("locks")).tryHost();
        assertThat(answer).isInstanceOf(HostElection.Hosting.class);
        ((HostElection.Hosting) answer).close();
    }

    @Test
    void otherUrlsAreNotAsked() {
        assertThat(IdleProbe.of(LockUrl.parse("lock:native://127.0.0.1:1/x"), Map.of()))
                .isFalse();
        assertThat(IdleProbe.of(LockUrl.parse("lock:redis://127.0.0.1:1"), Map.of()))
                .isFalse();
    }
}
