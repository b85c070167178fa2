// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.wire.FrameCodec;

/**
 * Where a member serves a connection.
 *
 * @param cell the cell, on its loop
 * @param codec that loop's; not shared with another one
 */
public record Shard(CellLoop cell, FrameCodec codec) {}
