// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Capacity;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.Locks;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

/** What the compatibility kit cannot see: what is at the server, and what it costs. */
class RedisTest {

    /** Nobody asks again by himself during a test. */
    private static final Duration LONG = Duration.ofMinutes(5);

    private static final long PATIENCE = 20;

    @AutoClose
    private static RedisServer server;

    private final List<LockClient> clients = new ArrayList<>();

    @BeforeAll
    static void start(@TempDir Path directory) throws Exception {
        server = RedisServer.start(directory);
    }

    @BeforeEach
    void clear() {
        server.ask("FLUSHALL");
        server.ask("CONFIG", "RESETSTAT");
    }

    @AfterEach
    void close() {
        clients.forEach(LockClient::close);
        assertThat(server.endless()).isEmpty();
    }

    @Test
    void anUncontendedPairIsTwoCommands() throws Exception {
        LockClient client = client();
        client.lock("warm").acquire().close();
        long before = calls("evalsha");
        long others = otherCalls();
        for (int i = 0; i < 50; i++) {
            client.lock("orders/" + i).acquire().close();
        }
        assertThat(calls("evalsha") - before).isEqualTo(100);
        assertThat(otherCalls()).isEqualTo(others);
    }

    @Test
    void nothingIsLeftBehind() throws Exception {
        LockClient client = client();
        LockClient other = client();
        client.lock("a").acquire().close();
        try (Lease reader = client.readWriteLock("b").read().acquire();
                Lease second = other.readWriteLock("b").read().acquire()) {
            assertThat(second.token()).isGreaterThan(reader.token());
        }
        client.semaphore("c", Capacity.of(3)).acquire(2).close();
        Lease held = client.lock("d").acquire();
        CompletableFuture<Lease> waiting = other.lock("d").acquireAsync();
        awaitWaiters(client, "d", 1);
        held.release();
        waiting.get(Patience.seconds(PATIENCE), TimeUnit.SECONDS).release();
        DistributedReadWriteLock upgraded = client.readWriteLock("e");
        Lease read = upgraded.read().acquire();
        upgraded.tryUpgrade(read, Duration.ZERO).orElseThrow().release();
        assertThat(keys()).containsExactly("keyway:floor");
    }

    /** Nobody asks for such a name again. */
    @Test
    void whatIsHeldAtLeastForATimeLeavesNothingAfterIt() throws Exception {
        LockOptions options = LockOptions.none()
                .withTtl(Patience.lease(Duration.ofSeconds(2)))
                .withHoldAtLeast(Patience.lease(Duration.ofSeconds(1)));
        LockClient client = client();
        for (int i = 0; i < 5; i++) {
            client.lock("jobs/" + i).with(options).acquire().release();
        }
        assertThat(keys()).as("what is kept").hasSize(6);
        assertThat(server.endless()).isEmpty();
        await().untilAsserted(() -> assertThat(keys()).containsExactly("keyway:floor"));
    }

    @Test
    void whatIsHeldHasAnEnd() throws Exception {
        Lease held = client().lock("a").acquire();
        CompletableFuture<Lease> waiting = client().lock("a").acquireAsync();
        awaitWaiters(clients.get(0), "a", 1);
        for (String key : keys()) {
            if (!key.equals("keyway:floor")) {
                assertThat((Long) server.ask("PTTL", key)).as(key).isBetween(1L, LONG.toMillis() + 1);
            }
        }
        held.release();
        waiting.get(Patience.seconds(PATIENCE), TimeUnit.SECONDS).release();
    }

