// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import org.apache.zookeeper.data.Stat;

/** What a request's node holds. */
record RequestNodeData(NodeData note, Stat stat) {}
