// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.spi.RuleBook;
import io.keyway.lock.tck.CheckInfo;
import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.report.Ruling.Finding;
import java.util.List;
import org.junit.jupiter.api.Test;

class RulingTest {
    private static Ruling of(String rule, CheckResult... checks) {
        return Ruling.of(Samples.result(checks)).stream()
                .filter(ruling -> ruling.rule().id().equals(rule))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void everyRuleOfTheBookHasARuling() {
        assertThat(Ruling.of(Samples.result()).stream()
                        .map(ruling -> ruling.rule().id()))
                .containsExactlyElementsOf(
                        RuleBook.read().rules().stream().map(RuleBook.Rule::id).toList());
    }

    @Test
    void oneFailureOutweighsEveryPass() {
        Ruling ruling = of(
                "LK-301",
                Samples.check("LK-301/a", Verdict.PASS, ""),
                Samples.check("LK-301/b", Verdict.FAIL, "two hold"),
                Samples.check("LK-301/c", Verdict.PASS, ""));
        assertThat(ruling.finding()).isEqualTo(Finding.FAIL);
        assertThat(ruling.reason()).isEqualTo("two hold");
        assertThat(ruling.checks()).hasSize(3);
    }

    @Test
    void whatWasNotTriedLeavesTheWordOfWhatPassed() {
        assertThat(of(
                                "LK-301",
                                Samples.check("LK-301/a", Verdict.NOT_RUN, "no server"),
                                Samples.check("LK-301/b", Verdict.PASS, ""))
                        .finding())
                .isEqualTo(Finding.PASS);
        Ruling alone = of("LK-301", Samples.check("LK-301/a", Verdict.NOT_RUN, "no server"));
        assertThat(alone.finding()).isEqualTo(Finding.NOT_RUN);
        assertThat(alone.reason()).isEqualTo("no server");
    }

    @Test
    void anExclusionIsNeverCoveredByAPass() {
        assertThat(of(
                                "LK-301",
                                Samples.check("LK-301/a", Verdict.PASS, ""),
                                Samples.check("LK-301/b", Verdict.EXCLUDED, "a bug"))
                        .finding())
                .isEqualTo(Finding.EXCLUDED);
    }

    @Test
    void aRuleWithoutRunChecksSaysWhy() {
        String tested = TckRunner.checks().get(0).rules().get(0);
        assertThat(of(tested).finding()).isEqualTo(Finding.NOT_IN_THIS_RUN);
        List<String> known = TckRunner.checks().stream()
                .map(CheckInfo::rules)
                .flatMap(List::stream)
                .toList();
        RuleBook.read().rules().stream()
                .map(RuleBook.Rule::id)
                .filter(id -> !known.contains(id))
                .forEach(id -> {
                    assertThat(of(id).finding()).isEqualTo(Finding.DOCUMENTED_ONLY);
                    assertThat(of(id).reason()).isNotEmpty();
                });
    }

    @Test
    void theListOfReasonsIsReadStrictly() {
        assertThat(Untestable.parse("# Title\n\nLK-101: because: so\n- LK-102: x"))
                .containsEntry("LK-101", "because: so")
                .containsEntry("LK-102", "x")
                .hasSize(2);
        assertThatThrownBy(() -> Untestable.parse("LK-101: a\nLK-101: b")).hasMessageContaining("twice");
        assertThatThrownBy(() -> Untestable.parse("LK-101 a")).hasMessageContaining("LK-101 a");
        assertThat(RuleBook.read().rules().stream().map(RuleBook.Rule::id).toList())
                .containsAll(Untestable.read().keySet());
    }
}
