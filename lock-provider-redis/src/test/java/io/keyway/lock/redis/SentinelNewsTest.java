// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.AddressMap;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.redis.server.BehindSentinels;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.redis.server.SentinelSet;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.tck.process.Patience;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.exceptions.JedisException;

/** Sentinels of which one is behind: what it names is not believed when another has named a later master. */
@Tag("soak")
class SentinelNewsTest {
    private static final RedisScript COUNT = RedisScript.of("count");
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @TempDir
    private Path directory;

    private BehindSentinels set;
    private HeardSignals signals;

    @BeforeEach
    void start() throws Exception {
        set = BehindSentinels.start(directory);
        signals = new HeardSignals();
    }

    @AfterEach
    void close() throws Exception {
        signals.close();
        set.close();
    }

    @Test
    void aFailOverIsHeardOfTheSentinelThatAnnouncesItWhateverAnotherNames() throws Exception {
        try (SentinelLink link = link(AddressMap.NONE, set.leader(), set.behind())) {
            link.start(signals, soon());
            await().atMost(Patience.of(PATIENCE)).until(this::leaderIsHeard);

            set.failOver();

            await().atMost(Patience.of(PATIENCE))
                    .until(() ->
                            signals.heard.stream().anyMatch(line -> line.startsWith("doubt") && line.endsWith("lost")));
            assertThat(signals.heard)
                    .anyMatch(line -> line.startsWith("doubt fail-over of main from "
                            + set.first().address() + " to " + set.second().address()));
        }
    }

    /** The former master calls itself one still, for some seconds. */
    @Test
    void whoOpensAfterAFailOverTakesTheLatestConfiguration() throws Exception {
        set.failOver();
        set.first().ask("REPLICAOF", "NO", "ONE");
        try (SentinelLink link = link(AddressMap.NONE, set.behind(), set.leader())) {
            link.start(signals, soon());

            link.run(call("a"), soon());

            assertThat(set.first().ask("EXISTS", "a")).isEqualTo(0L);
            assertThat(set.second().ask("EXISTS", "a")).isEqualTo(1L);
        }
    }

    @Test
    void whoKnowsTheLatestConfigurationGoesBackToNoneBefore() throws Exception {
        try (SentinelLink link = link(AddressMap.NONE, set.leader(), set.behind())) {
            set.failOver();
            set.first().ask("REPLICAOF", "NO", "ONE");
            link.start(signals, soon());
            for (int i = 0; i < 4; i++) {
                set.second().ask("CLIENT", "KILL", "TYPE", "normal"); // so that the sentinels are asked again
                assertThatThrownBy(() -> link.run(call("a"), soon())).isInstanceOf(JedisException.class);
                link.run(call("b"), soon());
            }
            set.leader().pause(); // the other is the only one that answers
            try {
                set.second().ask("CLIENT", "KILL", "TYPE", "normal");
                assertThatThrownBy(() -> link.run(call("a"), soon())).isInstanceOf(JedisException.class);
                assertThatThrownBy(() -> link.run(call("b"), soon()))
                        .isInstanceOf(NotExecutedException.class)
                        .hasMessageContaining("is behind");
            } finally {
                set.leader().resume();
            }
            assertThat(set.first().ask("EXISTS", "a", "b")).isEqualTo(0L);
        }
    }

    /** What they have lost is by which configuration. */
    @Test
    void sentinelsThatWereSetUpAnewMayNameTheMasterThatIsKnown() throws Exception {
        set.failOver();
        try (SentinelLink link = link(AddressMap.NONE, set.leader())) {
            link.start(signals, soon());
            String[] master = set.second().address().split(":", -1);
            set.leader().ask("SENTINEL", "REMOVE", SentinelSet.MASTER);
            set.leader().ask("SENTINEL", "MONITOR", SentinelSet.MASTER, master[0], master[1], "1");

            set.second().ask("CLIENT", "KILL", "TYPE", "normal"); // so that the sentinels are asked again
            Throwable broken = catchThrowable(() -> link.run(call("a"), soon()));
            link.run(call("b"), soon());

            assertThat(broken).isInstanceOf(JedisException.class);
            assertThat(set.second().ask("EXISTS", "b")).isEqualTo(1L);
        }
    }

    @Test
    void noConnectionIsLeftToAReplicaThatWasTaken() throws Exception {
        AddressMap wrong =
                new AddressMap(Map.of(set.first().address(), set.second().address()));
        try (SentinelLink link = link(wrong, set.leader())) {
            for (int i = 0; i < 5; i++) {
                assertThatThrownBy(() -> link.start(signals, soon()))
                        .isInstanceOf(NotExecutedException.class)
                        .hasMessageContaining("which is a replica");
            }
            await().atMost(Patience.of(PATIENCE))
                    .until(() -> !set.second().ask("CLIENT", "LIST").toString().contains("name=news "));
        }
    }

    private boolean leaderIsHeard() {
        return set.leader().ask("CLIENT", "LIST").toString().contains("sub=1");
    }

    private static SentinelLink link(AddressMap map, RedisServer... sentinels) {
        String hosts = Stream.of(sentinels).map(RedisServer::address).collect(Collectors.joining(","));
        ClientOptions options = ClientOptions.defaults()
                .withName("news")
                .with(CommonOptions.CONNECT_TIMEOUT, Duration.ofSeconds(5))
                .with(RedisOptions.ADDRESS_MAP, map);
        return new SentinelLink(
                SentinelSet.MASTER,
                TestSettings.of("lock:redis:sentinel://" + hosts + "/" + SentinelSet.MASTER, options));
    }

    private static Deadline soon() {
        return Deadline.after(Duration.ofSeconds(5));
    }

    private static RedisScript.Call call(String key) {
        return new RedisScript.Call(COUNT, new byte[][] {key.getBytes(StandardCharsets.UTF_8)}, new byte[0][]);
    }
}
