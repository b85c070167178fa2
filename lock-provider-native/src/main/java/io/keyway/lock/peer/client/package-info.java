// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * A client's side of a lock service: for each name a helper that asks its member, holds what was granted and gives it
 * back; and the questions of administrators. Begin with {@link io.keyway.lock.peer.client.LockClientHelper}.
 */
@NullMarked
package io.keyway.lock.peer.client;

import org.jspecify.annotations.NullMarked;
