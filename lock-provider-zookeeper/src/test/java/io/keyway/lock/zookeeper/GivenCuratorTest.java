// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.proxy.Direction;
import io.keyway.lock.tck.proxy.Fault;
import io.keyway.lock.tck.proxy.FaultProxy;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.utils.DefaultZookeeperFactory;
import org.apache.curator.utils.ZookeeperFactory;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** Locks in the session of a CuratorFramework that is the application's own. */
class GivenCuratorTest {
    private static final int SESSION_MILLIS = 8_000;

    @AutoClose
    private static OneServer server;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final AtomicBoolean noHandle = new AtomicBoolean();
    private CuratorFramework framework;
    private String name;

    @BeforeAll
    static void beginTheServer(@TempDir Path directory) throws Exception {
        server = new OneServer(directory);
    }

    @BeforeEach
    void startTheFramework(TestInfo test) {
        name = test.getTestMethod().orElseThrow().getName();
        framework = builder().build();
        framework.start();
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
        framework.close();
    }

    private CuratorFrameworkFactory.Builder builder() {
        return CuratorFrameworkFactory.builder()
                .connectString(server.address())
                .sessionTimeoutMs(SESSION_MILLIS)
                .connectionTimeoutMs(SESSION_MILLIS)
                .retryPolicy(new RetryOneTime(100))
                .ensembleTracker(false)
                .zkClientConfig(new PlainConfig())
                .zookeeperFactory(new ZookeeperFactory() {
                    @Override
                    public ZooKeeper newZooKeeper(String servers, int timeout, Watcher watcher, boolean readOnly)
                            throws Exception {
                        return newZooKeeper(servers, timeout, watcher, readOnly, new PlainConfig());
                    }

                    @Override
                    public ZooKeeper newZooKeeper(
                            String servers, int timeout, Watcher watcher, boolean readOnly, ZKClientConfig config)
                            throws Exception {
                        if (noHandle.getAndSet(false)) {
                            throw new IOException("no handle this time");
                        }
                        return new ZooKeeper(servers, timeout, watcher, readOnly, config);
                    }
                });
    }

    private LockClient client(CuratorFramework given) {
        return client("lock:zookeeper:///keyway?closeTimeout=2s", ClientOptions.defaults(), given);
    }

    private LockClient client(String url, ClientOptions options, CuratorFramework given) {
        LockClient client = Locks.open(url, options.with(ZooKeeperOptions.CURATOR, given));
        opened.add(client);
        return client;
    }

    private ZooKeeper handle() throws Exception {
        return framework.getZookeeperClient().getZooKeeper();
    }

    private String container() {
        return new Paths("/keyway").container(LockKey.lock(LockName.of(name)));
    }

    @Test
    void locksAreInTheSessionOfTheFrameworkWhichStaysOpen() throws Exception {
        LockClient client = client(framework);
        Lease lease = client.lock(name)
                .with(LockOptions.none().withTtl(Duration.ofMinutes(1)))
                .acquire();

        assertThat(lease.ttl()).isEqualTo(Duration.ofMillis(SESSION_MILLIS));
        assertThat(client.unwrap(CuratorFramework.class)).isSameAs(framework);
        assertThat(client.unwrap(ZooKeeper.class)).isSameAs(handle());
        String node =
                container() + "/" + handle().getChildren(container(), false).get(0);
        assertThat(handle().exists(node, false).getEphemeralOwner()).isEqualTo(handle().getSessionId());
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        CompletableFuture<Lease> waits = client.lock(name).acquireAsync();
        waits.get();

        client.close();

        assertThat(framework.getState()).isEqualTo(CuratorFrameworkState.STARTED);
        // On a busy machine close returns before all is answered.
        await().untilAsserted(
                        () -> assertThat(handle().getEphemerals("/keyway")).isEmpty());
        await().untilAsserted(() -> assertThat(Watchers.all(handle())).isEmpty());
    }

    @Test
    void locksAreUnderTheNamespaceOfTheFrameworkAndBelongToWhomItSays() throws Exception {
        ACL readOnlyForOthers = new ACL(ZooDefs.Perms.READ, new Id("world", "anyone"));
        ACL allForUs = new ACL(ZooDefs.Perms.ALL, new Id("ip", "127.0.0.1"));
        ACLProvider acl = new ACLProvider() {
            @Override
            public List<ACL> getDefaultAcl() {
                return List.of(readOnlyForOthers, allForUs);
            }

            @Override
            public List<ACL> getAclForPath(String path) {
                return getDefaultAcl();
            }
        };
        LockClient client = client(
                "lock:zookeeper:///locks?closeTimeout=2s",
                ClientOptions.defaults().with(ZooKeeperOptions.ACL_PROVIDER, acl),
                framework.usingNamespace("app"));

        try (Lease lease = client.lock(name).acquire()) {
            String there = new Paths("/app/locks").container(LockKey.lock(LockName.of(name)));
            String node = there + "/" + handle().getChildren(there, false).get(0);
            assertThat(lease.isHeld()).isTrue();
            assertThat(handle().getACL(node, null)).containsExactly(readOnlyForOthers, allForUs);
        }
    }

    @Test
    void aHandleThatTheFrameworkGivesUpEndsWhatWasHeldInIt() throws Exception {
        LockClient client = client(framework);
        Lease lease = client.lock(name).acquire();

        framework.getZookeeperClient().reset();

        assertThat(lease.lost().toCompletableFuture().get().cause()).isEqualTo(LeaseLoss.Cause.EXPIRED);
        try (Lease next = client.lock(name).acquire()) {
            assertThat(next.token()).isGreaterThan(lease.token());
            assertThat(client.unwrap(ZooKeeper.class)).isSameAs(handle());
        }
    }

