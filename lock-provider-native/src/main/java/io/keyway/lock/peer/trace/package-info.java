// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * What a member or a client writes down of its own events when somebody has asked for it, for `keyway trace`. Begin
 * with {@link io.keyway.lock.peer.trace.TraceLog}; what stands in a line is in docs/protocol.md.
 */
@NullMarked
package io.keyway.lock.peer.trace;

import org.jspecify.annotations.NullMarked;
