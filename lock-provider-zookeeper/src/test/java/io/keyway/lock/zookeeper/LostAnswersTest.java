// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Capacity;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Direction;
import io.keyway.lock.tck.proxy.Fault;
import io.keyway.lock.tck.proxy.FaultProxy;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** What comes of requests when answers are lost, others give up, and numbers come to their end. */
class LostAnswersTest {
    /** More than there are readers. */
    private static final int WRITER = 1000;

    @AutoClose
    private static OneServer server;

    private final List<FaultProxy> proxies = new ArrayList<>();
    private final List<LockClient> clients = new ArrayList<>();
    private LockClient watcher;
    private String name;

    @BeforeAll
    static void beginTheServer(@TempDir Path directory) throws Exception {
        server = new OneServer(directory);
    }

    @BeforeEach
    void openTheWatcher(TestInfo test) {
        name = test.getTestMethod().orElseThrow().getName();
        watcher = Locks.open(server.url() + "?ttl=10m&closeTimeout=2s");
    }

    @AfterEach
    void closeAll() {
        clients.forEach(LockClient::close);
        watcher.close();
        proxies.forEach(FaultProxy::close);
    }

    /** A client whose link can be broken. */
    private LockClient client(String options) throws Exception {
        String[] address = server.address().split(":", -1);
        FaultProxy proxy = FaultProxy.to(new InetSocketAddress(address[0], Integer.parseInt(address[1])));
        proxies.add(proxy);
        LockClient client = Locks.open(
                "lock:zookeeper://127.0.0.1:" + proxy.address().getPort() + "/keyway?closeTimeout=2s&" + options);
        clients.add(client);
        return client;
    }

    private String container() {
        return new Paths("/keyway").container(LockKey.lock(LockName.of(name)));
    }

    private List<String> standing() throws Exception {
        return watcher.unwrap(ZooKeeper.class).getChildren(container(), false).stream()
                .filter(node -> NodeName.parse(node).isPresent())
                .toList();
    }

    /** It has used the lock, as another has. */
    private LockClient ready(String options) throws Exception {
        watcher.lock(name).acquire().release();
        LockClient client = client(options);
        client.lock(name).acquire().release();
        return client;
    }

    @Test
    void aNodeWhoseCreationIsNotAnsweredIsFoundAgain() throws Exception {
        LockClient client = ready("ttl=10m&requestTimeout=20s");
        Lease held = watcher.lock(name).acquire();
        proxies.get(0).set(Direction.TO_CLIENT, Fault.DISCARDING);
        CompletableFuture<Lease> waits = client.lock(name).acquireAsync();
        await().until(() -> standing().size() == 2);

        proxies.get(0).heal();
        proxies.get(0).reset();
        held.release();

        try (Lease lease = waits.get()) {
            assertThat(lease.token()).isGreaterThan(held.token());
            assertThat(standing()).hasSize(1);
        }
        await().until(() -> standing().isEmpty());
    }

    @Test
    @Tag("soak")
    void aNodeWhoseCreationIsNotAnsweredIsDeletedWhenNobodyWantsIt() throws Exception {
        LockClient client = ready("ttl=10m&requestTimeout=300ms");
        proxies.get(0).set(Direction.TO_CLIENT, Fault.DISCARDING);

        assertThatThrownBy(() -> client.lock(name).tryAcquire(Duration.ofMillis(500)))
                .isInstanceOf(LockException.class);
        assertThat(standing()).hasSize(1);

        proxies.get(0).heal();
        proxies.get(0).reset();
        await().until(() -> standing().isEmpty());
    }

    @Test
    @Tag("soak")
    void whoGivesUpHandsNothingOver() throws Exception {
        LockClient first = ready("ttl=10m");
        LockClient second = ready("ttl=10m");
        LockClient third = ready("ttl=10m");
        Lease held = first.lock(name).acquire();
        handsNothingOver(held, second, third);
    }

    @Test
    void whoGivesUpHandsNothingOverToTheNextOfItsClient() throws Exception {
        LockClient client = ready("ttl=10m");
        handsNothingOver(watcher.lock(name).acquire(), client, client);
    }

