// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Key;
import org.jspecify.annotations.Nullable;

/** What users of a client, the runtime of a member, and the machines of one cell ask each other. */
public sealed interface LeaseCall extends Call {
    /**
     * A user wants the lock. Answered by exactly one of Granted, Refused, Failed and Withdrawn.
     *
     * @param request unique within the client
     * @param queue false: answer at once, never wait for a holder
     * @param ttl nanoseconds
     * @param patience for {@code queue} false: nanoseconds after which a holder that doesn't answer counts as holding
     * @param waited nanoseconds that it has been asked for already, elsewhere: its place is that of its user's call
     * @param user comes back with the grant and its end; never looked at
     */
    record Acquire(
            long request,
            LockMode mode,
            int permits,
            int limit,
            long ttl,
            LeaseOwner owner,
            boolean queue,
            boolean wantPlace,
            long patience,
            long waited,
            @Nullable Object user)
            implements LeaseCall {
        /** The same request, so many nanoseconds later. */
        public Acquire after(long nanos) {
            return new Acquire(
                    request,
                    mode,
                    permits,
                    limit,
                    ttl,
                    owner,
                    queue,
                    wantPlace,
                    patience,
                    waited + Math.max(0, nanos),
                    user);
        }
    }

    /** The user gave up. A request that was granted already is not touched: its grant is to be released. */
    record Withdraw(long request) implements LeaseCall {}

    /** The user released the grant with that token, and {@link CachedGrant#tryRelease} could not. Answered by ReleaseDone. */
    record Release(long token) implements LeaseCall {}

    /** A user saw the deadline pass before the cell did. */
    record Lapse(long token) implements LeaseCall {}

    /** A page of names; to {@link LeaseKeys#DIRECTORY}. Answered by Told or Failed. {@code limit} in nanoseconds. */
    record ListNames(long request, String prefix, String after, int max, long limit) implements LeaseCall {}

    record Show(long request, long limit) implements LeaseCall {}

    record Break(long request, long token, String reason, long limit) implements LeaseCall {}

    /** To a manager at a start after a clean end: that grant may be believed in for {@code left} nanoseconds, a full ttl unless it was imported before. */
    record Import(long token, long hi, LockMode mode, int permits, long ttl, long left, LeaseOwner owner)
            implements LeaseCall {}

    /** To a manager: nobody believes in the imported grant of that token, unless it was re-asserted. */
    record Disown(long token) implements LeaseCall {}

    /** To the directory: that name is no longer at rest. */
    record Joined(String name) implements LeaseCall {}

    /** To the directory: that name is at rest. */
    record Left(String name) implements LeaseCall {}

    /** To the cache: that helper has a grant that may be kept. */
    record Kept(Key key) implements LeaseCall {}

    /** To the cache: it has none any more. */
    record Dropped(Key key) implements LeaseCall {}

    /** To a helper: the cache is full; the lock goes back as soon as it is idle. */
    record Evict() implements LeaseCall {}
}
