// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.report;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.Scope;
import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.Level;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Results made by hand. */
final class Samples {
    static final Map<String, String> HOST = Map.of("os", "Sample 1");

    private Samples() {}

    static CheckResult check(String id, Verdict verdict, String message) {
        return new CheckResult(
                id,
                List.of(id.substring(0, id.indexOf('/'))),
                Level.REQUIRED,
                verdict,
                Duration.ofMillis(1234),
                message,
                "Is looking and taking one step?",
                Optional.empty(),
                Optional.empty(),
                List.of(),
                0);
    }

    static CheckResult failure(String id, List<String> rules, String message, String evidence) {
        return new CheckResult(
                id,
                rules,
                Level.REQUIRED,
                Verdict.FAIL,
                Duration.ofMillis(1234),
                message,
                "Is looking and taking one step?",
                Optional.of(evidence),
                Optional.of("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 9 9\"></svg>"),
                List.of("3 of 40 rounds"),
                1);
    }

    static TckResult result(CheckResult... checks) {
        return result(Optional.empty(), checks);
    }

    static TckResult result(Optional<TckResult.Trouble> trouble, CheckResult... checks) {
        return new TckResult(
                "Sample locks",
                "1.2",
                1,
                "0.1",
                "lock:sample://h:1?password=***",
                Profile.SMOKE,
                7,
                1,
                false,
                Scope.NETWORK,
                Set.of(Feature.FENCING, Feature.LIST),
                Optional.of(new Guarantees(
                        new Guarantee(Grade.ALWAYS, ""),
                        new Guarantee(Grade.TIMED, "clock rates | within 1 %"),
                        new Guarantee(Grade.ALWAYS, ""),
                        new Guarantee(Grade.NO, ""),
                        Duration.ofMillis(100),
                        Duration.ofSeconds(60))),
                Duration.ofMillis(5432),
                trouble,
                List.of(checks));
    }
}
