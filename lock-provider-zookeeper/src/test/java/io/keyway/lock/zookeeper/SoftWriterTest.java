// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockStatus;
import io.keyway.lock.Locks;
import io.keyway.lock.WriterPolicy;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** What a soft writer leaves at the ensemble, what it costs those whom it keeps from nothing, and who gets the lock. */
class SoftWriterTest {
    private static final Duration LONG = Duration.ofMinutes(5);

    @AutoClose
    private static OneServer server;

    @AutoClose("shutdownNow")
    private final ExecutorService threads = Executors.newCachedThreadPool();

    private final List<LockClient> clients = new ArrayList<>();
    private LockClient reader;
    private String name;

    @BeforeAll
    static void beginTheServer(@TempDir Path directory) throws Exception {
        server = new OneServer(directory);
    }

    @BeforeEach
    void openTheReader(TestInfo test) {
        name = test.getTestMethod().orElseThrow().getName();
        reader = client();
    }

    @AfterEach
    void closeTheClients() {
        clients.forEach(LockClient::close);
    }

    private LockClient client() {
        LockClient client = Locks.open(server.url() + "?ttl=10m&closeTimeout=2s");
        clients.add(client);
        return client;
    }

    private LockKey key() {
        return LockKey.lock(LockName.of(name));
    }

    private List<NodeName> nodes() throws Exception {
        try {
            return reader.unwrap(ZooKeeper.class).getChildren(new Paths("/keyway").container(key()), false).stream()
                    .flatMap(node -> NodeName.parse(node).stream())
                    .toList();
        } catch (KeeperException.NoNodeException e) {
            return List.of();
        }
    }

    private int written() throws Exception {
        return reader.unwrap(ZooKeeper.class)
                .exists(new Paths("/keyway").container(key()), false)
                .getVersion();
    }

    private Future<Optional<Lease>> waits(LockClient client, WriterPolicy policy) {
        DistributedLock lock = client.readWriteLock(name, policy).write();
        return threads.submit(() -> lock.tryAcquire(LONG));
    }

    private List<LockStatus.Waiter> yielding() throws Exception {
        return reader.admin().show(key()).map(LockStatus::softWriters).orElse(List.of());
    }

    private Lease read() throws Exception {
        return reader.readWriteLock(name).read().tryAcquire().orElseThrow();
    }

    @Test
    void itsTokenIsBetweenThoseOfWhomItFollowsAndWhoComesAfterIt() throws Exception {
        Lease before = read();
        Future<Optional<Lease>> writes = waits(client(), WriterPolicy.soft());
        await().until(() -> yielding().size() == 1);
        Lease beside = read();
        before.release();
        beside.release();

        Lease written = writes.get().orElseThrow();
        assertThat(written.token()).isGreaterThan(beside.token());
        assertThat(reader.readWriteLock(name).read().tryAcquire()).isEmpty();
        assertThat(yielding()).isEmpty();
        written.release();
        try (Lease after = read()) {
            assertThat(after.token()).isGreaterThan(written.token());
        }
        await().until(() -> nodes().isEmpty());
    }

    @Test
    void oneWhoseSessionEndsLeavesNothingAndAsksAnew() throws Exception {
        Lease before = read();
        LockClient writer = client();
        Future<Optional<Lease>> writes = waits(writer, WriterPolicy.soft());
        await().until(() -> yielding().size() == 1);
        String node = nodes().stream()
                .filter(NodeName::yields)
                .findFirst()
                .orElseThrow()
                .name();

        server.kill(writer.unwrap(ZooKeeper.class));

        await().until(() -> yielding().size() == 1
                && nodes().stream().noneMatch(each -> each.name().equals(node)));
        before.release();
        writes.get().orElseThrow().release();
        writer.close();
        await().until(() -> nodes().isEmpty());
    }

    @Test
    void nobodyPaysForOneThatAsksForNoTime() throws Exception {
        Lease before = read();
        Future<Optional<Lease>> writes = waits(client(), WriterPolicy.soft());
        await().until(() -> yielding().size() == 1);
        read().release();
        long requests = server.requests();

        for (int i = 0; i < 50; i++) {
            read().release();
        }

        // A creation, a listing and a deletion, as without the writer.
        assertThat(server.requests() - requests).isBetween(150L, 175L);
        before.release();
        writes.get().orElseThrow().release();
    }

    @Test
    void aReaderWritesOnceForThoseThatWaitForATimeAndForNoOthers() throws Exception {
        Lease before = read();
        Future<Optional<Lease>> soft = waits(client(), WriterPolicy.soft());
        await().until(() -> yielding().size() == 1);
        read().release();
        assertThat(written()).isZero();
        Future<Optional<Lease>> timed = waits(client(), WriterPolicy.softAfter(Duration.ofHours(1)));
        Future<Optional<Lease>> another = waits(client(), WriterPolicy.softAfter(Duration.ofHours(2)));
        await().until(() -> yielding().size() == 3);

        for (int i = 1; i <= 10; i++) {
            read().release();
            assertThat(written()).isEqualTo(i);
        }

        before.release();
        soft.get().orElseThrow().release();
        assertThat(timed.isDone() || another.isDone()).isFalse();
    }

    /** It has stood in the queue since before the writer came, and knows nothing of it. {@link QuietTimeTest} */
    @Test
    void aReaderThatAskedBeforeHasHeldWhenTheTimeBegins() throws Exception {
        Duration quiet = Duration.ofMillis(300);
        Lease writer = client().lock(name).acquire();
        DistributedLock readers = reader.readWriteLock(name).read();
        Future<Optional<Lease>> reads = threads.submit(() -> readers.tryAcquire(LONG));
        await().until(() -> reader.admin().show(key()).orElseThrow().waiters().size() == 1);
        Future<Optional<Lease>> writes = waits(client(), WriterPolicy.softAfter(quiet));
        await().until(() -> yielding().size() == 1);

        long released = System.nanoTime();
        writer.release();
        reads.get().orElseThrow().release();

        Lease written = writes.get().orElseThrow();
        assertThat(Duration.ofNanos(System.nanoTime() - released)).isGreaterThanOrEqualTo(quiet);
        written.release();
    }

    @Test
    void manyThatTryAtTheSameMomentAreServedOneAfterTheOther() throws Exception {
        int count = 12;
        AtomicInteger inside = new AtomicInteger();
        AtomicLong highest = new AtomicLong();
        List<LockClient> writers = List.of(client(), client(), client());
        Lease before = read();
        List<Future<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            DistributedLock lock =
                    writers.get(i % 3).readWriteLock(name, WriterPolicy.soft()).write();
            all.add(threads.submit(() -> lock.tryRunLocked(LONG, lease -> {
                assertThat(inside.incrementAndGet()).isEqualTo(1);
                assertThat(highest.getAndSet(lease.token())).isLessThan(lease.token());
                inside.decrementAndGet();
            })));
        }
        await().until(() -> yielding().size() == count);
        before.release();
        // Readers that come and go meanwhile are never beside a writer.
        for (int i = 0; i < 50; i++) {
            Optional<Lease> read = reader.readWriteLock(name).read().tryAcquire();
            if (read.isPresent()) {
                assertThat(inside.getAndAdd(100)).isZero();
                assertThat(inside.addAndGet(-100)).isZero();
                read.get().release();
            }
        }

        for (Future<Boolean> each : all) {
            assertThat(each.get(Patience.seconds(60), TimeUnit.SECONDS)).isTrue();
        }
    }
}
