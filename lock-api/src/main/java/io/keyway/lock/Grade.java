// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

/**
 * How firmly something is promised; from the firmest down. {@code ?require=exclusion:timed} takes TIMED and what is
 * firmer.
 */
public enum Grade {
    /** Without an assumption on time. */
    ALWAYS,
    /** While clock rates agree within 1 %, and no process is suspended without its clock noticing. */
    TIMED,
    /** Not promised. */
    NO
}
