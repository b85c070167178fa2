// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says in the log what peers do wrong: at most one line a period, however many there are; the next line says how many were left out. On one loop's thread. */
final class Complaints {
    private static final Logger LOG = LoggerFactory.getLogger(Complaints.class);
    private static final long PERIOD_NANOS = Duration.ofSeconds(10).toNanos();
    private static final int LONGEST = 300;

    private final String about;
    private boolean said;
    private long saidAt;
    private long leftOut;

    /** @param about what the links are, such as "a connection to this host" */
    Complaints(String about) {
        this.about = about;
    }

    /** @param what went wrong; what a peer sent of it is shown without control characters and not at length */
    void say(String what) {
        long now = System.nanoTime();
        if (said && now - saidAt < PERIOD_NANOS) {
            leftOut++;
            LOG.debug("{} was closed: {}", about, shown(what));
            return;
        }
        String more = leftOut == 0 ? "" : " (and " + leftOut + " more since the last line of this kind)";
        LOG.warn("{} was closed: {}{}", about, shown(what), more);
        said = true;
        saidAt = now;
        leftOut = 0;
    }

    static String shown(String what) {
        StringBuilder shown = new StringBuilder();
        what.codePoints()
                .limit(LONGEST)
                .map(each -> Character.isISOControl(each) || Character.getType(each) == Character.FORMAT ? '?' : each)
                .forEach(shown::appendCodePoint);
        return shown.toString();
    }
}
