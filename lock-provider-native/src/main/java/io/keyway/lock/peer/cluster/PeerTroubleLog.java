// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.kernel.ClientView.Unreachable;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which troubles with other members the log is told: of those that end by themselves one in a while, of those that an
 * operator has to end each.
 */
final class PeerTroubleLog {
    private static final long PERIOD_NANOS = Duration.ofSeconds(10).toNanos();

    private record Said(Unreachable why, long at) {
        private static final Pattern PORT = Pattern.compile(":\\d+");

        /** The port from which this end is seen is another one at each attempt. */
        boolean covers(Unreachable other, long now) {
            return withoutPorts(why).equals(withoutPorts(other)) && now - at < PERIOD_NANOS;
        }

        private static String withoutPorts(Unreachable trouble) {
            return PORT.matcher(trouble.why()).replaceAll("");
        }
    }

    private final Map<String, Unreachable> present = new HashMap<>();
    private final Map<String, Said> errors = new HashMap<>();
    private final Map<String, Long> saidAt = new HashMap<>();

    /** What is wrong with a member now; null if nothing is. */
    @Nullable
    Unreachable of(String node) {
        return present.get(node);
    }

    /** It answers. */
    void over(String node) {
        present.remove(node);
        errors.remove(node);
    }

    /** Something is wrong with a member; true if the log is to be told. {@code now} in nanoseconds. */
    boolean add(String node, Unreachable why, long now) {
        Unreachable before = present.put(node, why);
        if (why.final_()) {
            Said error = errors.get(node);
            if (error != null && error.covers(why, now)) {
                return false;
            }
            errors.put(node, new Said(why, now));
            return true;
        }
        Long last = saidAt.get(node);
        boolean say = before == null || (!why.equals(before) && (last == null || now - last >= PERIOD_NANOS));
        if (say) {
            saidAt.put(node, now);
        }
        return say;
    }
}
