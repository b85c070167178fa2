// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Transactions over the lease service: scenarios, cycles, stress. */
@NullMarked
package io.keyway.lock.peer.transaction;

import org.jspecify.annotations.NullMarked;
