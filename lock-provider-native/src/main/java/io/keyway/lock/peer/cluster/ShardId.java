// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.NodeId;

/** One cell of one member: what decides on a share of the names. */
public record ShardId(NodeId node, int shard) {}
