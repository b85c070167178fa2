// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

/** A rare situation that a search or a simulation must have reached to prove anything. Implemented by enums. */
public interface CoverageGoal {
    String name();
}
