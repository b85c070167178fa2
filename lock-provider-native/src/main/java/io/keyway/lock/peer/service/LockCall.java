// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Probe;
import org.jspecify.annotations.Nullable;

/** What users of a client, the runtime of a member, and the machines of one cell ask each other. */
public sealed interface LockCall extends Call {
    /**
     * A user wants the lock. Answered by exactly one of Granted, Refused, Failed and Withdrawn.
     *
     * @param request unique within the client
     * @param capacity how many permits there are in the user's view; 1 for a lock
     * @param perResource how many of them there are for one resource; 1 for a lock
     * @param queue false: answer at once, never wait for a holder
     * @param ttl nanoseconds
     * @param patience for {@code queue} false: nanoseconds after which a holder that doesn't answer counts as holding
     * @param atLeast nanoseconds after the grant in which others are kept out at the least; 0 for no such time
     * @param waited nanoseconds that it has been asked for already, elsewhere: its place is that of its user's call
     * @param converts the token of a grant of this client whose mode is to change, to {@code mode}; 0 for a new grant
     * @param quiet as in {@link LockMessage.Acquire}
     * @param user comes back with the grant and its end; never looked at
     */
    record Acquire(
            long request,
            LockMode mode,
            int permits,
            int capacity,
            int perResource,
            long ttl,
            Owner owner,
            boolean queue,
            boolean wantPlace,
            long patience,
            long atLeast,
            long waited,
            long converts,
            long quiet,
            @Nullable Object user)
            implements LockCall {
        /** Whether its user is a soft writer, and waits. */
        public boolean waitsSoftly() {
            return queue && quiet != LockMessage.Acquire.IN_THE_QUEUE;
        }

        /** A request for a new grant, which is not held at least for any time. */
        public Acquire(
                long request,
                LockMode mode,
                int permits,
                int capacity,
                long ttl,
                Owner owner,
                boolean queue,
                boolean wantPlace,
                long patience,
                long waited,
                @Nullable Object user) {
            this(
                    request,
                    mode,
                    permits,
                    capacity,
                    capacity,
                    ttl,
                    owner,
                    queue,
                    wantPlace,
                    patience,
                    0,
                    waited,
                    0,
                    LockMessage.Acquire.IN_THE_QUEUE,
                    user);
        }

        /** The same request, so many nanoseconds later. */
        public Acquire after(long nanos) {
            return new Acquire(
                    request,
                    mode,
                    permits,
                    capacity,
                    perResource,
                    ttl,
                    owner,
                    queue,
                    wantPlace,
                    patience,
                    atLeast,
                    waited + Math.max(0, nanos),
                    converts,
                    quiet,
                    user);
        }
    }

    /** The user gave up. A request that was granted already is not touched: its grant is to be released. */
    record Withdraw(long request) implements LockCall {}

    /**
     * The user released the grant with that token, and {@link GrantHandle#tryRelease} could not. Answered by
     * ReleaseDone.
     *
     * @param unused it reached nobody: its place is not kept, whatever its request asked for
     */
    record Release(long token, boolean unused) implements LockCall {
        /** What a user has used. */
        public Release(long token) {
            this(token, false);
        }
    }

    /** That request waits: pass the probe on to whoever is in its way. */
    record Seek(long request, Probe probe) implements LockCall {}

    /** A user saw the deadline pass before the cell did. */
    record Lapse(long token) implements LockCall {}

    /** An administrator asks. Answered by exactly one of Told, Failed and Misdirected. */
    sealed interface Question extends LockCall {
        /** Unique within the client. */
        long request();

        /** Nanoseconds in which the answer is of use. */
        long limit();

        /** The same question, with that limit. */
        Question within(long limit);

        /** What a client sends to the machine of that key. */
        LockMessage message(Key key);
    }

    /** A page of names; to {@link LockKeys#directory}. */
    record ListNames(long request, String prefix, String after, int max, long limit) implements Question {
        @Override
        public ListNames within(long left) {
            return new ListNames(request, prefix, after, max, left);
        }

