// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LockUrl;
import io.keyway.lock.kit.SystemTime;
import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.counter.CounterAlgorithm;
import io.keyway.lock.peer.counter.CounterMessage.Count;
import io.keyway.lock.peer.counter.CounterMessage.Counted;
import io.keyway.lock.peer.engine.ClientRuntime;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An algorithm of the tests alone in three members with sockets and files, and with a client: it is handed in, and
 * nothing of the product knows it. The same under faults is {@code CounterSimulationTest}.
 */
class CounterClusterTest {
    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private final CounterAlgorithm algorithm = new CounterAlgorithm();
    private final Map<Long, CompletableFuture<Long>> asked = new ConcurrentHashMap<>();
    private TestMembers members;
    private ClientRuntime client;
    private long increments;

    @BeforeEach
    void start() throws IOException {
        members = new TestMembers(directory, algorithm, "a", "b", "c");
        members.startAll("abc", TTL, true);
        LockUrl url = LockUrl.parse("lock:native://" + String.join(",", members.ids("abc")) + "/keyway?maxTtl=10s");
        OpenRequest request = new OpenRequest(
                url, ClientOptions.defaults(), CounterClusterTest.class.getClassLoader(), new SystemTime("counting"));
        client = ClusterMode.open(request, algorithm, Optional.empty(), (notice, from) -> heard(notice), () -> {});
    }

    @AfterEach
    void end() {
        client.close();
        members.close();
    }

    private void heard(Notice notice) {
        if (notice instanceof Counted counted) {
            asked.remove(counted.increment()).complete(counted.value());
        }
    }

    private CompletableFuture<Long> count(String name) {
        long increment = ++increments;
        CompletableFuture<Long> value = new CompletableFuture<>();
        asked.put(increment, value);
        client.post(new Input.Command(CounterAlgorithm.key(name), new Count(increment)));
        return value;
    }

    private long countNow(String name) throws Exception {
        return count(name).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void membersOnAllShardsAgreeOnTheCounters() throws Exception {
        for (int i = 0; i < 12; i++) {
            for (long value = 1; value <= 3; value++) {
                assertThat(countNow("visits/" + i)).isEqualTo(value);
            }
        }
    }

    @Test
    void nothingCountsWhileAMemberIsAwayAndAllOfItWhenItIsBack() throws Exception {
        assertThat(countNow("visits")).isEqualTo(1);
        String away = List.of("a", "b", "c").stream()
                .filter(letter -> !members.id(letter).equals(owner("visits")))
                .findFirst()
                .orElseThrow();
        members.end(away);
        CompletableFuture<Long> second = count("visits");
        CompletableFuture<Long> third = count("visits");
        members.start(away, "abc", TTL, false);
        await().atMost(Patience.of(PATIENCE)).until(() -> second.isDone() && third.isDone());
        assertThat(third.get()).isEqualTo(3);
    }

    @Test
    void whatWasForcedIsThereAfterAStartOfAll() throws Exception {
        assertThat(countNow("visits")).isEqualTo(1);
        assertThat(countNow("visits")).isEqualTo(2);
        List.of("a", "b", "c").forEach(members::end);
        members.startAll("abc", TTL, false);
        assertThat(countNow("visits")).isEqualTo(3);
    }

    @Test
    void aMemberWithoutItsRecordsStartsAsOneWithoutItsFile() throws Exception {
        assertThat(countNow("visits")).isEqualTo(1);
        members.end("a");
        Files.delete(members.data("a").resolve("records"));
        assertThat(members.start("a", "abc", TTL, false).quarantined()).isTrue();
    }

    private String owner(String name) {
        return new MemberList(members.ids("abc").stream().map(NodeId::parse).toList())
                .owner(name)
                .toString();
    }
}
