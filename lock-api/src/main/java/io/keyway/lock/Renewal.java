// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

/** Whether a lease is renewed while it is held. */
public enum Renewal {
    /** Renewed until it is released or lost; the default. */
    AUTO,
    /** Never renewed: belief ends at the first deadline, and the lease is then given back by its token. */
    NONE
}
