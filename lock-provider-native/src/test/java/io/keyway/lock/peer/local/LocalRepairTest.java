// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.member.HostElection;
import io.keyway.lock.peer.member.LocalDirectory;
import io.keyway.lock.peer.member.MemberFile;
import io.keyway.lock.peer.member.MemberRecord;
import io.keyway.lock.peer.os.BootClock;
import io.keyway.lock.peer.os.ByteLocks;
import io.keyway.lock.peer.os.FakeFacts;
import io.keyway.lock.peer.os.MachineFacts;
import io.keyway.lock.peer.os.SystemFacts;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.process.Signals;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Files of a directory in use are taken away, and what needs them goes on, or says what to do. */
@Execution(ExecutionMode.CONCURRENT)
class LocalRepairTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private Path locks;
    private Path clients;
    private String url;

    @BeforeEach
    void name() {
        locks = directory.resolve("locks");
        clients = locks.resolve(LocalDirectory.CLIENTS);
        url = "lock:native:local://" + locks + "?ttl=2s&maxTtl=2s";
    }

    private LocalConfig place(MachineFacts facts) {
        return LocalConfig.of(locks, Duration.ofSeconds(2), Algorithms.standard(), Duration.ofSeconds(5), facts);
    }

    private LocalHost host(LocalConfig place) throws IOException {
        HostElection.Hosting hosting =
                (HostElection.Hosting) place.directory().election().tryHost();
        return LocalHost.start(place, hosting, () -> {});
    }

    @Test
    void aFormerHostLeavesTheSocketOfTheNextOneAlone() throws Exception {
        try (LocalHost former = host(place(new SystemFacts()))) {
            Files.delete(locks.resolve(HostElection.LOCK));
            Path socket = new HostElection(locks).info().orElseThrow().socket().orElseThrow();
            Files.delete(socket);
            try (LocalHost next = host(place(new SystemFacts()))) {
                former.close();
                try (SocketChannel connected = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
                    assertThat(connected.isConnected()).isTrue();
                }
                assertThat(next.idle()).isPositive();
            }
        }
        assertThat(locks.toFile().list()).doesNotContain("host.sock", "host.soc~", HostElection.INFO);
    }

    @Test
    void aHostThatFailsStopsAndLeavesTheDirectoryToTheNext() throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        LocalConfig place = place(new SystemFacts());
        try (LocalHost failing = LocalHost.start(
                place, (HostElection.Hosting) place.directory().election().tryHost(), ended::countDown)) {
            assertThat(failing.cell().failed(new IllegalStateException("poison")))
                    .isEmpty();
            assertThat(ended.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            try (LockClient client = Locks.open(url)) {
                assertThat(client.lock("a").tryAcquire(Patience.of(PATIENCE))).isPresent();
            }
        }
    }

    @Test
    void theHostAfterNextWaitsForTheLongerLeasesOfAFormerOneToo() throws Exception {
        MachineFacts facts = new SystemFacts();
        Duration hour = Duration.ofHours(1);
        LocalConfig former = LocalConfig.of(locks, hour, Algorithms.standard(), PATIENCE, facts);
        long alive = former.bytes().take(); // of whoever believes
        Path member = former.directory().memberFile();
        try (MemberFile file = MemberFile.open(member, facts, former.settings())) {
            long horizon = BootClock.horizon(facts, hour.toNanos());
            file.force(new MemberRecord(file.nextEpoch(0), hour.toNanos(), horizon, true));
        }
        LocalConfig place = place(facts);
        try (LocalHost next = host(place)) {
            assertThat(next.idle()).isPositive();
        }
        try (MemberFile file = MemberFile.open(member, facts, place.settings())) {
            assertThat(file.quarantine().duration()).isGreaterThan(hour.dividedBy(2));
        }
        former.bytes().release(alive);
    }

    @Test
    void aHostThatCannotBeFoundAnyMoreIsFoundAgain() throws Exception {
        try (LockClient client = Locks.open(url)) {
            Lease lease = client.lock("a").acquire();
            Path socket = new HostElection(locks).info().orElseThrow().socket().orElseThrow();
            for (Path gone : new Path[] {locks.resolve(HostElection.INFO), socket}) {
                Files.delete(gone);
                try (LockClient other = Locks.open(url + "&host=none")) {
                    assertThat(other.lock("b").tryAcquire(Patience.of(PATIENCE)))
                            .as("without " + gone)
                            .isPresent();
                }
            }
            Files.delete(socket);
            Files.createFile(socket);
            try (LockClient other = Locks.open(url + "&host=none")) {
                assertThat(other.lock("b").tryAcquire(Patience.of(PATIENCE))).isPresent();
            }
            assertThat(lease.isHeld()).isTrue();
        }
    }

    @Test
    void aClientsLockFileThatIsReplacedEndsEveryLeaseWithTheReasonAndEverybodyGoesOn() throws Exception {
        try (LockClient client = Locks.open(url);
                LockClient other = Locks.open(url)) {
            other.lock("other").acquire().close();
            Lease lease = client.lock("a").acquire();
            Files.delete(clients);
            Files.createFile(clients);
            LeaseLoss loss = lease.lost().toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(loss.detail()).contains("clients.lock").contains("replaced");
            assertThat(lease.isHeld()).isFalse();
            assertThat(taken(client, "a").token()).isGreaterThan(lease.token());
            taken(other, "b").close();
            try (LockClient fresh = Locks.open(url)) {
                taken(fresh, "c").close();
            }
        }
    }

    /** What the message says to do: try again. */
    private static Lease taken(LockClient client, String name) {
        return await().atMost(Patience.of(PATIENCE))
                .ignoreExceptionsInstanceOf(LockUnavailableException.class)
                .until(() -> client.lock(name).tryAcquire(Patience.of(PATIENCE)), Optional::isPresent)
                .orElseThrow();
    }

    @Test
    void aClientThatCannotStartSaysSoInEachVerbAndClosesAndTheNextRequestTriesAgain() throws Exception {
        try (LockClient client = Locks.open(url);
                LockClient never = Locks.open(url)) {
            Files.delete(clients);
            Files.createDirectory(clients);
            assertThatThrownBy(() -> client.lock("a").tryAcquire()).isInstanceOf(LockUnavailableException.class);
            assertThatThrownBy(() -> client.lock("a")
                            .acquireAsync()
                            .toCompletableFuture()
                            .get())
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(LockUnavailableException.class);
            assertThatThrownBy(() -> client.admin().list("", Optional.empty(), 10))
                    .isInstanceOf(LockUnavailableException.class);
            assertThatThrownBy(() -> never.lock("a").tryAcquire()).isInstanceOf(LockUnavailableException.class);
            never.close();
            Files.delete(clients);
            assertThat(client.lock("a").tryAcquire(Patience.of(PATIENCE))).isPresent();
        }
    }

    @Test
    void whatCannotStartLeavesNoDescriptorOpen() throws Exception {
        assumeTrue(Files.isDirectory(Path.of("/proc/self/fd")), "needs /proc");
        try (LockClient client = Locks.open(url)) {
            Files.delete(clients);
            Files.createDirectory(clients);
            long before = descriptors();
            for (int i = 0; i < 20; i++) {
                assertThatThrownBy(() -> client.lock("a").tryAcquire()).isInstanceOf(LockUnavailableException.class);
            }
            assertThat(descriptors() - before).isLessThan(20);
            Files.delete(clients);
        }
        FakeFacts facts = new FakeFacts() {
            private long inode;

            @Override
            public Optional<FileFacts> file(Path path) throws IOException {
                return super.file(path).map(seen -> new FileFacts(++inode, seen.changedMillis()));
            }
        };
        long before = descriptors();
        for (int i = 0; i < 20; i++) {
            assertThatThrownBy(() -> host(place(facts)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("removed or replaced");
        }
        assertThat(descriptors() - before).isLessThan(20);
    }

    /** How many descriptors of this process are open that lead into this test's directory. */
    private long descriptors() throws IOException {
        long open = 0;
        try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path one : all) {
                try {
                    open += Files.readSymbolicLink(one).startsWith(directory.toRealPath()) ? 1 : 0;
                } catch (NoSuchFileException e) {
                    // It was another test's, and is closed.
                }
            }
        }
        return open;
    }

    @Test
    void aClientLooksAfterItsByteWhileItWaitsForADisk() throws Exception {
        assumeTrue(ByteLocks.open(directory.resolve("probe.lock")).checkable(), "needs /proc");
        CountDownLatch stuck = new CountDownLatch(1);
        CountDownLatch disk = new CountDownLatch(1);
        LocalConfig slow = LocalConfig.of(
                directory.resolve("slow"),
                Duration.ofSeconds(2),
                Algorithms.standard(),
                Duration.ofSeconds(5),
                new FakeFacts() {
                    @Override
                    public Optional<String> bootId() {
                        if (Thread.currentThread().getName().equals("slow")) {
                            stuck.countDown();
                            Signals.until("the disk answers", () -> disk.getCount() == 0);
                        }
                        return super.bootId();
                    }
                });
        String here = "lock:native:local://" + locks + "?ttl=1h&maxTtl=1h";
        Thread starting = new Thread(() -> startHost(slow), "slow");
        LocalHosts.OF_THIS_JVM.join(slow.directory().path());
        try (ChildJvm host = ChildJvm.start(LeaseHolder.class, here, "of-the-host")) {
            host.await("held");
            try (LockClient client = Locks.open(here)) {
                Lease lease = client.lock("a").acquire();
                starting.start();
                assertThat(stuck.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
                host.kill9();
                await().atMost(Patience.of(PATIENCE)).until(() -> electing(starting));
                new FileInputStream(clients.toFile()).close();
                LeaseLoss loss = lease.lost().toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                assertThat(loss.detail()).contains("other code in this JVM");
                disk.countDown();
            }
        } finally {
            disk.countDown();
            starting.join();
            LocalHosts.OF_THIS_JVM.leave(slow.directory().path());
        }
    }

    private static void startHost(LocalConfig place) {
        try {
            LocalHosts.OF_THIS_JVM.tryHost(place);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Another thread wants to host too. */
    private static boolean electing(Thread first) {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(each -> !each.getKey().equals(first))
                .flatMap(each -> Arrays.stream(each.getValue()))
                .anyMatch(at -> at.getClassName().equals(LocalHosts.class.getName()));
    }
}
