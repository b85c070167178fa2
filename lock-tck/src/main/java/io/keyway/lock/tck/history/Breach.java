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
public record Breach(String rule, String law, String text, String evidence, String picture) {}
