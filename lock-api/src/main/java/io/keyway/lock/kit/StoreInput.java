// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

/** An input of a {@link StoreMachine}, applied in its turn. */
@FunctionalInterface
interface StoreInput {
    void apply(StoreMachine machine, long now);
}
