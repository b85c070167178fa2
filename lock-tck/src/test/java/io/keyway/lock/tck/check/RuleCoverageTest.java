// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.spi.RuleBook;
import io.keyway.lock.tck.checks.AllChecks;
import io.keyway.lock.tck.report.Untestable;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** No rule is forgotten, and no check stands for a rule that does not exist. */
class RuleCoverageTest {
    private final List<CheckSpec> checks = Catalog.of(AllChecks.all()).all();
    private final Set<String> rules =
            RuleBook.read().rules().stream().map(RuleBook.Rule::id).collect(Collectors.toCollection(TreeSet::new));

    @Test
    void noCheckTakesLongerThanARunOfItsOwnIsWaitedFor() {
        assertThat(checks).allMatch(each -> each.check().limits() <= Check.MOST_LIMITS);
    }

    @Test
    void everyRuleHasACheckOrAReason() {
        Set<String> bare = new TreeSet<>(rules);
        checks.forEach(check -> check.rules().forEach(bare::remove));
        bare.removeAll(Untestable.read().keySet());
        assertThat(bare)
                .as("rules with neither a check nor a line in untestable.md")
                .isEmpty();
    }

    @Test
    void whatHasACheckNeedsNoReason() {
        Map<String, String> reasons = Untestable.read();
        assertThat(rules).containsAll(reasons.keySet());
        Set<String> first = checks.stream().map(check -> check.rules().get(0)).collect(Collectors.toSet());
        assertThat(reasons.keySet())
                .as("lines of untestable.md for rules that a check is about")
                .doesNotContainAnyElementsOf(first);
        assertThat(reasons.values()).allSatisfy(reason -> assertThat(reason).hasSizeGreaterThan(20));
    }

    @Test
    void everyCheckIsAboutRulesThatExist() {
        assertThat(checks).hasSizeGreaterThan(100);
        assertThat(checks).allSatisfy(check -> assertThat(rules).as(check.id()).containsAll(check.rules()));
        assertThat(checks).extracting(CheckSpec::id).doesNotHaveDuplicates();
        assertThat(checks)
                .allSatisfy(check -> assertThat(check.hint()).as(check.id()).hasSizeGreaterThan(20));
    }
}
