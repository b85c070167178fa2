// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.zip.CRC32;

/**
 * The paths of nodes: {@code <base>/<bucket>/<kind>:<name>} is a container whose children are the requests. The
 * segments of a name are escaped and joined by colons, into one element, since locks of which one's name is the
 * beginning of another's must not share a node. The bucket, a hash of the name, keeps the lists of names short enough
 * for one packet however many there are.
 *
 * @param base begins with a slash
 */
record Paths(String base) {
    private static final int BUCKETS = 1024;

    static final String FIRST_BUCKET = "000";

    String bucket(String bucket) {
        return base + "/" + bucket;
    }

    /** The parent of the mailboxes of sessions. */
    String sessions() {
        return base + "/sessions";
    }

    /** The mailbox of a session ({@link BreakMailbox}). */
    String session(String id) {
        return sessions() + "/" + id;
    }

    /** The floor of tokens, if one was given. */
    String tokenFloor() {
        return base + "/token-floor";
    }

    /** A node that nobody ever creates. */
    String nothing() {
        return sessions() + "/none";
    }

    String container(LockKey key) {
        String element = element(key);
        return base + "/" + bucketOf(element) + "/" + element;
    }

    static String element(LockKey key) {
        String kind = key.kind() == LockKey.Kind.LOCK ? "l:" : "s:";
        return kind + key.name().escaped().replace('/', ':');
    }

    static String bucketOf(String element) {
        CRC32 sum = new CRC32();
        sum.update(element.getBytes(StandardCharsets.US_ASCII));
        int bucket = (int) (sum.getValue() % BUCKETS);
        return new String(new char[] {digit(bucket >> 8), digit(bucket >> 4), digit(bucket)});
    }

    private static char digit(int value) {
        return Character.forDigit(value & 15, 16);
    }

    static boolean isBucket(String name) {
        return name.length() == 3 && name.chars().allMatch(c -> Character.digit(c, 16) >= 0);
    }

    /** The key that an element stands for; empty if it is no element of ours. */
    static Optional<LockKey> key(String element) {
        if (!element.startsWith("l:") && !element.startsWith("s:")) {
            return Optional.empty();
        }
        try {
            LockName name = LockName.unescape(element.substring(2).replace(':', '/'));
            return Optional.of(element.charAt(0) == 'l' ? LockKey.lock(name) : LockKey.semaphore(name));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
