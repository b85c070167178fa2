// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.report;

import io.keyway.lock.tck.CheckInfo;
import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.TckListener;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.Verdict;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A run as lines of text: one for each check as it ends, at the end the summary. What does not apply is listed in the
 * summary alone.
 */
public final class ConsoleTable implements TckListener {
    private static final int SHOWN = 6;
    private static final String INDENT = "              ";

    private final PrintStream out;
    private final Optional<Path> directory;
    private int planned;
    private int made;

    /**
     * A table.
     *
     * @param out where it is printed
     * @param directory of the report, to which the evidence of a failure is written at once; empty if there is none
     */
    public ConsoleTable(PrintStream out, Optional<Path> directory) {
        this.out = out;
        this.directory = directory;
    }

    @Override
    public void opened(TckResult subject) {
        out.println(Summary.provider(subject) + " at " + subject.url());
        out.println("profile " + Summary.profile(subject) + ", seed " + subject.seed() + ", time factor "
                + Summary.factor(subject) + ", TCK " + subject.tckVersion());
    }

    @Override
    public void planned(int checks) {
        planned = checks;
        out.println(checks == 1 ? "1 check" : checks + " checks");
        out.println();
    }

    @Override
    public void finished(CheckResult check) {
        made++;
        if (check.verdict() == Verdict.NOT_APPLICABLE) {
            return;
        }
        out.printf(
                "%-12s  %-7s  %s  %s%n",
                check.verdict(), check.rules().get(0), CheckInfo.words(check.id()), Summary.time(check.took()));
        if (check.verdict() != Verdict.PASS) {
            check.message().lines().limit(SHOWN).forEach(line -> out.println(INDENT + line));
        }
        if (check.verdict() == Verdict.FAIL) {
            out.println(INDENT + "look first: " + check.hint());
        }
        evidence(check);
    }

    private void evidence(CheckResult check) {
        if (directory.isPresent() && Evidence.exists(check)) {
            try {
                Evidence.write(directory.get(), check);
                out.println(INDENT + "evidence: " + directory.get().resolve(Evidence.text(check)));
            } catch (IOException e) {
                out.println(INDENT + "evidence: cannot be written: " + e);
            }
        }
    }

    /** Prints the summary. */
    public void summary(TckResult result) {
        if (made > 0) {
            out.println();
        }
        for (Verdict verdict :
                List.of(Verdict.EXCLUDED, Verdict.INCONCLUSIVE, Verdict.NOT_RUN, Verdict.NOT_APPLICABLE)) {
            grouped(result, verdict);
        }
        Map<String, List<CheckResult>> causes = Causes.of(result);
        if (!causes.isEmpty()) {
            out.println("failed:");
            causes.forEach(this::cause);
            out.println();
        }
        out.println(Summary.word(result).toUpperCase(Locale.ROOT) + ": " + Summary.provider(result) + " at "
                + result.url());
        out.println(Summary.meaning(result));
        Summary.loops(result).ifPresent(out::println);
        out.println(Summary.counts(result) + "; "
                + (made < planned ? made + " of " + planned + " checks in " : "")
                + Summary.time(result.took()) + ", seed " + result.seed());
        directory.ifPresent(path -> out.println("report: " + path.resolve("report.html")));
        out.flush();
    }

    private void cause(String cause, List<CheckResult> failed) {
        String indent = "  ";
        if (failed.size() > 1) {
            out.println("  " + cause + " (" + failed.size() + ", perhaps for one reason)");
            indent = "    ";
        }
        for (CheckResult check : failed) {
            out.println(indent + check.id() + ": " + Summary.firstLine(check.message()));
        }
    }

    private void grouped(TckResult result, Verdict verdict) {
        Map<String, List<String>> groups = Summary.byReason(result, verdict);
        if (groups.isEmpty()) {
            return;
        }
        out.println(Summary.word(verdict.name()) + ":");
        groups.forEach((reason, ids) -> {
            out.println("  " + reason + " (" + ids.size() + ")");
            ids.stream().limit(SHOWN).forEach(id -> out.println("    " + id));
            if (ids.size() > SHOWN) {
                out.println("    and " + (ids.size() - SHOWN) + " more");
            }
        });
        out.println();
    }
}
