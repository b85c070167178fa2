// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

/** What makes the machines of one kind of cell. Stateless. */
public interface Algorithm {
    int id();

    /** A machine at rest. */
    Machine create(Key key);
}
