// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kit's checks of transactions and watchers on three members, and on this machine's locks, by the real clock. */
class TransactionsTckTest {
    private static final List<String> RULES = Stream.of(
                    IntStream.rangeClosed(1107, 1109), IntStream.rangeClosed(1901, 1911))
            .flatMap(IntStream::boxed)
            .map(rule -> "LK-" + rule)
            .toList();

    @TempDir
    private Path directory;

    private static void holds(String url) throws InterruptedException {
        TckResult result =
                TckRunner.run(TckSubject.of(url), TckConfig.of(Profile.FULL).withOnly(RULES));
        assertThat(result.with(Verdict.FAIL)).isEmpty();
        assertThat(result.with(Verdict.PASS)).hasSizeGreaterThan(14);
    }

    @Test
    void onThreeMembers() throws Exception {
        try (TestMembers members = new TestMembers(directory, "a", "b", "c")) {
            members.startAll("abc", Duration.ofSeconds(5), true);
            holds("lock:native://" + String.join(",", members.ids("abc")) + "/keyway?maxTtl=5s");
        }
    }

    @Test
    @Tag("soak")
    void onOneMachine() throws Exception {
        holds("lock:native:local://" + directory.resolve("locks"));
    }
}
