// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.history.Breach;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Makes one check of one subject and finds its verdict. On the machine's clock a failure while processes wait for a
 * processor, this one or the server's, proves little: the check is made again with twice the ttls, and again with four
 * times. What fails then too, fails. So does a check that hangs twice, the second time with twice the limit. A failure
 * is INCONCLUSIVE if this process itself stood still and not all of the patience was waited for each time, or if what
 * was seen proves nothing since its time was over. What the history shows, or what no delay can have caused, is
 * certain, however slow the machine.
 */
final class CheckRun {
    private static final int ATTEMPTS = 3;

    private final RunContext run;
    private final CheckSpec spec;
    private final LongFunction<Duration> worstStallSince;

    private record Attempt(
            Verdict verdict,
            String message,
            String first,
            CheckFailure.Kind kind,
            List<String> rules,
            @Nullable String evidence,
            @Nullable String picture,
            List<String> notes,
            long took,
            boolean patient,
            Duration stall) {
        Attempt inconclusive(String why) {
            return new Attempt(
                    Verdict.INCONCLUSIVE,
                    why,
                    first,
                    CheckFailure.Kind.CERTAIN,
                    rules,
                    evidence,
                    picture,
                    notes,
                    took,
                    patient,
                    stall);
        }

        Attempt noting(String note) {
            List<String> all = new ArrayList<>(notes);
            all.add(note);
            return new Attempt(verdict, message, first, kind, rules, evidence, picture, all, took, patient, stall);
        }

        /** With what is left in the user's store, which no verdict may hide. */
        Attempt leaving(String left) {
            String text = verdict == Verdict.FAIL
                    ? message + "; and " + left
                    : left + (message.isEmpty() ? "" : "; the check said: " + message);
            Verdict known = verdict == Verdict.FAIL ? verdict : Verdict.INCONCLUSIVE;
            return new Attempt(known, text, first, kind, rules, evidence, picture, notes, took, patient, stall);
        }

        Attempt withHint(String other) {
            return new Attempt(verdict, message, other, kind, rules, evidence, picture, notes, took, patient, stall);
        }
    }

    /** {@code worstStallSince} is {@link StallMeter#worstSince}. */
    CheckRun(RunContext run, CheckSpec spec, LongFunction<Duration> worstStallSince) {
        this.run = run;
        this.spec = spec;
        this.worstStallSince = worstStallSince;
    }

    CheckResult run() {
        Optional<Applicability.Reason> reason = Applicability.against(spec, run);
        if (reason.isPresent()) {
            return result(reason.get().verdict(), reason.get().text(), 0);
        }
        RunContext here = run;
        boolean patientAlways = true;
        String before = "";
        for (int i = 0; ; i++) {
            Attempt attempt = attempt(here, i);
            patientAlways &= attempt.patient();
            boolean doubtful = attempt.verdict() == Verdict.FAIL
                    && attempt.kind() != CheckFailure.Kind.CERTAIN
                    && !run.clock().isVirtual();
            boolean stalled = doubtful && attempt.stall().compareTo(here.ttl().dividedBy(8)) > 0;
            boolean late = doubtful && attempt.kind() == CheckFailure.Kind.LATE;
            if (i == ATTEMPTS - 1 && late) {
                return result(attempt.inconclusive("its time was over when it was seen: " + attempt.message()), i);
            }
            if (i == ATTEMPTS - 1 && stalled && !patientAlways) {
                String stalls = "this process stood still for "
                        + attempt.stall().toMillis() + " ms, " + ATTEMPTS + " times over; at the last: ";
                return result(attempt.inconclusive(stalls + attempt.message()), i);
            }
            if (i == ATTEMPTS - 1
                    || !(stalled || late || (doubtful && !attempt.patient() && StallMeter.machineIsBusy()))) {
                return result(before.isEmpty() ? attempt : attempt.noting(before), i);
            }
            if (before.isEmpty()) {
                before = "tried again with longer ttls on a busy machine; with a ttl of "
                        + here.ttl().toMillis() + " ms it said: " + attempt.message();
            }
            here = here.slower();
        }
    }

    private Attempt attempt(RunContext here, int number) {
        CheckContext context = new CheckContext(here, spec.id(), number);
        long begun = System.nanoTime();
        long from = here.clock().now();
        Throwable[] thrown = new Throwable[1];
        Thread thread = new Thread(
                () -> {
                    try {
                        spec.run(context);
                    } catch (Throwable e) {
                        thrown[0] = e;
                    }
                },
                "tck-" + spec.id());
        thread.setDaemon(true);
        thread.start();
        String hung = await(thread, context, here);
        long took = here.clock().now() - from;
        Attempt attempt = hung.isEmpty()
                ? judged(context, thrown[0], took, begun)
                : attempt(
                        Verdict.FAIL,
                        hung,
                        number == 0 ? CheckFailure.Kind.PLAIN : CheckFailure.Kind.CERTAIN,
                        context,
                        took,
                        begun);
        if (attempt.verdict() == Verdict.FAIL && context.breach().isEmpty()) {
            Optional<String> missing = context.server().missing();
            if (missing.isPresent()) {
                attempt = attempt.inconclusive(missing.get() + "; the check said: " + attempt.message());
            }
        }
        close(context, here);
        return context.left().map(attempt::leaving).orElse(attempt);
    }

    /** Returns why the check is given up; empty text if it ended. */
    private String await(Thread thread, CheckContext context, RunContext here) {
        long limit = (long) (here.config().checkLimit().toMillis()
                * here.config().timeFactor()
                * spec.check().limits());
        try {
            thread.join(limit);
            if (!thread.isAlive()) {
                return "";
            }
            String stacks = context.stacks(thread);
            thread.interrupt();
            return "hangs: the check did not end within " + limit / 1000 + " s" + stacks;
        } catch (InterruptedException e) {
            thread.interrupt();
            Thread.currentThread().interrupt();
            return "the run was interrupted";
        }
    }

