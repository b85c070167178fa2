// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/**
 * Who a member is and what it promised to be. A file that was written under other settings is foreign: it shortens no
 * wait.
 *
 * @param cluster the cluster's id
 * @param node the member's id in it
 * @param listHash hash of the member list
 * @param settingsHash hash of the settings that all members share
 * @param maxTtl the longest ttl that the cluster grants
 * @param algorithm the number of the algorithm that the member serves
 * @param lockFile identity of clients.lock, by which proofs of death are made; empty where there is none, or where some
 *     may stand on another one
 * @param members the ids of all members of the cluster, in order; empty where there is but one
 */
public record MemberSettings(
        String cluster,
        String node,
        long listHash,
        long settingsHash,
        Duration maxTtl,
        int algorithm,
        String lockFile,
        List<String> members) {
    /** The longest id, in bytes of UTF-8. */
    public static final int MAX_ID_BYTES = 512;

    /**
     * The longest member list, in bytes of UTF-8 and with a byte between two members: it has to fit into a slot of the
     * file.
     */
    public static final int MAX_LIST_BYTES = 2048;

    public MemberSettings {
        members = List.copyOf(members);
        if (String.join(",", members).getBytes(StandardCharsets.UTF_8).length > MAX_LIST_BYTES) {
            throw new IllegalArgumentException(
                    "the member list has more than " + MAX_LIST_BYTES + " bytes: " + members.size() + " members");
        }
        for (String id : new String[] {cluster, node, lockFile}) {
            if (id.getBytes(StandardCharsets.UTF_8).length > MAX_ID_BYTES) {
                throw new IllegalArgumentException("longer than " + MAX_ID_BYTES + " bytes: " + id);
            }
        }
        if (maxTtl.isNegative() || maxTtl.isZero()) {
            throw new IllegalArgumentException("maxTtl " + maxTtl + " is not positive");
        }
    }

    /** A member that is alone. */
    public MemberSettings(
            String cluster,
            String node,
            long listHash,
            long settingsHash,
            Duration maxTtl,
            int algorithm,
            String lockFile) {
        this(cluster, node, listHash, settingsHash, maxTtl, algorithm, lockFile, List.of());
    }

    /** The same member, whose clients may prove their lives by a file that is not known. */
    MemberSettings withoutLockFile() {
        return withLockFile("");
    }

    /** The same member, whose clients prove their lives by that file. */
    public MemberSettings withLockFile(String key) {
        return new MemberSettings(cluster, node, listHash, settingsHash, maxTtl, algorithm, key, members);
    }
}
