// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * Frames as bytes: versioned, bounded, and refused with a reason when malformed. Begin with
 * {@link io.keyway.lock.peer.wire.FrameCodec}.
 */
@NullMarked
package io.keyway.lock.peer.wire;

import org.jspecify.annotations.NullMarked;