    private Attempt judged(CheckContext context, @Nullable Throwable thrown, long took, long begun) {
        if (thrown instanceof Skipped given) {
            return attempt(
                    given.verdict(),
                    String.valueOf(given.getMessage()),
                    CheckFailure.Kind.CERTAIN,
                    context,
                    took,
                    begun);
        }
        Optional<Breach> breach = context.breach();
        if (breach.isPresent()) {
            return judged(breach.get(), context, thrown, took);
        }
        if (thrown == null) {
            return attempt(Verdict.PASS, "", CheckFailure.Kind.CERTAIN, context, took, begun);
        }
        CheckFailure.Kind kind = thrown instanceof CheckFailure failure ? failure.kind() : CheckFailure.Kind.UNEXPECTED;
        String threads = thrown instanceof CheckFailure failure ? failure.threads() : "";
        return attempt(Verdict.FAIL, said(thrown), kind, context, took, begun, stack(thrown), threads)
                .withHint(hint(thrown));
    }

    /** What broke the check off need have nothing to do with what the check is about. */
    private String hint(@Nullable Throwable thrown) {
        boolean expected = thrown == null || (thrown instanceof CheckFailure failure && !failure.isUnexpected());
        String first = spec.hint();
        return expected
                ? first
                : "Where was this thrown, and why did the server or the connection fail? Its stack is in the "
                        + "evidence. The question of the check itself: "
                        + first;
    }

    /**
     * What the check itself found leads nearer to the cause than what its history shows, and is told first, unless that
     * is the likely cause of all else. The question is that of the rule that is broken.
     */
    private Attempt judged(Breach breach, CheckContext context, @Nullable Throwable thrown, long took) {
        String law = breach.law().isEmpty() ? spec.rules().get(0) : breach.law();
        String shown = law + " (" + breach.rule().substring(breach.rule().indexOf(' ') + 1) + "): " + breach.text();
        CheckFailure own =
                thrown instanceof CheckFailure failure && !failure.isUnexpected() && !breach.isCause() ? failure : null;
        String message = shown;
        if (own != null) {
            message = said(own) + "; its history breaks " + shown;
        } else if (thrown != null) {
            message = shown + "; the check itself said: " + said(thrown);
        }
        List<String> rules = new ArrayList<>(spec.rules());
        rules.remove(law);
        rules.add(own != null && !law.equals(spec.rules().get(0)) ? rules.size() : 0, law);
        return new Attempt(
                Verdict.FAIL,
                message,
                first(breach, own == null ? "" : hint(own)),
                CheckFailure.Kind.CERTAIN,
                rules,
                breach.evidence(),
                breach.picture().isEmpty() ? null : breach.picture(),
                context.notes(),
                took,
                context.isPatient(),
                Duration.ZERO);
    }

    private String first(Breach breach, String own) {
        String its = breach.hint().isEmpty() ? spec.hint() : breach.hint();
        return own.isEmpty() || own.equals(its) ? its : own + " And of " + breach.law() + ": " + its;
    }

    private static String said(Throwable thrown) {
        if (thrown instanceof CheckFailure) {
            return String.valueOf(thrown.getMessage());
        }
        return "unexpected " + thrown;
    }

    private static String stack(Throwable thrown) {
        Throwable shown = thrown instanceof CheckFailure && thrown.getCause() != null ? thrown.getCause() : thrown;
        StringWriter text = new StringWriter();
        shown.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    private Attempt attempt(
            Verdict verdict,
            String message,
            CheckFailure.Kind kind,
            CheckContext context,
            long took,
            long begun,
            String... more) {
        boolean told = verdict == Verdict.FAIL || verdict == Verdict.INCONCLUSIVE;
        Optional<Breach> story = told ? context.story() : Optional.empty();
        String evidence = story.map(Breach::evidence).orElse("");
        for (String text : more) {
            evidence += text.isEmpty() ? "" : "\n" + text;
        }
        return new Attempt(
                verdict,
                message,
                spec.hint(),
                kind,
                spec.rules(),
                evidence.isBlank() ? null : evidence.strip(),
                story.map(Breach::picture).orElse(null),
                context.notes(),
                took,
                context.isPatient(),
                worstStallSince.apply(begun));
    }

    /** Closing must not hang the run either. */
    private static void close(CheckContext context, RunContext here) {
        Thread closing = new Thread(context::close, "tck-closing");
        closing.setDaemon(true);
        boolean leaves = here.place().left().isPresent();
        closing.start();
        try {
            long limit = (long)
                    (here.config().checkLimit().toMillis() * here.config().timeFactor() / 3);
            closing.join(limit + (leaves ? 2 * here.patience().toMillis() : 0));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private CheckResult result(Attempt attempt, int repeats) {
        return new CheckResult(
                spec.id(),
                attempt.rules(),
                spec.level(),
                attempt.verdict(),
                Duration.ofNanos(attempt.took()),
                attempt.message(),
                attempt.first(),
                Optional.ofNullable(attempt.evidence()),
                Optional.ofNullable(attempt.picture()),
                attempt.notes(),
                repeats);
    }

    private CheckResult result(Verdict verdict, String message, int repeats) {
        return new CheckResult(
                spec.id(),
                spec.rules(),
                spec.level(),
                verdict,
                Duration.ZERO,
                message,
                spec.hint(),
                Optional.empty(),
                Optional.empty(),
                List.of(),
                repeats);
    }
}
