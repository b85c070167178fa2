// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * The native provider as the kit sees it: requests become calls of a client's cell, its notices become grants. Begin
 * with {@link io.keyway.lock.peer.engine.NativeEngine}.
 */
@NullMarked
package io.keyway.lock.peer.engine;

import org.jspecify.annotations.NullMarked;
