// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.redis.server.Certificates;
import io.keyway.lock.redis.server.RedisCluster;
import io.keyway.lock.redis.server.RedisExecutable;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Ports;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * In a cluster of Redis 7 a wake-up goes to the server of its slot alone. Leases are so long that whoever is granted
 * within a test was told, and did not just ask again in time.
 */
@Tag("soak")
class ShardedMessagesTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration LONG = Duration.ofHours(1);

    @TempDir
    private Path directory;

    @Test
    void aWakeUpGoesToTheServerOfItsSlotAlone() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(RedisExecutable.since(ServerCheck.SHARDED_SINCE), directory)) {
            RightsTest.give(cluster.servers());
            String url = cluster.url().replace("://", "://locks:secret@");
            try (LockClient client = open(cluster.servers(), url);
                    LockClient other = open(cluster.servers(), url)) {
                assertThat(get(client.lock("b").acquireAsync()).release()).isEqualTo(ReleaseOutcome.RELEASED);
                assertThat(get(other.lock("b").acquireAsync()).release()).isEqualTo(ReleaseOutcome.RELEASED);
                // Whoever does not listen yet asks again after a moment.
                await().atMost(Patience.of(PATIENCE)).until(() -> plainChannels(cluster), count -> count == 2);
                RedisServer owner = cluster.owner(cluster.slot("a"));
                Lease lease = get(client.lock("a").acquireAsync());
                assertThat(channels(cluster)).as("nobody waits").isEmpty();
                CompletableFuture<Lease> waiter = other.lock("a").acquireAsync();
                await().atMost(Patience.of(PATIENCE)).until(() -> channels(owner), found -> found.size() == 1);
                assertThat(channels(owner).get(0)).startsWith("keyway:{a}:c:");
                assertThat(count(cluster, "ssubscribe")).isEqualTo(1);
                int scripts = count(cluster, "evalsha");
                Lease last = handOver(lease, waiter);
                for (int i = 0; i < 10; i++) {
                    CompletableFuture<Lease> next =
                            (i % 2 == 0 ? client : other).lock("a").acquireAsync();
                    await().atMost(Patience.of(PATIENCE))
                            .until(() -> channels(owner).size() == 2
                                    && owner.ask("ZCARD", "keyway:{a}:lq").equals(1L));
                    last = handOver(last, next);
                }
                assertThat(last.release()).isEqualTo(ReleaseOutcome.RELEASED);
                assertThat(count(cluster, "evalsha") - scripts)
                        .as("an attempt that waits and a release, for each hand-over")
                        .isEqualTo(22);
                assertThat(count(owner, "spublish")).isEqualTo(11);
                assertThat(count(cluster, "publish")).isZero();
                assertThat(count(cluster, "ssubscribe")).isEqualTo(2);
            }
        }
    }

    @Test
    void aSlotThatMovesTakesItsChannelsAlong() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(RedisExecutable.since(ServerCheck.SHARDED_SINCE), directory);
                LockClient client = open(cluster.servers(), cluster.url());
                LockClient other = open(cluster.servers(), cluster.url())) {
            int slot = cluster.slot("moved");
            Lease lease = get(client.lock("moved").acquireAsync());
            CompletableFuture<Lease> waiter = other.lock("moved").acquireAsync();
            RedisServer from = cluster.owner(slot);
            await().atMost(Patience.of(PATIENCE)).until(() -> channels(from), found -> found.size() == 1);
            RedisServer to = cluster.notOwner(slot);
            cluster.beginMove(slot, to);
            cluster.finishMove(slot, to);
            await().atMost(Patience.of(PATIENCE)).until(() -> channels(to), found -> found.size() == 1);
            assertThat(channels(from)).isEmpty();
            handOver(lease, waiter);
            assertThat(count(to, "spublish")).isEqualTo(1);
            assertThat(count(cluster, "publish")).isZero();
        }
    }

    @Test
    void whoWaitsWhenAMasterDiesListensToItsReplica() throws Exception {
        try (RedisCluster cluster =
                        RedisCluster.startReplicated(RedisExecutable.since(ServerCheck.SHARDED_SINCE), directory);
                LockClient client = open(cluster.servers(), cluster.url() + "?waitReplicas=1");
                LockClient other = open(cluster.servers(), cluster.url())) {
            int slot = cluster.slot("a");
            RedisServer master = cluster.owner(slot);
            Lease lease = get(client.lock("a").acquireAsync());
            CompletableFuture<Lease> waiter = other.lock("a").acquireAsync();
            await().atMost(Patience.of(PATIENCE)).until(() -> channels(master), found -> found.size() == 1);
            master.kill();
            cluster.awaitOtherOwner(slot, master);
            RedisServer replica = cluster.owner(slot);
            await().atMost(Patience.of(PATIENCE)).until(() -> channels(replica), found -> found.size() == 1);
            handOver(lease, waiter);
            assertThat(count(replica, "spublish")).isEqualTo(1);
            assertThat(count(replica, "publish")).isZero();
        }
    }

    @Test
    void aConnectionThatBreaksIsMadeAnewAndWhatWaitsThereAsksAgain() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(RedisExecutable.since(ServerCheck.SHARDED_SINCE), directory);
                LockClient client = open(cluster.servers(), cluster.url());
                LockClient other = open(cluster.servers(), cluster.url())) {
            RedisServer owner = cluster.owner(cluster.slot("a"));
            Lease lease = get(client.lock("a").acquireAsync());
            CompletableFuture<Lease> waiter = other.lock("a").acquireAsync();
            await().atMost(Patience.of(PATIENCE)).until(() -> channels(owner), found -> found.size() == 1);
            int scripts = count(cluster, "evalsha");
            String listener = owner.ask("CLIENT", "LIST", "TYPE", "pubsub")
                    .toString()
                    .lines()
                    .filter(line -> line.contains(" ssub=1 "))
                    .findAny()
                    .orElseThrow();
            owner.ask("CLIENT", "KILL", "ID", listener.replaceAll("^id=(\\d+) .*", "$1"));
            await().atMost(Patience.of(PATIENCE))
                    .untilAsserted(() -> assertThat(count(cluster, "evalsha") - scripts)
                            .as("asked again when it broke, and when it stood anew")
                            .isGreaterThanOrEqualTo(2));
            assertThat(channels(owner)).hasSize(1);
            handOver(lease, waiter);
            assertThat(count(owner, "spublish")).isEqualTo(1);
            assertThat(count(cluster, "publish")).isZero();
        }
    }

    @Test
    void theyAreHeardOverTlsToo() throws Exception {
        Certificates certificates = Certificates.make(directory);
        int port = Ports.free();
        List<String> settings = new ArrayList<>(certificates.settings(port));
        settings.addAll(List.of("cluster-enabled yes", "tls-cluster yes", "cluster-port " + Ports.free()));
        try (RedisServer server = RedisServer.start(
                RedisExecutable.since(ServerCheck.SHARDED_SINCE), directory, settings.toArray(new String[0]))) {
            server.ask("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
            await().atMost(Patience.of(PATIENCE))
                    .until(() -> server.ask("CLUSTER", "INFO").toString().contains("cluster_state:ok"));
            String url = "lock:rediss:cluster://127.0.0.1:" + port + "?trustStore=" + certificates.trustStore()
                    + "&trustStorePassword=" + certificates.password();
            try (LockClient client = open(List.of(server), url);
                    LockClient other = open(List.of(server), url)) {
                Lease lease = get(client.lock("a").acquireAsync());
                CompletableFuture<Lease> waiter = other.lock("a").acquireAsync();
                await().atMost(Patience.of(PATIENCE)).until(() -> channels(server), found -> found.size() == 1);
                handOver(lease, waiter);
                assertThat(count(server, "spublish")).isEqualTo(1);
                assertThat(count(server, "publish")).isZero();
            }
        }
    }

    @Test
    void whoMayNotListenToShardedChannelsIsToldByPlainOnes() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(RedisExecutable.since(ServerCheck.SHARDED_SINCE), directory)) {
            for (RedisServer each : cluster.servers()) {
                each.ask("ACL", "SETUSER", "locks", "on", ">secret", "~*", "&*", "+@all", "-ssubscribe");
            }
            String url = cluster.url().replace("://", "://locks:secret@");
            try (LockClient client = open(cluster.servers(), url);
                    LockClient other = open(cluster.servers(), url)) {
                RedisServer owner = cluster.owner(cluster.slot("a"));
                Lease lease = get(client.lock("a").acquireAsync());
                CompletableFuture<Lease> waiter = other.lock("a").acquireAsync();
                await().atMost(Patience.of(PATIENCE))
                        .until(() -> owner.ask("INFO", "errorstats").toString().contains("NOPERM"));
                handOver(lease, waiter);
                assertThat(channels(cluster)).isEmpty();
                assertThat(count(owner, "publish")).isEqualTo(1);
            }
        }
    }

    @Test
    void namesThatNobodyWaitsForKeepFewChannels() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(RedisExecutable.since(ServerCheck.SHARDED_SINCE), directory);
                LockClient client = open(cluster.servers(), cluster.url());
                LockClient other = open(cluster.servers(), cluster.url())) {
            int names = ShardChannels.KEPT * 2;
            List<Lease> held = new ArrayList<>();
            List<CompletableFuture<Lease>> waiters = new ArrayList<>();
            for (int i = 0; i < names; i++) {
                held.add(get(client.lock("n" + i).acquireAsync()));
                waiters.add(other.lock("n" + i).acquireAsync());
            }
            await().atMost(Patience.of(PATIENCE)).until(() -> channels(cluster), found -> found.size() == names);
            for (int i = 0; i < names; i++) {
                handOver(held.get(i), waiters.get(i));
            }
            await().atMost(Patience.of(PATIENCE))
                    .until(() -> channels(cluster), found -> found.size() == ShardChannels.KEPT);
            assertThat(count(cluster, "spublish")).isEqualTo(names);
            assertThat(count(cluster, "publish")).isZero();
        }
    }

    @Test
    void whereOneServerIsOlderMessagesArePlain() throws Exception {
        RedisExecutable later = RedisExecutable.since(ServerCheck.SHARDED_SINCE);
        Optional<RedisExecutable> older = RedisExecutable.all().stream()
                .filter(each -> each.major() < ServerCheck.SHARDED_SINCE)
                .findAny();
        assumeThat(older).as("a server without sharded messages").isPresent();
        try (RedisCluster cluster = RedisCluster.start(List.of(older.get(), later, later), directory)) {
            assertPlain(cluster, cluster.url());
        }
    }

    @Test
    void whereServersDoNotTellTheirVersionMessagesArePlain() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(RedisExecutable.since(ServerCheck.SHARDED_SINCE), directory)) {
            RightsTest.give(cluster.servers(), "-info");
            assertPlain(cluster, cluster.url().replace("://", "://locks:secret@"));
        }
    }

    private static void assertPlain(RedisCluster cluster, String url) throws Exception {
        List<String> names = List.of("a", "b", "c", "d", "e", "f");
        try (LockClient client = open(cluster.servers(), url);
                LockClient other = open(cluster.servers(), url)) {
            for (String name : names) {
                Lease lease = get(client.lock(name).acquireAsync());
                CompletableFuture<Lease> waiter = other.lock(name).acquireAsync();
                await().atMost(Patience.of(PATIENCE)).until(() -> isWaitedFor(client, name));
                handOver(lease, waiter);
            }
        }
        assertThat(count(cluster, "publish")).isEqualTo(names.size());
        assertThat(count(cluster, "spublish") + count(cluster, "ssubscribe")).isZero();
    }

    private static Lease handOver(Lease lease, CompletableFuture<Lease> waiter) throws Exception {
        assertThat(waiter).isNotDone();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        return get(waiter);
    }

    private static Lease get(CompletableFuture<Lease> lease) throws Exception {
        return lease.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    private static boolean isWaitedFor(LockClient client, String name) throws InterruptedException {
        return client.admin()
                .show(LockKey.lock(LockName.of(name)))
                .filter(status -> !status.waiters().isEmpty())
                .isPresent();
    }

    /** Connected; what is counted begins then, since a client that connects looks whether it may send. */
    private static LockClient open(List<RedisServer> servers, String url) throws Exception {
        LockClient client = Locks.open(
                url, ClientOptions.defaults().withDefaults(LockOptions.none().withTtl(LONG)));
        get(client.lock("connected").acquireAsync()).release();
        servers.forEach(server -> server.ask("CONFIG", "RESETSTAT"));
        return client;
    }

    private static List<String> channels(RedisServer server) {
        return ((List<?>) server.ask("PUBSUB", "SHARDCHANNELS"))
                .stream().map(String::valueOf).toList();
    }

    private static List<String> channels(RedisCluster cluster) {
        return cluster.servers().stream()
                .flatMap(each -> channels(each).stream())
                .toList();
    }

    private static int plainChannels(RedisCluster cluster) {
        return cluster.servers().stream()
                .mapToInt(each -> ((List<?>) each.ask("PUBSUB", "CHANNELS")).size())
                .sum();
    }

    private static int count(RedisServer server, String command) {
        Matcher calls = Pattern.compile("cmdstat_" + command + ":calls=(\\d+),")
                .matcher(server.ask("INFO", "commandstats").toString());
        return calls.find() ? Integer.parseInt(calls.group(1)) : 0;
    }

    private static int count(RedisCluster cluster, String command) {
        return cluster.servers().stream().mapToInt(each -> count(each, command)).sum();
    }
}