    @Test
    void aHandOverWakesExactlyOne() throws Exception {
        Lease held = client().lock("a").acquire();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            waiting.add(client().lock("a").acquireAsync());
            awaitWaiters(clients.get(0), "a", i + 1);
        }
        awaitSilence();
        for (int i = 0; i < 8; i++) {
            long published = calls("publish");
            long scripts = calls("evalsha");
            held.release();
            held = waiting.get(i).get(Patience.seconds(PATIENCE), TimeUnit.SECONDS);
            assertThat(calls("publish") - published).as("messages").isEqualTo(1);
            assertThat(calls("evalsha") - scripts).as("a release alone").isEqualTo(1);
        }
        held.release();
    }

    @Test
    void aBreakRightAfterTheFirstGrantOfAClientIsHeard() throws Exception {
        LockClient other = client();
        for (int i = 0; i < 40; i++) {
            Lease lease = client().lock("a").acquire();
            assertThat(other.admin().breakLease(LockKey.lock(lease.name()), lease.token(), "a test"))
                    .isTrue();
            assertThat(lease.lost()
                            .toCompletableFuture()
                            .get(Patience.seconds(PATIENCE), TimeUnit.SECONDS)
                            .cause())
                    .isEqualTo(LeaseLoss.Cause.BROKEN);
        }
    }

    @Test
    void readersAreWokenTogetherAndEachOnce() throws Exception {
        Lease writer = client().lock("a").acquire();
        List<CompletableFuture<Lease>> readers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            readers.add(client().readWriteLock("a").read().acquireAsync());
            awaitWaiters(clients.get(0), "a", i + 1);
        }
        CompletableFuture<Lease> next = client().lock("a").acquireAsync();
        awaitWaiters(clients.get(0), "a", 6);
        awaitSilence();
        long published = calls("publish");
        writer.release();
        List<Lease> read = new ArrayList<>();
        for (CompletableFuture<Lease> reader : readers) {
            read.add(reader.get(Patience.seconds(PATIENCE), TimeUnit.SECONDS));
        }
        assertThat(calls("publish") - published).isEqualTo(5);
        assertThat(next).isNotDone();
        read.forEach(Lease::release);
        next.get(Patience.seconds(PATIENCE), TimeUnit.SECONDS).release();
    }

    @Test
    void namesAreShownAsTheyAreAndNeverMeet() throws Exception {
        LockClient client = client();
        List<String> names =
                List.of("a{b}c", "a%7Bb%7Dc", "{}", "x*", "x[1]", "x?", "naïve/ключ", "a b", "back\\slash");
        List<Lease> held = new ArrayList<>();
        for (String name : names) {
            held.add(client.lock(name).tryAcquire().orElseThrow());
            held.add(client.semaphore(name, Capacity.of(1)).tryAcquire().orElseThrow());
        }
        LockPage all = client.admin().list("", Optional.empty(), 100);
        assertThat(all.locks())
                .extracting(LockStatus::key)
                .containsExactlyInAnyOrderElementsOf(names.stream()
                        .flatMap(name ->
                                List.of(LockKey.lock(LockName.of(name)), LockKey.semaphore(LockName.of(name))).stream())
                        .toList());
        assertThat(client.admin().list("x[", Optional.empty(), 100).locks())
                .extracting(status -> status.key().name().value())
                .containsExactly("x[1]", "x[1]");
        held.forEach(Lease::release);
    }

    @Test
    void pagesOfAListingShowEachNameOnce() throws Exception {
        LockClient client = client();
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            held.add(client.lock("n/" + i).acquire());
        }
        List<String> seen = new ArrayList<>();
        Optional<String> after = Optional.empty();
        do {
            // Another client knows nothing of the pages before.
            LockPage page = client().admin().list("n/", after, 10);
            page.locks().forEach(status -> seen.add(status.key().name().value()));
            after = page.next();
        } while (after.isPresent());
        assertThat(seen).hasSize(25).doesNotHaveDuplicates();
        held.forEach(Lease::release);
    }

    @Test
    void tokensRiseThoughTheClockIsBehind() throws Exception {
        LockClient client = client();
        long ahead = client.lock("a").acquire().token() + 3_600_000_000L;
        server.ask("SET", "keyway:floor", Long.toString(ahead));
        assertThat(client.lock("b").acquire().token()).isEqualTo(ahead + 1);
        assertThat(client.lock("c").acquire().token()).isEqualTo(ahead + 2);
    }

    @Test
    void clientsOfDifferentPrefixesOrDatabasesShareNothing() throws Exception {
        Lease held = client().lock("a").acquire();
        assertThat(client("?prefix=other:").lock("a").tryAcquire()).isPresent();
        LockClient database = open("lock:redis://" + server.address() + "/3", Duration.ofSeconds(30));
        assertThat(database.lock("a").tryAcquire()).isPresent();
        assertThat(client().lock("a").tryAcquire()).isEmpty();
        held.release();
    }

    @Test
    void usersAndPasswordsAreThoseOfTheServer() throws Exception {
        server.ask(
                "ACL",
                "SETUSER",
                "app",
                "on",
                ">s3cret@",
                "resetchannels",
                "~keyway:*",
                "&keyway:*",
                "+@all",
                "-@dangerous",
                "+info");
        String address = server.address();
        try (LockClient app = Locks.open("lock:redis://app:s3cret%40@" + address + "/0")) {
            app.lock("a").acquire().close();
        }
        try (LockClient wrong = Locks.open("lock:redis://app:guess@" + address + "/0")) {
            assertThatThrownBy(() -> wrong.lock("a").acquire())
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining("user and password")
                    .hasMessageNotContaining("guess");
        }
        ClientOptions eager = ClientOptions.defaults().with(CommonOptions.CONNECT, CommonOptions.Connect.EAGER);
        assertThatThrownBy(() -> Locks.open("lock:redis://app:guess@" + address + "/0", eager))
                .isInstanceOf(InvalidLockUrlException.class);
        server.ask("ACL", "DELUSER", "app");
    }

    @Test
    void aFenceKeepsOutWhoeverComesLate() throws Exception {
        LockClient client = client();
        RedisFence fence = new RedisFence(client.unwrap(UnifiedJedis.class));
        Lease late = client.lock("a").acquire();
        client.admin().breakLease(LockKey.lock(late.name()), late.token(), "a test");
        Lease next = client.lock("a").acquire();
        assertThat(fence.set(next, "value", "new")).isTrue();
        assertThat(fence.set(late, "value", "old")).isFalse();
        assertThat(fence.set(next, "value", "newer")).isTrue();
        assertThat(server.ask("GET", "value")).isEqualTo("newer");
        assertThat(RedisFence.fenceKey("value")).isEqualTo("{value}:fence");
        assertThat(RedisFence.fenceKey("a{b}c")).isEqualTo("a{b}c:fence");
        Lease reader = client.readWriteLock("b").read().acquire();
        assertThatThrownBy(() -> fence.set(reader, "value", "x")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void theDriverIsWithinReach() {
        assertThat(client().unwrap(RedisClient.class).ping()).isEqualTo("PONG");
    }

    @Test
    void otherUrlsAreRefusedWithTheFormsThatThereAre() {
        for (String wrong : List.of(
                "lock:redis://a,b/0",
                "lock:redis://a/x",
                "lock:redis:ring://a",
                "lock:redis:sentinel://a",
                "lock:redis:cluster://a/3",
                "lock:redis://a?prefix=x{y}")) {
            assertThatThrownBy(() -> Locks.open(wrong)).as(wrong).isInstanceOf(InvalidLockUrlException.class);
        }
    }

    private LockClient client() {
        return client("");
    }

    private LockClient client(String options) {
        return open(server.url() + options, LONG);
    }

    private LockClient open(String url, Duration ttl) {
        LockClient client = Locks.open(
                url, ClientOptions.defaults().withDefaults(LockOptions.none().withTtl(ttl)));
        clients.add(client);
        return client;
    }

    private static void awaitWaiters(LockClient client, String name, int waiters) {
        await().until(() -> client.admin()
                .show(LockKey.lock(LockName.of(name)))
                .map(status -> status.waiters().size() == waiters)
                .orElse(false));
    }

    /** Whoever began to wait before its subscription stood has asked once more by then. */
    private static void awaitSilence() {
        long[] before = {-1};
        await().pollInterval(Duration.ofMillis(250)).until(() -> {
            long now = calls("evalsha");
            boolean same = now == before[0];
            before[0] = now;
            return same;
        });
    }

    private static List<String> keys() {
        return ((List<?>) server.ask("KEYS", "*"))
                .stream().map(Object::toString).toList();
    }

    private static long calls(String command) {
        Matcher found = Pattern.compile("cmdstat_" + command + ":calls=(\\d+)")
                .matcher(server.ask("INFO", "commandstats").toString());
        return found.find() ? Long.parseLong(found.group(1)) : 0;
    }

    /** What clients send beside the scripts: nothing of it belongs to a pair. */
    private static long otherCalls() {
        return calls("eval") + calls("ping") + calls("subscribe") + calls("script") + calls("select");
    }
}
