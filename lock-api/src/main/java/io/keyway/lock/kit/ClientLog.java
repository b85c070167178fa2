// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;

/**
 * What an operator has to read of one client though nobody throws it: requests that go on without an answer, once for
 * each outage and once when it is over, and leases that were lost. Bounded by the minute, since either may come in
 * thousands.
 */
final class ClientLog {

    /** Losses that are told one by one in a minute. */
    static final int LOSSES = 10;

    private static final Logger LOG = System.getLogger(ClientLog.class.getName());
    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private final String client;
    private final String server;

    /** Requests go on without an answer, which was said; looked at by each answer. */
    volatile boolean silent;

    // Guarded by this.
    private boolean everSilent;
    private long silentSince;
    private boolean everLost;
    private long lossesSince;
    private int losses;

    ClientLog(String client, String server) {
        this.client = client;
        this.server = server;
    }

    /** A request is repeated that has had no answer for {@code waited}. */
    void unanswered(LockKey key, Duration waited, String why, long now) {
        if (silent) {
            return;
        }
        synchronized (this) {
            if (silent || (everSilent && now - silentSince < MINUTE)) {
                return;
            }
            everSilent = true;
            silentSince = now;
            silent = true;
        }
        LOG.log(
                Level.WARNING,
                "{0} has had no answer about the {1} for {2} from {3}, and goes on asking: {4}",
                client,
                key,
                ResolvedOptions.text(waited),
                server,
                why);
    }

    /** A request was answered. */
    void answered(TimeSource time) {
        long after;
        synchronized (this) {
            if (!silent) {
                return;
            }
            silent = false;
            after = time.nanoTime() - silentSince;
        }
        LOG.log(
                Level.INFO,
                "{0} is answered again by {1}, {2} after it said that it was not",
                client,
                server,
                ResolvedOptions.text(Duration.ofNanos(after)));
    }

    void lost(LockKey key, long token, LeaseLoss loss, long now) {
        if (hasLine(now)) {
            LOG.log(
                    Level.WARNING,
                    "{0} has lost the {1} (token {2}) after {3}: {4}, {5}",
                    client,
                    key,
                    String.valueOf(token),
                    ResolvedOptions.text(loss.heldFor()),
                    loss.cause(),
                    loss.detail());
        }
    }

    /**
     * A node has lost its part of locks that are held on.
     *
     * @param part the name of the grant
     * @param goesOn what is held on, and by how many nodes
     */
    void lostPart(LockName part, long token, LeaseLoss loss, String goesOn, long now) {
        if (hasLine(now)) {
            LOG.log(
                    Level.INFO,
                    "{0} has lost {1} (token {2}) after {3}: {4}, {5}; it holds {6}",
                    client,
                    part,
                    String.valueOf(token),
                    ResolvedOptions.text(loss.heldFor()),
                    loss.cause(),
                    loss.detail(),
                    goesOn);
        }
    }

    /** Whether one more loss has a line of its own. */
    private boolean hasLine(long now) {
        int told;
        synchronized (this) {
            if (!everLost || now - lossesSince >= MINUTE) {
                everLost = true;
                lossesSince = now;
                losses = 0;
            }
            losses = Math.min(losses + 1, LOSSES + 2);
            told = losses;
        }
        if (told == LOSSES + 1) {
            LOG.log(Level.WARNING, "{0} loses more leases; the log does not name those of the next minute", client);
        }
        return told <= LOSSES;
    }
}
