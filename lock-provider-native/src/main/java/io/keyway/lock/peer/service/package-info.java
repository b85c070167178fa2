// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * What every algorithm says of itself, and the words that every lock service shares: calls of users, notices to them,
 * messages between a client's machines and a member's, their codec, and the handle of a grant, which is all that user
 * threads and a cell share. Begin with {@link io.keyway.lock.peer.service.Algorithm}, then
 * {@link io.keyway.lock.peer.service.LockMessage}.
 */
@NullMarked
package io.keyway.lock.peer.service;

import org.jspecify.annotations.NullMarked;
