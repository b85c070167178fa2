// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.junit;

import io.keyway.lock.spi.RuleBook;
import io.keyway.lock.tck.CheckInfo;
import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.report.Reports;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The TCK as a JUnit test: a provider's build has one class that extends this one and names the subject.
 *
 * <pre>
 * class MyProviderTck extends LockTck {
 *     protected TckSubject subject() {
 *         return TckSubject.of("lock:my://localhost:" + port);
 *     }
 * }
 * </pre>
 *
 * <p>The TCK runs once; each of its checks is shown as a test. What was not tried is aborted, with the reason, and
 * never green. The checks cannot be overridden. Reports are written to {@code target/tck-report/<class>}.
 *
 * <p>The system properties {@code keyway.tck.profile}, {@code keyway.tck.only} (ids of rules or checks, joined by
 * commas), {@code keyway.tck.seed}, {@code keyway.tck.timeFactor} and {@code keyway.tck.report}, a directory, come
 * before what {@link #config()} says.
 */
public abstract class LockTck {

    /** For subclasses. */
    protected LockTck() {}

    /** What to test; called once. */
    protected abstract TckSubject subject() throws Exception;

    /** How; called once. Profile smoke, unless overridden. */
    protected TckConfig config() {
        return TckConfig.of(Profile.SMOKE);
    }

    /** Runs the TCK: a container for each chapter of the rules, a test for each check. */
    @TestFactory
    @SuppressWarnings("exports") // who calls this has JUnit
    public final List<DynamicNode> rules() throws Exception {
        TckConfig config = overridden(config());
        TckResult result = TckRunner.run(subject(), config);
        Path directory = Path.of(
                System.getProperty(
                        "keyway.tck.report", Path.of("target", "tck-report").toString()),
                getClass().getName());
        Reports.write(directory, result);
        if (result.trouble().isPresent()) {
            throw new AssertionError(result.trouble().get().message());
        }
        Map<String, List<DynamicNode>> chapters = new LinkedHashMap<>();
        RuleBook book = RuleBook.read();
        for (CheckResult check : result.checks()) {
            String rule = check.id().substring(0, check.id().indexOf('/'));
            String chapter = book.find(rule).map(RuleBook.Rule::chapter).orElse("Other");
            chapters.computeIfAbsent(chapter, fresh -> new ArrayList<>())
                    .add(DynamicTest.dynamicTest(
                            rule + " " + CheckInfo.words(check.id()), () -> show(check, result.seed())));
        }
        List<DynamicNode> nodes = new ArrayList<>();
        chapters.forEach((chapter, tests) -> nodes.add(DynamicContainer.dynamicContainer(chapter, tests)));
        return nodes;
    }

    private static TckConfig overridden(TckConfig config) {
        TckConfig changed = property("profile")
                .map(profile -> config.withProfile(Profile.valueOf(profile.toUpperCase(Locale.ROOT))))
                .orElse(config);
        changed = changed.withOnly(
                property("only").map(ids -> List.of(ids.split(","))).orElse(changed.only()));
        changed = changed.withSeed(property("seed").map(Long::parseLong).orElse(changed.seed()));
        return changed.withTimeFactor(
                property("timeFactor").map(Double::parseDouble).orElse(changed.timeFactor()));
    }

    private static Optional<String> property(String name) {
        return Optional.ofNullable(System.getProperty("keyway.tck." + name)).filter(value -> !value.isBlank());
    }

    private static void show(CheckResult check, long seed) {
        if (check.verdict() == Verdict.FAIL) {
            throw new AssertionError(String.join(" and ", check.rules()) + ": " + check.message() + "\nlook first: "
                    + check.hint() + "\nseed " + seed
                    + check.evidence().map(text -> "\n\n" + text).orElse(""));
        }
        if (check.verdict() != Verdict.PASS) {
            String word = check.verdict().name().toLowerCase(Locale.ROOT).replace('_', ' ');
            Assumptions.abort(word + ": " + check.message());
        }
    }
}
