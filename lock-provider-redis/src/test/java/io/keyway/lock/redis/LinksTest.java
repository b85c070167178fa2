// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.AddressMap;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.redis.server.RedisCluster;
import io.keyway.lock.redis.server.RedisExecutable;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.redis.server.SentinelSet;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.FaultProxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.UnifiedJedis;

/** Scripts find the server that may run them, and nothing is run twice. */
@Tag("soak")
class LinksTest {
    private static final RedisScript COUNT = RedisScript.of("count");

    private static RedisSettings settings(String url) {
        return TestSettings.of(url, Duration.ofSeconds(5));
    }

    @TempDir
    private Path directory;

    @Test
    void aClusterIsAskedWhereTheSlotIs() throws Exception {
        for (RedisExecutable executable : RedisExecutable.all()) {
            try (RedisCluster cluster = RedisCluster.start(executable, directory);
                    HeardSignals signals = new HeardSignals();
                    ClusterLink link = new ClusterLink(settings(cluster.url()))) {
                link.start(signals, soon());
                assertThat(count(link, "a")).isEqualTo(1);
                assertThat(link.runAll(
                                Stream.of("a", "b", "c", "d")
                                        .map(LinksTest::call)
                                        .toList(),
                                0,
                                soon()))
                        .containsExactly(2L, 1L, 1L, 1L);
                int slot = cluster.slot("a");
                RedisServer to = cluster.notOwner(slot);

                cluster.beginMove(slot, to);
                assertThat(count(link, "a")).isEqualTo(3);
                assertThat(count(link, "{a}new")).as("redirected by ASK").isEqualTo(1);
                assertThat(link.runAll(List.of(call("{a}new"), call("b")), 0, soon()))
                        .containsExactly(2L, 2L);

                cluster.finishMove(slot, to);
                assertThat(link.runAll(List.of(call("a"), call("b")), 0, soon()))
                        .as("redirected by MOVED")
                        .containsExactly(4L, 3L);
                assertThat(count(link, "a")).isEqualTo(5);
                assertThat(cluster.slot(link.floorKey("keyway:", "a"))).isEqualTo(slot);
            }
        }
    }

    @Test
    void aServerOfAClusterThatStandsStillKeepsNobodyFromTheOthers() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(RedisExecutable.brought(), directory);
                HeardSignals signals = new HeardSignals();
                ClusterLink link = new ClusterLink(settings(cluster.url()))) {
            link.start(signals, soon());
            RedisServer still = cluster.owner(cluster.slot("a"));
            List<String> others = Stream.of("b", "c", "d", "e", "f")
                    .filter(key -> cluster.owner(cluster.slot(key)) != still)
                    .toList();
            count(link, "a");
            still.pause();
            try {
                assertThatThrownBy(() -> link.run(call("a"), Deadline.after(Duration.ofMillis(300))))
                        .isNotInstanceOf(NotExecutedException.class);
                for (String key : others) {
                    assertThat(count(link, key)).isEqualTo(1);
                }
            } finally {
                still.resume();
            }
            assertThat(count(link, "a"))
                    .as("what was sent was carried out in the end")
                    .isEqualTo(3);
        }
    }

    /** Both live on, so that no call fails. */
    @Test
    void aMasterWhosePlaceAReplicaWasToldToTakeIsHeardOfByARedirection() throws Exception {
        try (RedisCluster cluster = RedisCluster.startReplicated(RedisExecutable.brought(), directory);
                HeardSignals signals = new HeardSignals();
                ClusterLink link = new ClusterLink(settings(cluster.url()))) {
            link.start(signals, soon());
            count(link, "a");
            int slot = cluster.slot("a");
            RedisServer former = cluster.owner(slot);
            RedisServer replica = cluster.replicas().stream()
                    .filter(server -> server.ask("ROLE").toString().startsWith("[slave, 127.0.0.1, " + former.port()))
                    .findAny()
                    .orElseThrow();

            replica.ask("CLUSTER", "FAILOVER", "TAKEOVER");

            await().atMost(Patience.of(Duration.ofSeconds(20)))
                    .ignoreExceptions()
                    .untilAsserted(() -> {
                        count(link, "a");
                        assertThat(signals.heard)
                                .anyMatch(line -> line.startsWith("doubt fail-over from " + former.address()));
                    });
        }
    }

    @Test
    void theMasterThatTheSentinelsNameIsAsked() throws Exception {
        for (RedisExecutable executable : RedisExecutable.all()) {
            try (SentinelSet set = SentinelSet.start(executable, directory);
                    HeardSignals signals = new HeardSignals();
                    SentinelLink link = new SentinelLink(SentinelSet.MASTER, settings(set.url()))) {
                link.start(signals, soon());
                assertThat(count(link, "a")).isEqualTo(1);
                RedisLink.Acknowledged known = link.runAcknowledged(call("a"), 2, soon());
                assertThat(known.reply()).isEqualTo(2L);
                assertThat(known.replicas()).isEqualTo(2);
                RedisServer first = set.awaitMaster();
                first.kill();
                RedisServer second = set.awaitOtherMaster(first);
                await().atMost(Patience.of(Duration.ofSeconds(20)))
                        .ignoreExceptions()
                        .untilAsserted(() -> assertThat(count(link, "b")).isGreaterThan(0));
                assertThat(count(link, "a")).isEqualTo(3);
                assertThat(signals.heard)
                        .anyMatch(line -> line.startsWith("doubt") && line.contains(second.address()))
                        .contains("connected " + second.address(), "disconnected " + first.address());
            }
        }
    }

    @Test
    void theDriverReachesTheSameServersThroughTheAddressMap() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(RedisExecutable.brought(), directory);
                SentinelSet set = SentinelSet.start(RedisExecutable.brought(), directory)) {
            Map<String, String> cut = new HashMap<>();
            List<FaultProxy> proxies = new ArrayList<>();
            for (RedisServer server : Stream.of(cluster.servers(), set.sentinels(), set.servers())
                    .flatMap(List::stream)
                    .toList()) {
                FaultProxy proxy =
                        FaultProxy.to(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
                proxies.add(proxy);
                cut.put(server.address(), "127.0.0.1:" + proxy.address().getPort());
            }
            String map = "?addressMap=" + new AddressMap(cut);
            try (LockClient sentinel = Locks.open(set.url() + map);
                    LockClient slots = Locks.open(cluster.url() + map)) {
                for (LockClient client : List.of(sentinel, slots)) {
                    client.lock("a").acquire().close();
                    UnifiedJedis driver = client.unwrap(UnifiedJedis.class);
                    driver.set("value", "1");
                    assertThat(driver.get("value")).isEqualTo("1");
                    assertThat(client.unwrap(UnifiedJedis.class)).isSameAs(driver);
                }
                assertThat(slots.unwrap(RedisClusterClient.class)).isNotNull();
                assertThat(sentinel.unwrap(RedisSentinelClient.class)).isNotNull();
                assertThat(proxies.stream()
                                .filter(proxy -> proxy.connections() > 0)
                                .count())
                        .as("the cluster's, a sentinel's and the master's")
                        .isGreaterThanOrEqualTo(5);
            } finally {
                proxies.forEach(FaultProxy::close);
            }
        }
    }

    private static long count(RedisLink link, String key) throws Exception {
        return (Long) link.run(call(key), soon());
    }

    private static Deadline soon() {
        return Deadline.after(Duration.ofSeconds(5));
    }

    private static RedisScript.Call call(String key) {
        return new RedisScript.Call(COUNT, new byte[][] {key.getBytes(StandardCharsets.UTF_8)}, new byte[0][]);
    }
}
