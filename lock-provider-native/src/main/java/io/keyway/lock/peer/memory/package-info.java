// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Worlds inside one JVM, whose time a test may move. Begin with {@link io.keyway.lock.peer.memory.LoopbackWorld}. */
@NullMarked
package io.keyway.lock.peer.memory;

import org.jspecify.annotations.NullMarked;
