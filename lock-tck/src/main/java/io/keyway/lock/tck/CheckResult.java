// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What one check found.
 *
 * @param id such as {@code LK-301/two-clients-never-hold-at-once}: the first rule, then the check's name
 * @param rules the rules that it can refute, first the one that it is about
 * @param level how that rule binds
 * @param verdict the finding
 * @param took how long, in the subject's time
 * @param message what is wrong, or why it was not run; empty for PASS
 * @param hint what to look at first when it fails
 * @param evidence the history of the check as text; empty unless FAIL or INCONCLUSIVE
 * @param picture the same as SVG: who believed to hold when; empty unless there is a history
 * @param notes what the check measured, in words; seldom any
 * @param repeats how often it was begun again because the machine stalled; 0 mostly
 */
public record CheckResult(
        String id,
        List<String> rules,
        Level level,
        Verdict verdict,
        Duration took,
        String message,
        String hint,
        Optional<String> evidence,
        Optional<String> picture,
        List<String> notes,
        int repeats) {

    /** How a note begins that says how often the background loops of a backend ended though the check broke nothing. */
    public static final String LOOPS_ENDED = "loops in the background ended by themselves: ";

    public CheckResult {
        Objects.requireNonNull(id, "id");
        rules = List.copyOf(rules);
        Objects.requireNonNull(level, "level");
        Objects.requireNonNull(verdict, "verdict");
        Objects.requireNonNull(took, "took");
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(hint, "hint");
        Objects.requireNonNull(evidence, "evidence");
        Objects.requireNonNull(picture, "picture");
        notes = List.copyOf(notes);
    }
}
