// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.report;

import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.Verdict;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The failures of a run by what they have in common: one defect may fail many checks. */
final class Causes {
    private static final Pattern BROKEN = Pattern.compile("(?:^|its history breaks )(LK-\\d+) [(]");
    private static final Pattern THROWN =
            Pattern.compile("(?:unexpected|threw) ([a-zA-Z_$][\\w$]*(?:[.][\\w$]+)+(?::[^\n;]*)?)");
    /** What differs from one occurrence to the next: numbers, and whatever is longer than a word. */
    private static final Pattern PARTICULAR = Pattern.compile("\\S*(?:\\d|/)\\S*");

    private static final int MOST = 160;

    private Causes() {}

    /** The failed checks by their cause, in words; first the cause of the most, each in the order of the rules. */
    static Map<String, List<CheckResult>> of(TckResult result) {
        Map<String, List<CheckResult>> groups = new LinkedHashMap<>();
        for (CheckResult check : result.with(Verdict.FAIL)) {
            groups.computeIfAbsent(cause(check), fresh -> new ArrayList<>()).add(check);
        }
        Map<String, List<CheckResult>> sorted = new LinkedHashMap<>();
        groups.entrySet().stream()
                .sorted(Comparator.comparing(entry -> -entry.getValue().size()))
                .forEach(entry -> sorted.put(entry.getKey(), entry.getValue()));
        return sorted;
    }

    private static String cause(CheckResult check) {
        Matcher broken = BROKEN.matcher(check.message());
        if (broken.find()) {
            return "the history breaks " + broken.group(1);
        }
        Matcher thrown = THROWN.matcher(Summary.firstLine(check.message()));
        if (thrown.find()) {
            String what =
                    PARTICULAR.matcher(Objects.requireNonNull(thrown.group(1))).replaceAll("...");
            return "a call threw " + what.substring(0, Math.min(MOST, what.length()));
        }
        return check.id() + ": " + Summary.firstLine(check.message());
    }
}
