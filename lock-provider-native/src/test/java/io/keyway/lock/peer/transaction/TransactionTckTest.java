// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.MemoryWorld;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.process.Patience;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The checks of transactions, on the lease service as it is. */
class TransactionTckTest {
    private static final List<String> RULES =
            IntStream.rangeClosed(1901, 1911).mapToObj(rule -> "LK-" + rule).toList();

    @Test
    void allHold() throws Exception {
        TckResult result =
                run("lock:native:mem://checked?clock=manual&maxTtl=15s", Profile.FULL, UnaryOperator.identity());
        assertThat(result.with(Verdict.FAIL)).isEmpty();
        assertThat(result.with(Verdict.PASS)).hasSizeGreaterThan(12);
    }

    static TckResult run(String url, Profile profile, UnaryOperator<TckSubject> with) throws InterruptedException {
        return run(url, profile, RULES, with);
    }

    static TckResult run(String url, Profile profile, List<String> rules, UnaryOperator<TckSubject> with)
            throws InterruptedException {
        try (LockClient keeper = Locks.open(url)) {
            MemoryWorld world = keeper.unwrap(MemoryWorld.class);
            TckSubject subject = TckSubject.of(url).withAdvance(world::advance).withServer(() -> {}, world::restart);
            TckConfig config = TckConfig.of(profile).withOnly(rules);
            return TckRunner.run(
                    with.apply(subject),
                    profile == Profile.FULL ? config : config.withCheckLimit(Patience.of(Duration.ofSeconds(4))));
        }
    }
}
