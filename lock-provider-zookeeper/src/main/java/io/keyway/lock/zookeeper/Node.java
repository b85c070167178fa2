// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

/**
 * A node that was created.
 *
 * @param path where
 * @param czxid the transaction that created it: the token of its grant
 * @param number in its line; -1 if it is no request's
 */
record Node(String path, long czxid, int number) {
    static Node of(String path, long czxid) {
        return new Node(
                path, czxid, Ticket.parse(Ticket.name(path)).map(Ticket::number).orElse(-1));
    }
}
