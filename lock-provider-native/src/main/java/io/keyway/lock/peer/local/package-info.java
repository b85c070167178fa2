// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * Local mode: the processes of one machine, one of which serves the others. Begin with
 * {@link io.keyway.lock.peer.local.LocalMode}, which opens a client; then
 * {@link io.keyway.lock.peer.local.LocalRuntime}, the client's side, and {@link io.keyway.lock.peer.local.LocalHost}.
 */
@NullMarked
package io.keyway.lock.peer.local;

import org.jspecify.annotations.NullMarked;
