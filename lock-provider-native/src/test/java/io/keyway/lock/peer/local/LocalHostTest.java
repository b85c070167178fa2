// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.member.LocalDirectory;
import io.keyway.lock.peer.member.MemberFileReader;
import io.keyway.lock.peer.member.MemberSlot;
import io.keyway.lock.peer.member.StoredRecord;
import io.keyway.lock.peer.os.ByteLocks;
import io.keyway.lock.peer.os.SystemFacts;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.process.Patience;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What a host does when it starts and ends, with real processes around it. */
@Execution(ExecutionMode.CONCURRENT) // each in a directory of its own
class LocalHostTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private String url;

    @BeforeEach
    void name() {
        url = "lock:native:local://" + directory.resolve("locks");
    }

    @Test
    void aKilledHolderIsProvedDeadAndItsLockIsFreeLongBeforeItsTtl() throws Exception {
        try (LockClient client = Locks.open(url + "?ttl=1h&maxTtl=1h")) {
            client.lock("other").acquire().close();
            try (ChildJvm holder = ChildJvm.start(LeaseHolder.class, url + "?ttl=1h&maxTtl=1h", "a")) {
                long token = Long.parseLong(holder.await("held").trim());
                assertThat(client.lock("a").tryAcquire()).isEmpty();
                holder.kill9();
                Optional<Lease> next = client.lock("a").tryAcquire(Patience.of(PATIENCE));
                assertThat(next).isPresent();
                assertThat(next.get().token()).isGreaterThan(token);
            }
        }
    }

    @Test
    @Tag("soak")
    void aNewHostServesAtOnceWhenNobodyIsLeftFromTheLifeBefore() throws Exception {
        try (ChildJvm former = ChildJvm.start(LeaseHolder.class, url + "?ttl=1h&maxTtl=1h", "a")) {
            former.await("held");
            former.kill9();
        }
        try (LockClient client = Locks.open(url + "?ttl=1h&maxTtl=1h")) {
            assertThat(client.lock("a").tryAcquire(Patience.of(PATIENCE))).isPresent();
        }
    }

    @Test
    @Tag("soak")
    void holdersOutliveTheirHostAndTheNextOneServesWhenAllHaveTold() throws Exception {
        String here = url + "?ttl=1h&maxTtl=1h";
        try (ChildJvm host = ChildJvm.start(LeaseHolder.class, here, "of-the-host")) {
            host.await("held");
            try (ChildJvm holder = ChildJvm.start(LeaseHolder.class, here, "a");
                    LockClient client = Locks.open(here)) {
                holder.await("held");
                Lease mine = client.lock("mine").acquire();
                host.kill9();
                assertThat(client.lock("of-the-host").tryAcquire(Patience.of(PATIENCE)))
                        .isPresent();
                assertThat(client.lock("a").tryAcquire()).isEmpty();
                assertThat(holder.ask("?", "believes").trim()).isEqualTo("true");
                assertThat(mine.isHeld()).isTrue();
            }
        }
    }

    @Test
    @Tag("soak")
    void aClientThatIsIdleDoesNotDelayTheNextHost() throws Exception {
        String here = url + "?ttl=1h&maxTtl=1h";
        try (ChildJvm host = ChildJvm.start(LeaseHolder.class, here, "of-the-host")) {
            host.await("held");
            try (LockClient idle = Locks.open(here + "&host=none&cache=off");
                    LockClient client = Locks.open(here)) {
                idle.lock("a").acquire().close();
                host.kill9();
                assertThat(client.lock("a").tryAcquire(Patience.of(PATIENCE))).isPresent();
            }
        }
    }

    @Test
    @Tag("soak")
    void aHostThatEndsInItsQuarantineDoesNotSayThatNothingLives() throws Exception {
        try (ChildJvm host = ChildJvm.start(LeaseHolder.class, url, "of-the-host")) {
            host.await("held");
            try (ChildJvm stopped = ChildJvm.start(LeaseHolder.class, url, "a")) {
                stopped.await("held");
                stopped.stop();
                host.kill9();
                for (int life = 0; life < 2; life++) {
                    try (LockClient client = Locks.open(url)) {
                        assertThat(granted(client)).as("host %s", life).isFalse();
                    }
                }
            }
        }
    }

    @Test
    @Tag("soak")
    void aClientsLockFileThatIsNewProvesNothingToTheNextHosts() throws Exception {
        Duration ttl = Duration.ofSeconds(2);
        String here = url + "?maxTtl=2s&ttl=2s";
        try (ChildJvm host = ChildJvm.start(LeaseHolder.class, here, "of-the-host");
                ChildJvm stopped = ChildJvm.start(LeaseHolder.class, here + "&host=none", "a")) {
            host.await("held");
            stopped.await("held");
            stopped.stop();
            Files.delete(directory.resolve("locks/clients.lock"));
            host.kill9();
            long start = System.nanoTime();
            try (LockClient first = Locks.open(here)) {
                assertThat(granted(first)).isFalse();
            }
            try (LockClient second = Locks.open(here)) {
                assertThat(second.lock("a").tryAcquire(Patience.of(PATIENCE))).isPresent();
                assertThat(System.nanoTime() - start).isGreaterThan(ttl.toNanos());
            }
            stopped.cont();
            assertThat(stopped.ask("?", "believes").trim()).isEqualTo("false");
        }
    }

    @Test
    void aCleanEndHandsOverWhatLivesAndAllOtherNamesAreFreeAtOnce() throws Exception {
        String here = url + "?maxTtl=1h&ttl=1h";
        try (ChildJvm host = ChildJvm.start(LeaseHolder.class, here, "of-the-host")) {
            host.await("held");
            String guest = here + "&host=none"; // one of them would host next, and be killed
            try (ChildJvm stopped = ChildJvm.start(LeaseHolder.class, guest, "stopped");
                    ChildJvm dying = ChildJvm.start(LeaseHolder.class, guest, "dying");
                    LockClient client = Locks.open(here)) {
                long token = Long.parseLong(stopped.await("held").trim());
                dying.await("held");
                Lease mine = client.lock("mine").acquire();
                stopped.stop();
                host.tell("end");
                host.awaitExit();
                assertThat(client.lock("of-the-host").tryAcquire(Patience.of(PATIENCE)))
                        .isPresent();
                assertThat(client.lock("fresh").tryAcquire(Patience.of(PATIENCE)))
                        .isPresent();
                assertThat(client.lock("stopped").tryAcquire()).isEmpty();
                assertThat(client.admin().show(LockKey.lock(LockName.of("stopped"))))
                        .hasValueSatisfying(status -> assertThat(status.holders())
                                .singleElement()
                                .satisfies(holder -> assertThat(holder.token()).hasValue(token)));
                dying.kill9();
                assertThat(client.lock("dying").tryAcquire(Patience.of(PATIENCE)))
                        .isPresent();
                stopped.cont();
                assertThat(stopped.ask("?", "believes").trim()).isEqualTo("true");
                stopped.kill9();
                assertThat(client.lock("stopped").tryAcquire(Patience.of(PATIENCE)))
                        .hasValueSatisfying(lease -> assertThat(lease.token()).isGreaterThan(token));
                assertThat(mine.isHeld()).isTrue();
            }
        }
    }

    @Test
    @Tag("soak")
    void whatNobodyHasReassertedIsHandedOverAgain() throws Exception {
        String here = url + "?maxTtl=1h&ttl=1h";
        try (ChildJvm stopped = ChildJvm.start(LeaseHolder.class, here + "&host=none", "stopped")) {
            for (int life = 0; life < 3; life++) {
                try (LockClient host = Locks.open(here)) {
                    assertThat(host.lock("fresh-" + life).tryAcquire(Patience.of(PATIENCE)))
                            .isPresent();
                    if (life == 0) {
                        stopped.await("held");
                        stopped.stop();
                    }
                    assertThat(host.lock("stopped").tryAcquire()).isEmpty();
                }
            }
            stopped.kill9();
            try (LockClient host = Locks.open(here)) {
                assertThat(host.lock("stopped").tryAcquire(Patience.of(PATIENCE)))
                        .isPresent();
            }
        }
    }

    @Test
    @Tag("soak")
    void aPromiseMadeInQuarantineDoesNotForgetWhatTheQuarantineIsFor() throws Exception {
        String here = url + "?maxTtl=20s&ttl=";
        long ttl = Math.min(5, Patience.leaseSeconds(2));
        try (ChildJvm host = ChildJvm.start(LeaseHolder.class, here + "20s", "of-the-host")) {
            host.await("held");
            try (ChildJvm stopped = ChildJvm.start(LeaseHolder.class, here + "20s", "a");
                    LockClient client = Locks.open(here + ttl + "s")) {
                stopped.await("held");
                Lease lease = client.lock("short").acquire();
                stopped.stop();
                host.kill9();
                long killed = System.nanoTime();
                // Held for longer than its ttl, it was re-asserted to this process, which promised that ttl.
                LockSupport.parkNanos(2 * TimeUnit.SECONDS.toNanos(ttl));
                assertThat(lease.isHeld()).isTrue();
                long left = horizon() - new SystemFacts().bootNanos().orElseThrow();
                long since = System.nanoTime() - killed;
                assertThat(left + since).isGreaterThan(Duration.ofSeconds(15).toNanos());
            }
        }
    }

    /** The end of all leases as the member file has it, on the boot clock. */
    private long horizon() throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(
                directory.resolve("locks").resolve(LocalDirectory.MEMBER).toFile(), "r")) {
            StoredRecord[] slots = new StoredRecord[2];
            for (int i = 0; i < 2; i++) {
                slots[i] = ((MemberSlot.Whole) MemberSlot.decode(MemberFileReader.slot(file, i))).stored();
            }
            StoredRecord newest = slots[slots[0].sequence() > slots[1].sequence() ? 0 : 1];
            return newest.record().horizonNanos();
        }
    }

    private static boolean granted(LockClient client) throws InterruptedException {
        try {
            return client.lock("a").tryAcquire(Duration.ofMillis(700)).isPresent();
        } catch (LockUnavailableException e) {
            return false;
        }
    }

    @Test
    void aByteThatOtherCodeFreedEndsEveryLeaseWithTheReasonAndTheClientGoesOn() throws Exception {
        assumeTrue(ByteLocks.open(directory.resolve("probe.lock")).checkable(), "needs /proc");
        try (LockClient client = Locks.open(url)) {
            Lease lease = client.lock("a").acquire();
            new FileInputStream(directory.resolve("locks/clients.lock").toFile()).close();
            LeaseLoss loss = lease.lost().toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(loss.detail()).contains("clients.lock").contains("other code in this JVM");
            assertThat(lease.isHeld()).isFalse();
            assertThat(client.lock("a").tryAcquire(Patience.of(PATIENCE)))
                    .hasValueSatisfying(next -> assertThat(next.token()).isGreaterThan(lease.token()));
        }
    }
}
