// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import redis.clients.jedis.Protocol;
import redis.clients.jedis.util.JedisClusterCRC16;

/** A short hash tag for each slot of a cluster: the first number, in base 36, that falls into it. */
final class SlotTags {

    private static final String[] TAGS = all();

    private SlotTags() {}

    static String of(int slot) {
        return TAGS[slot];
    }

    private static String[] all() {
        String[] tags = new String[Protocol.CLUSTER_HASHSLOTS];
        int found = 0;
        for (int number = 0; found < tags.length; number++) {
            String tag = Integer.toString(number, Character.MAX_RADIX);
            int slot = JedisClusterCRC16.getSlot(tag);
            if (tags[slot] == null) {
                tags[slot] = tag;
                found++;
            }
        }
        return tags;
    }
}
