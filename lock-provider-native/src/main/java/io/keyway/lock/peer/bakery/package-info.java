// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * The bakery over configured leaders: a request draws a ticket from a majority of them, and whoever a majority has
 * active holds the lock. Begin with {@link io.keyway.lock.peer.bakery.BakeryLeader}.
 */
@NullMarked
package io.keyway.lock.peer.bakery;

import org.jspecify.annotations.NullMarked;
