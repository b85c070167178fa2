// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

/** Makes the machines of one kind of cell. Stateless. */
@FunctionalInterface
public interface MachineFactory {
    /** A machine at rest. */
    Machine create(Key key);
}