        @Override
        public LockMessage message(Key key) {
            return new LockMessage.ListNames(key, request, prefix, after, max);
        }
    }

    /** Who holds a name, and who waits. */
    record Show(long request, long limit) implements Question {
        @Override
        public Show within(long left) {
            return new Show(request, left);
        }

        @Override
        public LockMessage message(Key key) {
            return new LockMessage.Show(key, request, limit / 2);
        }
    }

    /** Answered when a name's version is not that one any more, or after half of the limit. */
    record Watch(long request, long known, long limit) implements Question {
        @Override
        public Watch within(long left) {
            return new Watch(request, known, left);
        }

        @Override
        public LockMessage message(Key key) {
            return new LockMessage.Watch(key, request, known, limit / 2);
        }
    }

    /**
     * That member is to be in the list of the cluster, or not; or, if it is empty, who is in it?
     *
     * @param add false: it is to be removed
     */
    record ChangeMembers(long request, String member, boolean add, long limit) implements Question {
        @Override
        public ChangeMembers within(long left) {
            return new ChangeMembers(request, member, add, left);
        }

        @Override
        public LockMessage message(Key key) {
            return new LockMessage.ChangeMembers(key, request, member, add);
        }
    }

    /** From the answer on no token of the name is given that is not higher than that one. */
    record Raise(long request, long token, long limit) implements Question {
        @Override
        public Raise within(long left) {
            return new Raise(request, token, left);
        }

        @Override
        public LockMessage message(Key key) {
            return new LockMessage.Raise(key, request, token);
        }
    }

    /** Ends the grant that uses that token, and no other. */
    record Break(long request, long token, String reason, long limit) implements Question {
        @Override
        public Break within(long left) {
            return new Break(request, token, reason, left);
        }

        @Override
        public LockMessage message(Key key) {
            return new LockMessage.Break(key, request, token, reason);
        }
    }

    /**
     * To a manager at a start after a clean end: that grant was not over.
     *
     * @param left nanoseconds in which it may be believed in, a full ttl unless it was imported before; 0 if its place
     *     is kept and nobody believes
     * @param keep nanoseconds in which its place keeps others out, whatever becomes of it; 0 if it was not to be held
     *     longer
     * @param ceiling how many permits may be out as long as it may be cached
     * @param before its token before its mode was changed, which its holder may still name; 0 if it never was
     */
    record Import(
            long token,
            long hi,
            LockMode mode,
            int permits,
            long ttl,
            long left,
            long keep,
            Owner owner,
            long before,
            int ceiling)
            implements LockCall {
        /** One that is not held at least for any time. */
        public Import(long token, long hi, LockMode mode, int permits, long ttl, long left, Owner owner) {
            this(token, hi, mode, permits, ttl, left, 0, owner);
        }

        /** A grant whose mode was never changed. */
        public Import(long token, long hi, LockMode mode, int permits, long ttl, long left, long keep, Owner owner) {
            this(token, hi, mode, permits, ttl, left, keep, owner, 0, Integer.MAX_VALUE);
        }

        /** The same so many nanoseconds later. */
        public Import after(long nanos) {
            return new Import(token, hi, mode, permits, ttl, left, Math.max(0, keep - nanos), owner, before, ceiling);
        }
    }

    /** To a manager: nobody believes in the imported grant of that token, unless it was re-asserted. */
    record Disown(long token) implements LockCall {}

    /** To whoever follows the cluster: somebody asks for a lock, or holds one, in the present session. */
    enum Follow implements LockCall {
        FOLLOW
    }

    /** To a helper: the cluster is down, so that grants can end at their deadlines. */
    record ClusterDown(String why) implements LockCall {}

    /** To a helper: the cluster is up again. */
    enum ClusterUp implements LockCall {
        UP
    }

    /** To the cache: that helper has a grant, with that first token, that may be kept. */
    record Kept(Key key, long token) implements LockCall {}

    /** To the cache: that grant is over. */
    record Dropped(Key key, long token) implements LockCall {}

    /** To a helper: the cache is full; the grant of that first token goes back as soon as it is idle. */
    record Evict(long token) implements LockCall {}
}
