// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

/**
 * What a lease answered when it was asked whether it is held.
 *
 * @param held the answer
 * @param before the clock before the question
 * @param after the clock after the answer
 * @param remaining nanoseconds of belief, asked between the two as well; 0 of one that is held if it does not say that
 */
public record HeldAnswer(boolean held, long before, long after, long remaining) {}
