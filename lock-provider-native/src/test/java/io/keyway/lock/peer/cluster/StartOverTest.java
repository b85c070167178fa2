// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.engine.Cells;
import io.keyway.lock.peer.member.MemberFile;
import io.keyway.lock.peer.member.MemberRecord;
import io.keyway.lock.peer.member.StartState;
import io.keyway.lock.peer.os.BootClock;
import io.keyway.lock.peer.os.SystemFacts;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.service.Algorithm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a member is killed over, it starts over: no directory keeps it from that, and none makes it forget a wait. */
class StartOverTest {
    private static final Duration HOUR = Duration.ofHours(1);

    @TempDir
    private Path directory;

    private final SystemFacts facts = new SystemFacts();

    private static Algorithm algorithm(String name) {
        return Algorithms.named(name).orElseThrow();
    }

    private static MemberConfig config(Path data, Algorithm algorithm, Duration maxTtl, boolean init) {
        NodeId node = new NodeId("127.0.0.1", 7);
        return new MemberConfig(
                node,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new MemberList(List.of(node)),
                MemberConfig.CLUSTER,
                data,
                init,
                Set.of(),
                maxTtl,
                algorithm.isElastic() ? 1 : 2,
                Security.insecure(),
                0,
                false);
    }

    private ClusterMember start(Path data, String algorithm, Duration maxTtl, boolean init) throws IOException {
        return ClusterMember.start(config(data, algorithm(algorithm), maxTtl, init), algorithm(algorithm), () -> {});
    }

    /** The directory of that member, as its next start finds it. */
    private DataDirectory open(Path data, Algorithm algorithm) throws IOException {
        MemberConfig config = config(data, algorithm, HOUR, false);
        Cells cells = new Cells(
                        config.cluster(),
                        config.maxTtl(),
                        algorithm,
                        config.security().authenticator())
                .among(config.ids(), config.shards());
        return DataDirectory.open(config, cells, facts);
    }

    private Path only(String name, Path from, int member, int records) throws IOException {
        Path data = Files.createDirectory(directory.resolve(name));
        for (String file : List.of("member", "records")) {
            int length = file.equals("member") ? member : records;
            if (length >= 0) {
                byte[] bytes = Files.readAllBytes(from.resolve(file));
                Files.write(data.resolve(file), Arrays.copyOf(bytes, Math.min(length, bytes.length)));
            }
        }
        return data;
    }

    /** It makes one file after the other, and is killed anywhere in between. */
    @ParameterizedTest
    @ValueSource(strings = {"lamport", "bakery", "failover"})
    void aFirstStartThatWasCutShortIsStartedOver(String algorithm) throws IOException {
        Path whole = directory.resolve("whole");
        start(whole, algorithm, HOUR, true).close();
        int all = 1 << 20;
        for (int member : new int[] {-1, 0, 100, 8192, all}) {
            for (int records : new int[] {-1, 0, 100, 4096, all}) {
                Path data = only("m" + member + "r" + records, whole, member, records);
                try (ClusterMember again = start(data, algorithm, HOUR, false)) {
                    assertThat(again.quarantined())
                            .as("with %d bytes of the member file, and %d of records", member, records)
                            .isTrue();
                }
            }
        }
    }

    /** The member file says that it serves the former algorithm until the records of that one are gone. */
    @Test
    void aChangeOfTheAlgorithmThatWasCutShortIsStartedOverWithEither() throws IOException {
        for (String next : List.of("failover", "bakery")) {
            Path data = directory.resolve("then-" + next);
            start(data, "bakery", HOUR, true).close();
            Files.delete(data.resolve("records")); // and was not made again
            try (ClusterMember again = start(data, next, HOUR, false)) {
                assertThat(again.quarantined()).isTrue();
            }
        }
    }

    @Test
    void aMemberThatLostItsRecordsWaitsAndTakesPartAgain() throws Exception {
        Path data = directory.resolve("a");
        Duration brief = Duration.ofMillis(200);
        try (ClusterMember first = start(data, "failover", brief, true)) {
            await().until(() -> !first.leaders().isEmpty());
        }
        Files.delete(data.resolve("records"));
        try (ClusterMember again = start(data, "failover", brief, false)) {
            await().until(() -> !again.leaders().isEmpty());
        }
    }

    /** An operator starts it, ends it before anybody has asked it for anything, and starts it again. */
    @Test
    void aMemberOfLamportsQueueThatHasPromisedNothingWaitsForNothing() throws IOException {
        Path data = directory.resolve("a");
        try (ClusterMember first = start(data, "lamport", HOUR, true)) {
            await().until(() -> !first.quarantined()); // one that has not opened its list waits once more
        }
        try (ClusterMember again = start(data, "lamport", HOUR, false)) {
            await().until(() -> !again.quarantined());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"lease", "lamport", "bakery", "failover"})
    void noStartMovesTheHorizonBack(String name) throws IOException {
        Path data = directory.resolve("a");
        start(data, name, HOUR, true).close();
        long horizon = BootClock.horizon(facts, HOUR.multipliedBy(3).toNanos());
        try (DataDirectory opened = open(data, algorithm(name))) {
            MemberFile file = opened.file();
            file.force(new MemberRecord(file.nextEpoch(0), HOUR.toNanos(), horizon));
        }
        for (int life = 0; life < 3; life++) {
            start(data, name, HOUR, false).close();
            try (DataDirectory opened = open(data, algorithm(name))) {
                assertThat(opened.file().start())
                        .isInstanceOfSatisfying(
                                StartState.Restarted.class,
                                found -> assertThat(found.stored().record().horizonNanos())
                                        .isGreaterThanOrEqualTo(horizon));
            }
            Files.deleteIfExists(data.resolve("records")); // whatever else it waits for then
        }
    }

    /** What its clients, and other members, count on lasts longer than its quarantine. */
    @Test
    void aBakeryThatDoesNotKnowWhatItPromisedSaysThatItsPromisesMayLastForTwoLeases() throws IOException {
        Path data = directory.resolve("a");
        start(data, "bakery", HOUR, false).close();
        try (DataDirectory opened = open(data, algorithm("bakery"))) {
            assertThat(opened.file().start())
                    .isInstanceOfSatisfying(
                            StartState.Restarted.class,
                            found -> assertThat(found.stored().record().horizonNanos())
                                    .isGreaterThan(BootClock.horizon(
                                            facts, HOUR.multipliedBy(2).toNanos())));
        }
    }
}