    private void handsNothingOver(Lease held, LockClient givesUp, LockClient next) throws Exception {
        CompletableFuture<Lease> gives = givesUp.lock(name).acquireAsync();
        await().until(() -> standing().size() == 2);
        CompletableFuture<Lease> waits = next.lock(name).acquireAsync();
        await().until(() -> standing().size() == 3);

        assertThat(gives.cancel(true)).isTrue();
        await().until(() -> standing().size() == 2);
        next.lock(name + "-elsewhere").acquire().release();

        assertThat(waits).isNotDone();
        held.release();
        waits.get().release();
    }

    @Test
    void theNextOfAClientIsNotLeftWaitingForAReleaseWhoseAnswerIsLost() throws Exception {
        LockClient client = ready("ttl=10m&requestTimeout=20s");
        Lease held = client.lock(name).acquire();
        CompletableFuture<Lease> waits = client.lock(name).acquireAsync();
        await().until(() -> standing().size() == 2);
        proxies.get(0).set(Direction.TO_CLIENT, Fault.DISCARDING);
        CompletableFuture<ReleaseOutcome> released = CompletableFuture.supplyAsync(held::release);
        await().until(() -> standing().size() == 1);

        proxies.get(0).heal();
        proxies.get(0).reset();

        assertThat(released.get()).isEqualTo(ReleaseOutcome.RELEASED);
        waits.get().release();
    }

    @Test
    void theNextOfAClientIsNotLeftWaitingForANodeThatSomebodyDeleted() throws Exception {
        LockClient client = ready("ttl=4s");
        Lease held = client.lock(name).acquire();
        CompletableFuture<Lease> waits = client.lock(name).acquireAsync();
        await().until(() -> standing().size() == 2);
        String first = standing().stream()
                .min(Comparator.comparing(
                        node -> NodeName.parse(node).orElseThrow().number()))
                .orElseThrow();

        watcher.unwrap(ZooKeeper.class).delete(container() + "/" + first, -1);

        waits.get().release();
        await().until(() -> !held.isHeld());
    }

    @Test
    void aReaderThatWaitedMayHaveReadersBeforeIt() throws Exception {
        LockClient client = ready("ttl=10m");
        LockClient other = client("ttl=10m");
        Lease writes = watcher.readWriteLock(name).write().acquire();
        CompletableFuture<Lease> first = other.readWriteLock(name).read().acquireAsync();
        await().until(() -> standing().size() == 2);
        CompletableFuture<Lease> second = client.readWriteLock(name).read().acquireAsync();
        await().until(() -> standing().size() == 3);
        writes.release();

        try (Lease reads = first.get()) {
            second.get().release();
            for (int i = 0; i < 4; i++) {
                assertThat(client.readWriteLock(name).write().tryAcquire()).isEmpty();
            }
            assertThat(reads.isHeld()).isTrue();
        }
    }

    @Test
    void permitsThatAreGrantedAtTheFirstLookLetThoseBehindLookToo() throws Exception {
        LockClient client = client("ttl=10m&requestTimeout=20s");
        LockClient behind = client("ttl=10m");
        client.semaphore(name, Capacity.of(3)).acquire().release();
        Lease held = watcher.semaphore(name, Capacity.of(3)).acquire(2);
        proxies.get(0).set(Direction.TO_CLIENT, Fault.DISCARDING);
        CompletableFuture<Lease> first = client.semaphore(name, Capacity.of(3)).acquireAsync(2);
        await().until(() -> waitingForPermits() == 1);
        CompletableFuture<Lease> second = behind.semaphore(name, Capacity.of(3)).acquireAsync();
        await().until(() -> waitingForPermits() == 2);
        behind.lock(name).acquire().release();
        held.release();

        proxies.get(0).heal();
        proxies.get(0).reset();

        try (Lease two = first.get()) {
            assertThat(second).succeedsWithin(Duration.ofSeconds(20));
            assertThat(two.isHeld()).isTrue();
            second.get().release();
        }
    }

    private int waitingForPermits() throws Exception {
        return watcher.admin()
                .show(LockKey.semaphore(LockName.of(name)))
                .map(status -> status.waiters().size())
                .orElse(0);
    }