    @Test
    void anExceptionThatTheFrameworkHasKeptKeepsNobodyFromALock() throws Exception {
        LockClient client = client(framework);
        Lease lease = client.lock(name).acquire();
        noHandle.set(true);

        server.kill(handle());

        assertThat(lease.lost().toCompletableFuture().get().detail()).contains("for " + SESSION_MILLIS + " ms or more");
        client.lock(name).acquire().release();
    }

    @Test
    void aFrameworkThatIsNotStartedIsNamed() throws Exception {
        CuratorFramework latent = builder().build();
        LockClient client = client(latent);

        assertThatThrownBy(() -> client.lock(name).tryAcquire(Duration.ofMillis(300)))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("CuratorFramework is not started");
        latent.start();
        opened.add(latent);
        client.lock(name).acquire().release();
    }

    @Test
    void clientsOfOneFrameworkAreTwoAndTheCloseOfOneLeavesTheOther() throws Exception {
        LockClient client = client(framework);
        LockClient other = client(framework);
        Lease lease = client.lock(name).acquire();
        assertThat(other.lock(name).tryAcquire()).isEmpty();
        Lease kept = other.lock(name + "-kept").acquire();

        client.close();

        assertThat(lease.isHeld()).isFalse();
        LockClient breaker = Locks.open(server.url() + "?closeTimeout=2s");
        opened.add(breaker);
        await().ignoreException(LockUnavailableException.class)
                .until(() -> breaker.admin()
                        .breakLease(LockKey.lock(LockName.of(name + "-kept")), kept.token(), "for a test"));
        assertThat(kept.lost().toCompletableFuture().get().detail()).isEqualTo("for a test");
        other.lock(name).acquire().release();
    }

    @Test
    void aRequestThatWasLostOnItsWayIsNotTakenForOneOfAnotherClient() throws Exception {
        String[] address = server.address().split(":", -1);
        try (FaultProxy proxy = FaultProxy.to(new InetSocketAddress(address[0], Integer.parseInt(address[1])));
                CuratorFramework given = builder()
                        .connectString("127.0.0.1:" + proxy.address().getPort())
                        .sessionTimeoutMs(60_000)
                        .build()) {
            given.start();
            try (LockClient client = client(given);
                    LockClient other = client(given)) {
                client.lock(name + "-before").acquire().release();
                other.lock(name + "-before").acquire().release();
                Lease held = client.lock(name).acquireAsync().get();
                proxy.set(Direction.TO_SERVER, Fault.DISCARDING);
                CompletableFuture<Lease> waits = other.lock(name).acquireAsync();
                assertThatThrownBy(() -> waits.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);

                proxy.heal();
                proxy.reset();

                await().until(() -> waits.isDone() || standing() == 2);
                assertThat(waits).isNotDone();
                assertThat(held.isHeld()).isTrue();
                held.release();
                waits.get().release();
            }
        }
    }

    private int standing() throws Exception {
        return (int) handle().getChildren(container(), false).stream()
                .filter(node -> NodeName.parse(node).isPresent())
                .count();
    }

    @Test
    void aRequestThatIsUnderWayWhenItsClientIsClosedLeavesNothingInTheSession() throws Exception {
        LockClient client = client(
                "lock:zookeeper:///keyway?closeTimeout=500ms&requestTimeout=20s", ClientOptions.defaults(), framework);
        client.lock(name + "-before").acquire().release();
        long before = server.requests();
        CompletableFuture<Lease> taken;
        try (StalledLog stalled = server.stallWrites()) {
            taken = CompletableFuture.supplyAsync(() -> {
                try {
                    return client.lock(name).acquire();
                } catch (InterruptedException e) {
                    throw new CompletionException(e);
                }
            });
            await().until(() -> server.requests() >= before + 2);
            client.close();
            assertThat(stalled).isNotNull();
        }

        assertThat(taken).failsWithin(Duration.ofSeconds(30));
        await().untilAsserted(
                        () -> assertThat(handle().getEphemerals("/keyway")).isEmpty());
    }

    @Test
    void aFrameworkThatForgetsItsWatchersIsRefused() throws Exception {
        ZKClientConfig forgetful = new PlainConfig();
        forgetful.setProperty(ZKClientConfig.DISABLE_AUTO_WATCH_RESET, "true");
        try (CuratorFramework given = builder()
                .zookeeperFactory(new DefaultZookeeperFactory())
                .zkClientConfig(forgetful)
                .build()) {
            given.start();
            try (LockClient client = client(given)) {
                assertThatThrownBy(() -> client.lock(name).acquire())
                        .isInstanceOf(InvalidLockUrlException.class)
                        .hasMessageContaining(ZKClientConfig.DISABLE_AUTO_WATCH_RESET);
            }
        }
    }

    @Test
    void whatIsTheFrameworksIsNotSaidTwice() {
        for (String url : List.of(
                "lock:zookeeper://" + server.address() + "/keyway",
                "lock:zookeeper:///keyway?sessionTimeout=5s",
                "lock:zookeeper:///keyway?sessions=2",
                "lock:zookeeper:///keyway?tls=true")) {
            assertThatThrownBy(() -> client(url, ClientOptions.defaults(), framework))
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining("option curator");
        }
        assertThatThrownBy(() -> Locks.open("lock:zookeeper:///keyway"))
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("servers");
    }
}
