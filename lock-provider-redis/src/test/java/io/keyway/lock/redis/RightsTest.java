// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.redis.server.RedisCluster;
import io.keyway.lock.redis.server.RedisExecutable;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.redis.server.SentinelSet;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client works with the rights that docs/providers/redis.md gives to a user, and says so where one is lacking. */
class RightsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Pattern RIGHTS = Pattern.compile("`(ACL SETUSER locks on >secret [^`]+)`");

    @TempDir
    private Path directory;

    @Test
    void aUserOfOneServerNeedsNoMoreThanTheDocumentSays() throws Exception {
        try (RedisServer server = RedisServer.start(directory)) {
            give(List.of(server));
            String url = "lock:redis://locks:secret@" + server.address();
            works(url);
            assertThatThrownBy(() -> tryOnce(url + "?prefix=other:"))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("NOPERM");
            give(List.of(server), "-info");
            works(url);
        }
    }

    @Test
    @Tag("soak")
    void aUserBehindSentinelsNeedsToAskForTheRole() throws Exception {
        for (RedisExecutable executable : RedisExecutable.all()) {
            try (SentinelSet set = SentinelSet.start(executable, directory)) {
                String url = set.url().replace("://", "://locks:secret@");
                give(set.servers());
                assertThatThrownBy(() -> tryOnce(url)).hasMessageContaining("role");
                give(set.servers(), "+role");
                works(url);
            }
        }
    }

    @Test
    @Tag("soak")
    void aUserOfAClusterNeedsToAskForItsSlots() throws Exception {
        for (RedisExecutable executable : RedisExecutable.all()) {
            try (RedisCluster cluster = RedisCluster.start(executable, directory)) {
                String url = cluster.url().replace("://", "://locks:secret@");
                give(cluster.servers());
                if (executable.major() < 7) { // later, who may do anything else may do that
                    assertThatThrownBy(() -> tryOnce(url)).hasMessageContaining("cluster");
                }
                give(cluster.servers(), "+cluster|slots");
                works(url);
            }
        }
    }

    /** All that a client does: also to wait, which needs the messages, to look and to break. */
    private static void works(String url) throws Exception {
        try (LockClient client = open(url);
                LockClient other = open(url)) {
            Lease lease = client.lock("a").acquire();
            CompletableFuture<Lease> waiter = other.lock("a").acquireAsync();
            await().atMost(Patience.of(PATIENCE)).until(() -> waiters(client), count -> count == 1);
            assertThat(client.admin().list("", Optional.empty(), 10).locks()).hasSize(1);
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            Lease next = waiter.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(client.admin().breakLease(LockKey.lock(LockName.of("a")), next.token(), "test"))
                    .isTrue();
            assertThat(next.lost()
                            .toCompletableFuture()
                            .get(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                            .cause())
                    .isEqualTo(LeaseLoss.Cause.BROKEN);
            await().atMost(Patience.of(PATIENCE)).until(() -> other.lock("a").tryAcquire(), Optional::isPresent);
        }
    }

    private static int waiters(LockClient client) throws InterruptedException {
        return client.admin()
                .show(LockKey.lock(LockName.of("a")))
                .map(status -> status.waiters().size())
                .orElse(0);
    }

    private static void tryOnce(String url) throws InterruptedException {
        try (LockClient client = open(url)) {
            client.lock("a").tryAcquire();
        }
    }

    private static LockClient open(String url) {
        return Locks.open(
                url, ClientOptions.defaults().withDefaults(LockOptions.none().withTtl(LONG)));
    }

    /** The user of the document, on each server, and these rights beside. */
    static void give(List<RedisServer> servers, String... more) throws IOException {
        Matcher rights = RIGHTS.matcher(Files.readString(Path.of("../docs/providers/redis.md")));
        assertThat(rights.find()).as("the document names the rights of a user").isTrue();
        String[] words = Stream.concat(Arrays.stream(rights.group(1).split(" ", -1)), Arrays.stream(more))
                .toArray(String[]::new);
        for (RedisServer server : servers) {
            server.ask("ACL", "DELUSER", words[2]);
            server.ask(words);
        }
    }
}
