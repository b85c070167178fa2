// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * What providers see: the contracts that a provider implements and the kit stands on.
 *
 * <p>A {@link io.keyway.lock.spi.LockProvider} opens a client from an {@link io.keyway.lock.spi.OpenRequest}, over one
 * of three: a {@link io.keyway.lock.kit.table.RowStore} for a store that can compare and set, a
 * {@link io.keyway.lock.spi.LockBackend} for a store that has verbs of its own, or a
 * {@link io.keyway.lock.spi.LockEngine} for peers that speak to each other. The kit does the rest: waiting, renewal,
 * losses, clean-up and close.
 *
 * <p>No argument and no result is null unless it says so.
 */
@NullMarked
package io.keyway.lock.spi;

import org.jspecify.annotations.NullMarked;
