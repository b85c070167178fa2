// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TokenFloor;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The decisions of a {@link ReferenceStore}, one method each, called under its lock. A store with a defect, for a test that
 * has to find it, overrides one.
 */
public abstract class StoreRules {

    private long lastToken;
    private long floor;

    /** Makes the rules of a store whose tokens are higher than {@code tokensAbove}. */
    protected StoreRules(long tokensAbove) {
        lastToken = tokensAbove;
    }

    /** Returns where the entry of a key stands; two keys never share one (LK-103), and no character sorts before the line feed. */
    protected String slot(LockKey key) {
        return key.name().value() + (key.kind() == LockKey.Kind.LOCK ? "\n0" : "\n1");
    }

    /** Returns whether nobody stands before that request; {@code waiter} is null if it has just come. */
    protected boolean isTurnOf(LockEntry entry, @Nullable Place waiter, Request request) {
        return waiter == null ? !entry.isWaitedFor() : entry.first() == waiter;
    }

    /** Returns whether the request goes together with those that hold, by the capacity that it states itself (LK-1301). */
    protected boolean admits(LockEntry entry, Request request, long now) {
        return switch (request.mode()) {
            case EXCLUSIVE -> entry.holders().isEmpty();
            case SHARED -> entry.holders().stream().allMatch(holder -> holder.request.mode() == LockMode.SHARED);
            case PERMITS -> entry.permitsOut() + request.permits() <= request.capacity();
        };
    }

    /** Returns the token of the next grant, higher than all before (LK-602). */
    protected long nextToken(Session session, LockKey key) {
        return ++lastToken;
    }

    /**
     * Called when a client begins that gives a floor of tokens (LK-608).
     *
     * @throws io.keyway.lock.InvalidLockUrlException if a higher one was given before (LK-609)
     */
    protected void raise(Session session, TokenFloor asked) {
        if (asked.isAbove(floor)) {
            floor = asked.wanted();
            lastToken = Math.max(lastToken, floor);
        }
    }

    /** Called when the store has restarted and forgotten its grants: what is written down stays, as the tokens (LK-603). */
    protected void restarted() {}

    /** Returns the highest token that was given. */
    public long lastToken() {
        return lastToken;
    }

    /** Returns until when one that was heard of now is kept: a holder or a waiter. */
    protected long expiry(Request request, boolean holds, long now) {
        return now + request.ttl().toNanos();
    }

    /** Returns until when a grant that was made at {@code since} keeps its place after its release (LK-520). */
    protected long keptUntil(Request request, long since) {
        return since + request.holdAtLeast().toNanos();
    }

    /** Returns until when a grant that was made at {@code since} keeps its place after the end of its term (LK-520). */
    protected long outlastsTermUntil(Request request, long since) {
        return since + request.holdAtLeast().toNanos();
    }

    /** Returns the holder that a message about that grant is about: by its id and token, never by its client alone (LK-701). */
    protected @Nullable Place inForce(LockEntry entry, Session session, Grant grant) {
        return entry.holder(session, grant);
    }

    /** Returns who is told that its turn may have come, now that {@code left} has left, or whoever it was. */
    protected @Nullable Place next(LockEntry entry, @Nullable Place left) {
        return entry.first();
    }

    /** Returns within what time a waiter asks again though no signal came; it also keeps its place by that. */
    protected Duration recheckWithin(Request request) {
        return request.ttl().dividedBy(4);
    }
}
