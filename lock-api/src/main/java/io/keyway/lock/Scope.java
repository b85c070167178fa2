// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

/** Who can share the locks of one URL; beyond it, the same URL names other locks. */
public enum Scope {
    /** Clients in one JVM. */
    JVM,
    /** Processes of one machine. */
    MACHINE,
    /** Whoever can reach the store. */
    NETWORK
}
