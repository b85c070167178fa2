// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What stands in the node of a session: which of its grants were broken, and why; a line of words for each.
 *
 * @param reasons by the number of the transaction that created the node; not changed any more
 * @param version of the node's data
 */
record BrokenGrants(Map<Long, String> reasons, int version) {
    /** Much less than fits into a packet. */
    static final int MAX_BYTES = 256 * 1024;

    private static final int MAX_REASON = 4096;

    boolean has(CreatedNode grant) {
        return reasons.containsKey(grant.czxid());
    }

    BrokenGrants with(long czxid, String reason) {
        Map<Long, String> more = new LinkedHashMap<>(reasons);
        more.put(czxid, reason.length() > MAX_REASON ? reason.substring(0, MAX_REASON) : reason);
        return new BrokenGrants(more, version);
    }

    BrokenGrants without(Set<Long> tokens) {
        Map<Long, String> fewer = new LinkedHashMap<>(reasons);
        tokens.forEach(fewer::remove);
        return new BrokenGrants(fewer, version);
    }

    byte[] bytes() {
        StringBuilder text = new StringBuilder();
        reasons.forEach((token, reason) -> text.append("broken ")
                .append(token)
                .append(' ')
                .append(NodeData.encode(reason))
                .append('\n'));
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Passes over what is not ours; {@code bytes} is null if a tool wrote nothing. */
    static BrokenGrants parse(byte @Nullable [] bytes, int version) {
        String text = bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
        Map<Long, String> reasons = new LinkedHashMap<>();
        for (String line : text.split("\n", -1)) {
            String[] words = line.split(" ", -1);
            if (words[0].equals("broken") && words.length > 1) {
                try {
                    reasons.put(Long.parseLong(words[1]), NodeData.decode(words, 2));
                } catch (NumberFormatException e) {
                    // Written by hand.
                }
            }
        }
        return new BrokenGrants(reasons, version);
    }
}
