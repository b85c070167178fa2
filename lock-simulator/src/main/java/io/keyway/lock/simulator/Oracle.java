// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

/**
 * One property, looked at after every event. A violation is thrown at once, so that the trace ends where it happened.
 */
interface Oracle {
    /** After each event of a cell, each flush and each answer of a user. */
    void after(SimNode node);
}
