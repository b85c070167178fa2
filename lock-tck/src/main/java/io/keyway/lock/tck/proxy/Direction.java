// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.proxy;

/** Which way bytes go through a {@link FaultProxy}. */
public enum Direction {
    /** From the client that connected to the server behind the proxy. */
    TO_SERVER,
    /** From the server back to the client. */
    TO_CLIENT
}
