// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What came of one run.
 *
 * @param events inputs of cells and steps of users
 * @param nanos virtual time
 * @param digest of all events, in order: equal for equal plans
 * @param mishaps what happened to single frames
 */
record RunResult(
        Plan plan,
        @Nullable Violation violation,
        long events,
        long faults,
        long nanos,
        long digest,
        Goals goals,
        List<Mishap> mishaps) {}
