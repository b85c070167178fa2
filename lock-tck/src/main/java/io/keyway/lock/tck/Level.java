// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck;

/** How a rule binds. */
public enum Level {
    /** Every provider. */
    REQUIRED,
    /** Those that declare the feature; the others refuse the call. */
    FEATURE,
    /** Tried many times; one miss in many is no breach by itself. */
    STATISTICAL,
    /** No check can tell; it is in the list so that the gap shows. */
    DOCUMENTED
}
