// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockStatus;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Locks of this machine that are to be held at least for some time, though processes end in every way, the host among
 * them.
 */
@Execution(ExecutionMode.CONCURRENT) // each in a directory of its own
class KeptLocksTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration LONG = Duration.ofMinutes(50);

    @TempDir
    Path directory;

    private String url;

    @BeforeEach
    void name() {
        url = "lock:native:local://" + directory.resolve("locks") + "?maxTtl=1h&requestTimeout=20s";
    }

    private ChildJvm holder(String name, Duration atLeast) throws Exception {
        ChildJvm holder = ChildJvm.start(LeaseHolder.class, url, name, atLeast.toString());
        holder.await("held");
        return holder;
    }

    private static void ends(ChildJvm holder) throws Exception {
        holder.tell("end");
        holder.awaitExit();
    }

    private static Optional<LockStatus> status(LockClient client, String name) throws InterruptedException {
        return client.admin().show(LockKey.lock(LockName.of(name)));
    }

    @Test
    void whoeverComesNextHonoursItThoughNobodyHostedMeanwhile() throws Exception {
        try (ChildJvm job = holder("job", LONG)) {
            ends(job);
        }
        for (int life = 0; life < 2; life++) {
            try (LockClient client = Locks.open(url)) {
                assertThat(client.lock("job").tryAcquire()).isEmpty();
                assertThat(status(client, "job").orElseThrow().holders())
                        .singleElement()
                        .satisfies(holder ->
                                assertThat(holder.kept().orElseThrow()).isLessThan(LONG));
                assertThat(client.lock("other").tryAcquire(Patience.of(PATIENCE)))
                        .isPresent();
            }
        }
        try (LockClient client = Locks.open(url)) {
            long token =
                    status(client, "job").orElseThrow().holders().get(0).token().orElseThrow();
            assertThat(client.admin().breakLease(LockKey.lock(LockName.of("job")), token, "now"))
                    .isTrue();
            Optional<Lease> next = client.lock("job").tryAcquire();
            assertThat(next).isPresent();
            assertThat(next.get().token()).isGreaterThan(token);
        }
    }

    @Test
    void longerThanTheLongestLeaseIsRefused() {
        try (LockClient client = Locks.open(url)) {
            LockOptions tooLong = LockOptions.none().withHoldAtLeast(Duration.ofMinutes(61));
            assertThatThrownBy(() -> client.lock("job").with(tooLong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("61m")
                    .hasMessageContaining("1h");
        }
    }

    @Test
    void itsTimeGoesOnWhileNobodyHosts() throws Exception {
        Duration atLeast = Duration.ofSeconds(3);
        long start = System.nanoTime();
        try (ChildJvm job = holder("job", atLeast)) {
            ends(job);
        }
        try (LockClient client = Locks.open(url)) {
            assertThat(client.lock("job").tryAcquire(Patience.of(PATIENCE))).isPresent();
            long late = System.nanoTime() - start - atLeast.toNanos();
            assertThat(late)
                    .as("JVM start included")
                    .isLessThan(Patience.of(PATIENCE).toNanos());
        }
    }

    @Test
    @Tag("soak")
    void theDeathOfAJobFreesNothingThatItKeepsWhileAnotherProcessHosts() throws Exception {
        try (LockClient client = Locks.open(url)) {
            client.lock("other").acquire().close();
            try (ChildJvm job = holder("job", LONG)) {
                job.kill9();
            }
            assertThat(client.lock("job").tryAcquire(Duration.ofMillis(500))).isEmpty();
        }
    }

    /** The host after it does not know the name: nothing is granted before that time has passed. */
    @Test
    @Tag("soak")
    void theDeathOfTheOnlyProcessFreesNothingThatItKeeps() throws Exception {
        Duration atLeast = Duration.ofSeconds(3);
        try (ChildJvm job = holder("job", atLeast)) {
            long held = System.nanoTime();
            job.kill9();
            for (int life = 0; life < 2; life++) {
                try (LockClient client = Locks.open(url)) {
                    boolean early = taken(client) && System.nanoTime() - held < atLeast.toNanos() * 9 / 10;
                    assertThat(early).as("host %s", life).isFalse();
                }
            }
            try (LockClient client = Locks.open(url)) {
                assertThat(client.lock("job").tryAcquire(Patience.of(PATIENCE))).isPresent();
            }
        }
    }

    private static boolean taken(LockClient client) throws InterruptedException {
        try {
            return client.lock("job").tryAcquire(Duration.ofMillis(700)).isPresent();
        } catch (LockUnavailableException e) {
            return false; // no host has answered yet
        }
    }

    @Test
    @Tag("soak")
    void theDeathOfTheHostFreesNothingThatAnotherProcessKeeps() throws Exception {
        try (ChildJvm host = ChildJvm.start(LeaseHolder.class, url, "of-the-host")) {
            host.await("held");
            try (LockClient client = Locks.open(url)) {
                try (ChildJvm job = holder("job", LONG)) {
                    ends(job);
                }
                host.kill9();
                assertThat(taken(client)).isFalse();
            }
        }
    }

    @Test
    @Tag("soak")
    void aLeaseThatIsKeptLivesOnThroughTheEndOfItsHost() throws Exception {
        LockOptions options = LockOptions.none().withHoldAtLeast(LONG);
        try (ChildJvm host = ChildJvm.start(LeaseHolder.class, url, "of-the-host");
                LockClient client = Locks.open(url + "&host=none")) {
            host.await("held");
            Lease lease = client.lock("job").with(options).acquire();
            ends(host);
            try (LockClient next = Locks.open(url)) {
                assertThat(next.lock("other").tryAcquire(Patience.of(PATIENCE))).isPresent();
                assertThat(next.lock("job").tryAcquire()).isEmpty();
                assertThat(lease.isHeld()).isTrue();
                lease.release();
                assertThat(next.lock("job").tryAcquire()).isEmpty();
                // The recall that the refusal before the release caused may have come after it.
                await().atMost(Patience.of(PATIENCE))
                        .untilAsserted(() -> assertThat(
                                        status(next, "job").orElseThrow().holders())
                                .allMatch(holder -> holder.kept().isPresent()));
            }
        }
    }
}
