// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import java.time.Duration;
import java.util.List;

/**
 * What one client of a load is told when it starts, as words of its command line.
 *
 * @param name the client's, from {@code client-1} on
 * @param prefix of the names of all locks
 * @param locks how many there are
 * @param leaseTime the ttl
 * @param lockWait how long an acquire waits
 * @param hold how long it works after each acquire
 * @param seed of this client
 * @param recall see {@link LoadPlan}
 */
record ClientSettings(
        String name,
        String prefix,
        int locks,
        Duration leaseTime,
        Duration lockWait,
        Duration hold,
        long seed,
        boolean recall) {
    static ClientSettings parse(List<String> words) {
        return new ClientSettings(
                words.get(0),
                words.get(1),
                Integer.parseInt(words.get(2)),
                Duration.parse(words.get(3)),
                Duration.parse(words.get(4)),
                Duration.parse(words.get(5)),
                Long.parseLong(words.get(6)),
                Boolean.parseBoolean(words.get(7)));
    }

    /** Of a client that takes one lock again and again, waits for it so long, and gives it back at once. */
    ClientSettings warmUp(Duration wait) {
        return new ClientSettings(name, prefix + "/warm-up", 1, leaseTime, wait, Duration.ZERO, seed, true);
    }

    List<String> words() {
        return List.of(
                name,
                prefix,
                Integer.toString(locks),
                leaseTime.toString(),
                lockWait.toString(),
                hold.toString(),
                Long.toString(seed),
                Boolean.toString(recall));
    }
}
