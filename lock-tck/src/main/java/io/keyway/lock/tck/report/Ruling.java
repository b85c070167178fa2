// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.report;

import io.keyway.lock.spi.RuleBook;
import io.keyway.lock.tck.CheckInfo;
import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.Verdict;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * What a run says about one rule. A rule is judged by the checks that are about it; one that has none of its own, by
 * those that can refute it beside another.
 *
 * @param rule the rule
 * @param finding in one word
 * @param reason why it was not judged; empty text if it was
 * @param checks what it was judged by
 */
record Ruling(RuleBook.Rule rule, Finding finding, String reason, List<CheckResult> checks) {

    /** The word for a rule. */
    enum Finding {
        FAIL,
        INCONCLUSIVE,
        EXCLUDED,
        PASS,
        NOT_RUN,
        NOT_APPLICABLE,
        /** It has checks, and none was part of this run. */
        NOT_IN_THIS_RUN,
        /** No check can tell. */
        DOCUMENTED_ONLY;

        /** As people write it. */
        String label() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    Ruling {
        Objects.requireNonNull(rule, "rule");
        Objects.requireNonNull(finding, "finding");
        Objects.requireNonNull(reason, "reason");
        checks = List.copyOf(checks);
    }

    /** All rules, in the order of the book. */
    static List<Ruling> of(TckResult result) {
        Map<String, String> untestable = Untestable.read();
        Set<String> tested = new HashSet<>();
        for (CheckInfo check : TckRunner.checks()) {
            tested.addAll(check.rules());
        }
        return RuleBook.read().rules().stream()
                .map(rule -> of(rule, result, tested, untestable))
                .toList();
    }

    private static Ruling of(RuleBook.Rule rule, TckResult result, Set<String> tested, Map<String, String> untestable) {
        List<CheckResult> own = new ArrayList<>();
        List<CheckResult> beside = new ArrayList<>();
        for (CheckResult check : result.checks()) {
            if (check.rules().get(0).equals(rule.id())) {
                own.add(check);
            } else if (check.rules().contains(rule.id())) {
                beside.add(check);
            }
        }
        if (!own.isEmpty()) {
            return judged(rule, own);
        }
        if (!beside.isEmpty()) {
            Ruling ruling = judged(rule, beside);
            return ruling.finding() == Finding.FAIL
                    ? new Ruling(rule, Finding.INCONCLUSIVE, "a check that covers it failed by another rule", beside)
                    : ruling;
        }
        if (tested.contains(rule.id())) {
            return new Ruling(rule, Finding.NOT_IN_THIS_RUN, "no check of it was part of this run", List.of());
        }
        return new Ruling(
                rule,
                Finding.DOCUMENTED_ONLY,
                untestable.getOrDefault(rule.id(), "the TCK has no check of it"),
                List.of());
    }

    /** The worst verdict counts, but for what was not tried: that leaves the others' word. */
    private static Ruling judged(RuleBook.Rule rule, List<CheckResult> checks) {
        for (Finding finding : Finding.values()) {
            for (CheckResult check : checks) {
                if (finding.name().equals(check.verdict().name())) {
                    return new Ruling(rule, finding, check.verdict() == Verdict.PASS ? "" : check.message(), checks);
                }
            }
        }
        throw new IllegalStateException("checks without a verdict: " + checks);
    }
}
