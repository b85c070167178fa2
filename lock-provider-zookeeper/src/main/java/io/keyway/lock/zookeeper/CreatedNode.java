// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

/**
 * A node that was created.
 *
 * @param czxid the number of the transaction that created it: the token of a grant by it, but for the floor of tokens
 * @param number in its container; -1 if it is no request's
 */
record CreatedNode(String path, long czxid, int number) {
    static CreatedNode of(String path, long czxid) {
        return new CreatedNode(
                path,
                czxid,
                NodeName.parse(NodeName.name(path)).map(NodeName::number).orElse(-1));
    }
}
