// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import java.time.Duration;
import java.util.Optional;

/**
 * What a load does.
 *
 * @param clients how many processes; at least 1
 * @param burst how many commands a client is sent at a time; at least 1
 * @param ops how many commands each client carries out; 0 for no bound
 * @param locks how many locks there are; at least 1
 * @param leaseTime the ttl of each lease
 * @param lockWait how long an acquire waits
 * @param hold how long a client works after each acquire, before its next command
 * @param cutEvery how often some clients are cut from the servers; empty for never
 * @param cutFor how long they stay cut
 * @param duration when no further burst is sent; empty if {@code ops} alone ends it
 * @param seed where random choices come from
 * @param recall false: a client keeps what it gave back until its lease time is over, as if nobody could ask it back
 */
public record LoadPlan(
        int clients,
        int burst,
        int ops,
        int locks,
        Duration leaseTime,
        Duration lockWait,
        Duration hold,
        Optional<Duration> cutEvery,
        Duration cutFor,
        Optional<Duration> duration,
        long seed,
        boolean recall) {}
