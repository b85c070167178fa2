// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.process.Patience;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** What stands on the locks of any provider, judged over the reference store: with a defect, or as it is. */
final class OverReference {
    private final String what;
    private final List<String> rules;

    /** @param what for the names of worlds, of which each run has one of its own */
    OverReference(String what, int firstRule, int lastRule) {
        this.what = what;
        this.rules = IntStream.rangeClosed(firstRule, lastRule)
                .mapToObj(rule -> "LK-" + rule)
                .toList();
    }

    private TckResult run(String world, UnaryOperator<TckConfig> how, UnaryOperator<TckSubject> with)
            throws InterruptedException {
        String url = "lock:reference://" + what + "-" + world + "?clock=manual";
        try (LockClient owner = Locks.open(url)) {
            TckSubject subject =
                    with.apply(TckSubject.of(url).withAdvance(owner.unwrap(ReferenceWorld.class)::advance));
            return TckRunner.run(subject, how.apply(TckConfig.of(Profile.QUICK).withOnly(rules)));
        }
    }

    void passes(UnaryOperator<TckSubject> with, int checks) throws InterruptedException {
        TckResult result = run("good", config -> config, with);
        assertThat(result.with(Verdict.FAIL)).isEmpty();
        assertThat(result.with(Verdict.PASS)).hasSizeGreaterThan(checks);
        assertThat(result.outcome()).isEqualTo(TckResult.Outcome.COMPATIBLE);
    }

    void isFound(Enum<?> defect, String rule, UnaryOperator<TckSubject> with) throws InterruptedException {
        // A check of a mutant that hangs has failed, and is not waited for any longer.
        TckResult result = run(
                defect.name().toLowerCase(Locale.ROOT).replace('_', '-'),
                config -> config.withCheckLimit(Patience.of(Duration.ofSeconds(3))),
                with);
        assertThat(result.with(Verdict.FAIL))
                .as("the failures of %s", result)
                .anySatisfy(check -> assertThat(check.rules().get(0)).isEqualTo(rule));
    }
}
