// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Local mode as a library sees it, over the real socket and files, in one process. */
class LocalModeTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private LockClient open(String name) {
        return Locks.open(
                "lock:native:local://" + directory.resolve("locks"),
                ClientOptions.defaults().withName(name));
    }

    @Test
    void theFirstClientHostsAndTheSecondConnects() throws Exception {
        try (LockClient alice = open("alice");
                LockClient bob = open("bob")) {
            Lease lease = alice.lock("a").acquire();
            assertThat(bob.lock("a").tryAcquire()).isEmpty();
            CompletableFuture<Lease> waiting = bob.lock("a").acquireAsync();
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            Lease next = waiting.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(next.token()).isGreaterThan(lease.token());
        }
    }

    @Test
    void whoWantsLongerLeasesIsToldWhatAllProcessesHaveToSay() throws Exception {
        try (LockClient client = open("short")) {
            assertThatThrownBy(() -> client.lock("a")
                            .with(LockOptions.none().withTtl(Duration.ofMinutes(10)))
                            .tryAcquire())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("ttl 10m", "to 1m", "maxTtl=10m", "the same for all");
            client.lock("a").acquire().close();
            try (LockClient other = Locks.open("lock:native:local://" + directory.resolve("locks") + "?maxTtl=10m")) {
                assertThatThrownBy(() -> other.lock("a").tryAcquire(Patience.of(PATIENCE)))
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContainingAll("maxTtl=1m", "maxTtl=10m");
            }
        }
    }

    @Test
    void tokensRiseOverHosts() throws Exception {
        long last = 0;
        for (int life = 0; life < 3; life++) {
            try (LockClient client = open("life-" + life)) {
                Optional<Lease> lease = client.lock("a").tryAcquire(Patience.of(PATIENCE));
                assertThat(lease).isPresent();
                assertThat(lease.get().token()).isGreaterThan(last);
                last = lease.get().token();
            }
        }
    }

    @Test
    void whenTheHostingClientClosesAnotherOfItsProcessIsServedOn() throws Exception {
        LockClient alice = open("alice");
        alice.lock("a").acquire();
        try (LockClient bob = open("bob")) {
            Lease held = bob.lock("b").acquire();
            alice.close();
            assertThat(held.isHeld()).isTrue();
            assertThat(bob.lock("a").tryAcquire(Patience.of(PATIENCE))).isPresent();
        }
    }

    @Test
    void noThreadIsLeftWhenTheClientsAreClosed() throws Exception {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        try (LockClient alice = open("alice")) {
            alice.lock("a").acquire();
        }
        Set<Thread> after = Thread.getAllStackTraces().keySet();
        after.removeAll(before);
        assertThat(after)
                .extracting(Thread::getName)
                .noneMatch(name -> name.startsWith("keyway-") || name.startsWith("globalEventExecutor"));
    }

    @Test
    void aDirectoryThatIsAFileIsRefusedByName() throws Exception {
        Files.writeString(directory.resolve("locks"), "not a directory");
        assertThatThrownBy(() -> open("alice"))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("locks")
                .hasMessageContaining("not a directory");
    }

    @Test
    void aDirectoryBelowAFileIsRefusedByName() throws Exception {
        Path file = Files.writeString(directory.resolve("locks"), "a file");
        assertThatThrownBy(() -> Locks.open("lock:native:local://" + file.resolve("here")))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(file.resolve("here").toString())
                .hasMessageContaining(file + " is not a directory");
    }
}
