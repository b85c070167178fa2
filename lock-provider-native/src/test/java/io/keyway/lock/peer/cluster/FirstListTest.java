// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.ClusterMembers;
import io.keyway.lock.peer.bakery.BakeryAlgorithm;
import io.keyway.lock.peer.lease.FailoverAlgorithm;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What an operator says to a cluster whose members have not elected anybody yet. */
class FirstListTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** In which a member that is there answers; one of the two algorithms has no answer, and waits for its end. */
    private static final Duration LIMIT = Patience.lease(Duration.ofSeconds(3));

    private static final Duration LONGEST = Patience.lease(Duration.ofSeconds(4));

    @TempDir
    private Path directory;

    static Stream<Arguments> algorithms() {
        return Stream.of(
                Arguments.of("bakery", new BakeryAlgorithm(), "have not elected anybody yet"),
                Arguments.of("failover", new FailoverAlgorithm(), "was not removed within "));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("algorithms")
    void aListIsChangedAfterTheFirstElectionOnly(String name, Algorithm algorithm, String why) throws Exception {
        try (TestMembers members = new TestMembers(directory, algorithm, "a", "b", "c");
                LockClient operator = Locks.open("lock:native:" + name + "://" + members.id("a") + "/keyway?maxTtl="
                        + LONGEST.toMillis() + "ms&ttl=" + LONGEST.toMillis() + "ms")) {
            members.start("a", "abc", LONGEST, true);
            ClusterMembers list = operator.unwrap(ClusterMembers.class);
            // On a busy machine the member may not answer the first question in time.
            await().atMost(Patience.of(PATIENCE))
                    .untilAsserted(() -> assertThatThrownBy(() -> list.remove(members.id("c"), LIMIT))
                            .isInstanceOf(LockUnavailableException.class)
                            .hasMessageContaining(why));
            members.start("b", "abc", LONGEST, true);
            members.start("c", "abc", LONGEST, true);
            assertThat(operator.lock("job").tryAcquire(Patience.of(PATIENCE))).isPresent();
            assertThat(list.list(PATIENCE)).isEqualTo(members.ids("abc"));

            assertThat(list.remove(members.id("c"), PATIENCE)).isEqualTo(members.ids("ab"));
            await().atMost(Patience.of(PATIENCE)).until(() -> members.hasEnded("c"));
        }
    }
}
