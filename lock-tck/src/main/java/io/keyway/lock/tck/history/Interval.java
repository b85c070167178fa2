// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

/**
 * A span of time.
 *
 * @param from its first nanosecond
 * @param to its last
 */
public record Interval(long from, long to) {}
