// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.report;

import io.keyway.lock.tck.CheckInfo;
import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.Verdict;
import java.time.Duration;
import java.util.Locale;

/** A run in the XML that build servers read: a test case for each check, its class the rule. */
final class JUnitXml {
    private JUnitXml() {}

    static String of(TckResult result) {
        StringBuilder out = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        boolean unopened = result.trouble()
                .filter(trouble -> trouble.kind() == TckResult.Trouble.Kind.CANNOT_OPEN)
                .isPresent();
        long failures = result.count(Verdict.FAIL);
        long skipped = result.checks().size() - failures - result.count(Verdict.PASS);
        out.append(String.format(
                Locale.ROOT,
                "<testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%s\">\n",
                Markup.xml("keyway-tck " + result.url()),
                result.checks().size() + (unopened ? 1 : 0),
                failures,
                unopened ? 1 : 0,
                skipped,
                seconds(result.took())));
        property(out, result);
        if (unopened) {
            out.append("  <testcase classname=\"keyway-tck\" name=\"open\" time=\"0.000\">\n    <error message=\"");
            out.append(Markup.xml(Summary.firstLine(Summary.trouble(result)))).append("\">");
            out.append(Markup.xml(Summary.trouble(result))).append("</error>\n  </testcase>\n");
        }
        result.checks().forEach(check -> testCase(out, check));
        return out.append("</testsuite>\n").toString();
    }

    private static void property(StringBuilder out, TckResult result) {
        out.append("  <properties>\n");
        for (String[] pair : new String[][] {
            {"provider", Summary.provider(result)},
            {"outcome", Summary.word(result)},
            {"profile", Summary.profile(result)},
            {"seed", Long.toString(result.seed())}
        }) {
            out.append("    <property name=\"").append(pair[0]).append("\" value=\"");
            out.append(Markup.xml(pair[1])).append("\"/>\n");
        }
        out.append("  </properties>\n");
    }

    private static void testCase(StringBuilder out, CheckResult check) {
        out.append("  <testcase classname=\"").append(Markup.xml(check.rules().get(0)));
        out.append("\" name=\"").append(Markup.xml(CheckInfo.words(check.id())));
        out.append("\" time=\"").append(seconds(check.took())).append('"');
        switch (check.verdict()) {
            case PASS -> out.append("/>\n");
            case FAIL -> {
                out.append(">\n    <failure message=\"").append(Markup.xml(Summary.firstLine(check.message())));
                out.append("\">").append(Markup.xml(check.message() + "\nlook first: " + check.hint()));
                out.append(
                        Markup.xml(check.evidence().map(text -> "\n\n" + text).orElse("")));
                out.append("</failure>\n  </testcase>\n");
            }
            default -> {
                out.append(">\n    <skipped message=\"");
                out.append(Markup.xml(Summary.word(check.verdict().name()) + ": " + check.message()));
                out.append("\"/>\n  </testcase>\n");
            }
        }
    }

    private static String seconds(Duration time) {
        return String.format(Locale.ROOT, "%.3f", time.toMillis() / 1000.0);
    }
}
