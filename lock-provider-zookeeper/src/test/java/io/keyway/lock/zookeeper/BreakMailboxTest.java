// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** How a session hears of breaks, in time and whatever happens meanwhile. */
class BreakMailboxTest {
    @AutoClose
    private static OneServer server;

    private LockClient holder;
    private LockClient breaker;
    private String name;
    private LockKey key;

    @BeforeAll
    static void beginTheServer(@TempDir Path directory) throws Exception {
        server = new OneServer(directory);
    }

    @BeforeEach
    void openTheClients(TestInfo test) throws Exception {
        name = test.getTestMethod().orElseThrow().getName();
        key = LockKey.lock(LockName.of(name));
        holder = Locks.open(server.url() + "?ttl=10m&closeTimeout=2s");
        breaker = Locks.open(server.url() + "?ttl=10m&closeTimeout=2s");
        breaker.lock(name + "-connected").acquire().release();
    }

    @AfterEach
    void closeTheClients() {
        holder.close();
        breaker.close();
    }

    private ZooKeeper tool() {
        return breaker.unwrap(ZooKeeper.class);
    }

    private String nodeOfTheHolder() {
        return new Paths("/keyway")
                .session(Long.toHexString(holder.unwrap(ZooKeeper.class).getSessionId()));
    }

    @Test
    void aReleaseKnowsOfEachBreakBeforeIt() throws Exception {
        LockKey otherKey = LockKey.lock(LockName.of(name + "-other"));
        for (int i = 0; i < 50; i++) {
            Lease lease = holder.lock(name).acquire();
            Lease other = holder.lock(name + "-other").acquire();

            assertThat(breaker.admin().breakLease(key, lease.token(), "first")).isTrue();
            assertThat(breaker.admin().breakLease(otherKey, other.token(), "second"))
                    .isTrue();

            assertThat(other.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
            assertThat(breaker.admin().breakLease(key, lease.token(), "again")).isFalse();
        }
        await().until(() -> tool().getData(nodeOfTheHolder(), false, null).length == 0);
    }

    @Test
    void aReleaseWhoseAnswerOvertakesABreakKnowsOfItToo() throws Exception {
        Lease lease = holder.lock(name).acquire();
        String container = new Paths("/keyway").container(key);
        CompletableFuture<ReleaseOutcome> released;
        try (HeldUpEvents untold = new HeldUpEvents(holder.unwrap(ZooKeeper.class))) {
            assertThat(breaker.admin().breakLease(key, lease.token(), "first")).isTrue();

            released = CompletableFuture.supplyAsync(lease::release);
            await().until(() -> tool().getChildren(container, false).isEmpty());
        }
        assertThat(released.get()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
    }

    @Test
    void watchesOutlastAConnectionWhateverTheConfigurationSays() throws Exception {
        ZKClientConfig forgetful = new PlainConfig();
        forgetful.setProperty(ZKClientConfig.DISABLE_AUTO_WATCH_RESET, "true");
        ClientOptions options = ClientOptions.defaults().with(ZooKeeperOptions.CLIENT_CONFIG, forgetful);
        try (LockClient client = Locks.open(server.url() + "?ttl=10m&closeTimeout=2s", options);
                Lease lease = client.lock(name).acquire()) {
            assertThat(client.unwrap(ZooKeeper.class)
                            .getClientConfig()
                            .getBoolean(ZKClientConfig.DISABLE_AUTO_WATCH_RESET))
                    .as("for %s", lease)
                    .isFalse();
        }
    }

    @Test
    void aBreakIsAddedToThoseThatWereNotForgotten() throws Exception {
        Lease lease = holder.lock(name).acquire();
        Lease kept = holder.lock(name + "-kept").acquire();
        byte[] past = new BreakMailbox.BrokenGrants(Map.of(), 0)
                .with(lease.token() + 1_000_000, "of the past")
                .bytes();
        tool().setData(nodeOfTheHolder(), past, -1);

        assertThat(breaker.admin().breakLease(key, lease.token(), "now")).isTrue();

        assertThat(lease.lost().toCompletableFuture().get())
                .returns(LeaseLoss.Cause.BROKEN, LeaseLoss::cause)
                .returns("now", LeaseLoss::detail);
        assertThat(kept.isHeld()).isTrue();
        assertThat(kept.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void aBreakAfterALossOfTheConnectionIsHeard() throws Exception {
        Lease lease = holder.lock(name).acquire();
        Lease kept = holder.lock(name + "-kept").acquire();
        server.stop();
        server.restart();

        await().atMost(Patience.of(Duration.ofMinutes(1)))
                .ignoreException(LockUnavailableException.class)
                .until(() -> breaker.admin().breakLease(key, lease.token(), "for a test"));

        assertThat(lease.lost().toCompletableFuture().get().cause()).isEqualTo(LeaseLoss.Cause.BROKEN);
        assertThat(kept.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void whoCannotBeToldIsNotBrokenAndCanBeToldAgainLater() throws Exception {
        Lease lease = holder.lock(name).acquire();
        try (HeldUpEvents untold = new HeldUpEvents(holder.unwrap(ZooKeeper.class))) {
            tool().delete(nodeOfTheHolder(), -1);

            assertThatThrownBy(() -> breaker.admin().breakLease(key, lease.token(), "too early"))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("the session of the holder");
            assertThat(lease.isHeld()).isTrue();
        }

        // As soon as its session hears that the node is gone it makes it anew.
        await().until(() -> tool().exists(nodeOfTheHolder(), false) != null);
        assertThat(breaker.admin().breakLease(key, lease.token(), "now")).isTrue();
        assertThat(lease.lost().toCompletableFuture().get().detail()).isEqualTo("now");
    }
}
