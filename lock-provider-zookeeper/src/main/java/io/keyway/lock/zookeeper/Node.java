// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

/**
 * A node that was created.
 *
 * @param path where
 * @param czxid the transaction that created it: the token of its grant
 */
record Node(String path, long czxid) {}