    @Test
    void nothingIsGrantedAtTheEndOfTheNumbers() throws Exception {
        LockClient client = ready("ttl=10m");
        Lease held = client.lock(name).acquire();
        server.numberFrom(container(), Container.LAST + 1);

        assertThatThrownBy(() -> watcher.lock(name).tryAcquire(Duration.ofSeconds(1)))
                .isInstanceOf(LockException.class);
        assertThat(held.isHeld()).isTrue();

        held.release();
        for (LockClient each : List.of(client, watcher)) {
            try (Lease lease = each.lock(name).acquire()) {
                assertThat(lease.token()).isGreaterThan(held.token());
                assertThat(NodeName.parse(standing().get(0)).orElseThrow().number())
                        .isLessThan(Container.LAST);
            }
        }
    }

    @Test
    void aContainerThatIsMuchUsedIsMadeAnew() throws Exception {
        LockClient client = ready("ttl=10m");
        server.numberFrom(container(), Container.LAST - 10);

        client.lock(name).acquire().release();

        try (Lease lease = client.lock(name).acquire()) {
            assertThat(NodeName.parse(standing().get(0)).orElseThrow().number()).isLessThan(10);
            assertThat(lease.isHeld()).isTrue();
        }
    }

    /** Tokens rise in the order in which holders believe, and nobody is left behind, whatever befalls the links. */
    @Test
    @Tag("soak")
    void aStormOfWritersKeepsTheOrder() throws Exception {
        for (int i = 0; i < 3; i++) {
            ready("ttl=5s&requestTimeout=400ms");
        }
        AtomicInteger holders = new AtomicInteger();
        AtomicLong last = new AtomicLong();
        AtomicLong grants = new AtomicLong();
        AtomicInteger running = new AtomicInteger(1);
        ExecutorService threads = Executors.newCachedThreadPool();
        List<Future<?>> results = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            LockClient client = clients.get(i % clients.size());
            results.add(threads.submit(() -> {
                while (running.get() == 1) {
                    Optional<Lease> lease = attempt(client);
                    if (lease.isPresent()) {
                        hold(lease.get(), holders, last);
                        grants.incrementAndGet();
                    }
                }
                return null;
            }));
        }
        for (int fault = 0; fault < 60 || grants.get() < 1_000; fault++) {
            spoil(proxies.get(ThreadLocalRandom.current().nextInt(proxies.size())));
        }
        running.set(0);
        for (Future<?> result : results) {
            result.get();
        }
        threads.shutdown();

        await().atMost(Patience.of(Duration.ofSeconds(60)))
                .until(() -> standing().isEmpty());
    }

    /** For a moment one direction is dark; then the connection breaks, and there is time to go on. */
    private static void spoil(FaultProxy proxy) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        proxy.set(
                random.nextBoolean() ? Direction.TO_CLIENT : Direction.TO_SERVER,
                random.nextBoolean() ? Fault.DISCARDING : Fault.STALLED);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(40)));
        proxy.heal();
        proxy.reset();
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(600)));
    }

    private Optional<Lease> attempt(LockClient client) throws InterruptedException {
        int kind = ThreadLocalRandom.current().nextInt(8);
        try {
            return switch (kind) {
                case 0 -> client.lock(name).tryAcquire();
                case 1 ->
                    client.lock(name)
                            .tryAcquire(Duration.ofMillis(
                                    ThreadLocalRandom.current().nextInt(1, 60)));
                default -> client.lock(name).tryAcquire(Duration.ofSeconds(20));
            };
        } catch (LockException e) {
            return Optional.empty();
        }
    }

    private static void hold(Lease lease, AtomicInteger holders, AtomicLong last) {
        int share = lease.mode() == LockMode.SHARED ? 1 : WRITER;
        if (lease.isHeld()) {
            int count = holders.addAndGet(share);
            boolean believed = lease.isHeld();
            long before = share == WRITER ? last.getAndAccumulate(lease.token(), Math::max) : last.get();
            holders.addAndGet(-share);
            if (believed) {
                assertThat(count).matches(all -> all == WRITER || all < WRITER);
                assertThat(lease.token()).isGreaterThan(before);
            }
        }
        lease.release();
    }
}
