// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

/**
 * A history that breaks a rule.
 *
 * @param rule which, as {@code R2 belief exclusion}
 * @param law the rule of the book that says so, as {@code LK-302}; empty if none does
 * @param text what is wrong, in a sentence
 * @param evidence the breach and what happened around it, in lines
 * @param picture the same as SVG
 */
public record Breach(String rule, String law, String text, String evidence, String picture) {
    private static final String SINKS = "LK-1508";

    /** An engine told a sink what it must not; the rest of what the check saw may well follow from that. */
    public static Breach ofSinks(String text, String evidence) {
        return new Breach("R what sinks are told", SINKS, text, evidence, "");
    }

    /** Whether what else is wrong may well follow from it. */
    public boolean isCause() {
        return law.equals(SINKS);
    }

    /** What to look at first; empty text if there is nothing to say beyond the check's own question. */
    public String hint() {
        return RuleHints.hint(law);
    }
}
