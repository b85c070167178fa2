// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * The lease service: managers that grant exclusive locks, and helpers that keep them cached until they are recalled.
 * Begin with {@link io.keyway.lock.peer.lease.LeaseAlgorithm}, which names both.
 */
@NullMarked
package io.keyway.lock.peer.lease;

import org.jspecify.annotations.NullMarked;
