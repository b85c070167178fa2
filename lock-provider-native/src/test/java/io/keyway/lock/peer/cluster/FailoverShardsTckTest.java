// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

/** The core of the kit on three members, each of which leads two of six groups of names. */
class FailoverShardsTckTest extends FailoverTckTest {
    @Override
    int shards() {
        return 6;
    }
}
