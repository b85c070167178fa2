// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

/** What a check may need beside a client. */
public enum Requirement {
    /** A proxy between client and server that can break their link. */
    PROXY,
    /**
     * Clients whose links can be broken one by one: by the subject itself, by a proxy for each, or between a client and
     * its {@code LockBackend}.
     */
    LINK,
    /** As LINK, where the provider's own code meets the fault: not between a client and its backend. */
    WIRE,
    /** A server that can be killed and started again. */
    SERVER,
    /** A server that can be stopped and continued. */
    PAUSE,
    /** A way to count what the store keeps. */
    FOOTPRINT,
    /** A client in a second process, which can be killed. */
    PROCESS,
    /** As PROCESS, whose wall clock can differ from that of this process. */
    WALL_CLOCK,
    /** A clock that the TCK moves. */
    VIRTUAL_TIME,
    /** The machine's clock: what the check looks at does not exist in virtual time. */
    REAL_TIME,
    /** A JDK with virtual threads. */
    VIRTUAL_THREADS
}
