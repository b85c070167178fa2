// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

/** From one instant to another, both included. */
record Interval(long from, long to) {}
