// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Probe;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The messages between a helper and the manager of its name. Those that end or extend a grant name its token; one whose
 * token is not current changes nothing.
 *
 * <p>The source's Renew and its answer are the session's KEEP and KEPT: any frame renews every grant of a client.
 */
public sealed interface LockMessage extends Message {
    /** The token that the message names; 0 if it names none. */
    default long token() {
        return 0;
    }

    /**
     * Asks for the lock. Helper to manager.
     *
     * @param request the client's number of the request
     * @param capacity how many permits there are in the asker's view; 1 for a lock
     * @param perResource how many of them there are for one resource, which is one bucket; 1 for a lock
     * @param noWait answer at once whether the lock can be had
     * @param wantPlace tell the place in the queue, once, if it has to wait
     * @param cache the helper may keep the lock after its release: grant a range of tokens
     * @param waited nanoseconds since the user asked: the place in the queue is that of the user's call
     * @param patience nanoseconds after which a request that does not wait is refused although the holder has not
     *     answered
     * @param atLeast nanoseconds after the grant in which others are kept out at the least; 0 for no such time. Such a
     *     grant is never cached
     * @param converts the token of the sender's grant whose mode is to change, to {@code mode}; 0 for a new grant
     * @param quiet nanoseconds in which no reader was granted before a soft writer is, which has no place in the queue;
     *     {@link #IN_THE_QUEUE} for all others
     */
    record Acquire(
            Key key,
            long request,
            LockMode mode,
            int permits,
            int capacity,
            int perResource,
            long ttl,
            boolean noWait,
            boolean wantPlace,
            boolean cache,
            long waited,
            long patience,
            long atLeast,
            long converts,
            long quiet,
            Owner owner)
            implements LockMessage {
        /** Of a request that is no soft writer's. */
        public static final long IN_THE_QUEUE = -1;

        /** Whether a new grant for it is in order where nobody holds: who sees no resource has no permits either. */
        public boolean fitsAlone() {
            return converts == 0 && (mode != LockMode.PERMITS || permits <= capacity);
        }

        /** Whether its user is a soft writer, which keeps nobody waiting. */
        public boolean isSoft() {
            return quiet != IN_THE_QUEUE;
        }

        @Override
        public boolean isAnswered() {
            return true;
        }

        /** A request for a new grant of a lock, which is not held at least for any time. */
        public Acquire(
                Key key,
                long request,
                LockMode mode,
                int permits,
                int capacity,
                long ttl,
                boolean noWait,
                boolean wantPlace,
                boolean cache,
                long waited,
                long patience,
                Owner owner) {
            this(
                    key,
                    request,
                    mode,
                    permits,
                    capacity,
                    capacity,
                    ttl,
                    noWait,
                    wantPlace,
                    cache,
                    waited,
                    patience,
                    0,
                    0,
                    IN_THE_QUEUE,
                    owner);
        }
    }

    /** Out of the queue; ends the grant of that request if there is one. Helper to manager. */
    record Withdraw(Key key, long request) implements LockMessage {}

    /**
     * Ends the grant. Helper to manager.
     *
     * @param used the last token handed out; below {@code token} if the grant reached nobody, so that its place is not
     *     kept
     */
    record Release(Key key, long token, long used) implements LockMessage {}

    /** RecallAccepted: the lock was cached and idle; ends the grant. Helper to manager. */
    record Accepted(Key key, long token, long used) implements LockMessage {}

    /** RecallDenied: the lock is in use and goes straight back at its release. Answers who asked. Helper to manager. */
    record Denied(Key key, long token) implements LockMessage {}

    /**
     * Answers a Revoke with cause BROKEN. Helper to manager.
     *
     * @param token the token that was to be broken
     * @param ended the grant that ended; 0 if {@code token} is not in use and nothing ended
     */
    record Revoked(Key key, long token, long ended, long used) implements LockMessage {}

    /** After a restart of the member: this client still believes in its grant. Helper to manager. */
    record Reassert(
            Key key, long request, long token, long used, long hi, LockMode mode, int permits, long ttl, Owner owner)
            implements LockMessage {}

    /**
     * Answers a Query, in one part or several. Helper to manager.
     *
     * @param holders what is in use at this client, each with the token in use: a grant that is not listed lies idle;
     *     each part has some
     * @param waiters those of this client who wait, in order, and for how long; each part has some
     * @param more how many of both are not listed
     * @param last no part follows
     */
    record Use(Key key, long query, List<Participant> holders, List<Participant> waiters, int more, boolean last)
            implements LockMessage {}

    /**
     * The lock is granted. Manager to helper.
     *
     * @param wanted others wait, or did just now: no caching, no local hand-over, and no second token
     * @param out how many permits are out, those of this grant among them; 0 for a lock
     */
    record Granted(Key key, long request, long token, long hi, boolean wanted, int out) implements LockMessage {
        /** That of a lock. */
        public Granted(Key key, long request, long token, long hi, boolean wanted) {
            this(key, request, token, hi, wanted, 0);
        }
    }

    /** Final: no grant. Manager to helper. */
    record NotGranted(Key key, long request, RefusalCause cause, List<Participant> holders) implements LockMessage {}

    /** The place of a waiter that asked for it, when it was queued. Manager to helper. */
    record Place(Key key, long request, int ahead, List<Participant> holders) implements LockMessage {}

    /**
     * RecallRequest: others wait; give the lock back if it is idle, else at its release. Manager to helper.
     *
     * @param asks somebody does not wait: the helper is to answer Denied if the lock is in use
     */
    record Recall(Key key, long token, boolean asks) implements LockMessage {}

    /**
     * The grant is over (EXPIRED, DENIED: {@code token} is the grant's first), or is to be (BROKEN: the one in use).
     * Manager to helper.
     *
     * @param reason what the administrator said who broke it, or why the member takes it back; empty if neither did
     */
    record Revoke(Key key, long token, LeaseLoss.Cause cause, String reason) implements LockMessage {
        /** One that says no reason. */
        public static Revoke of(Key key, long token, LeaseLoss.Cause cause) {
            return new Revoke(key, token, cause, "");
        }
    }

    /** The re-assertion holds. Manager to helper. */
    record Reasserted(Key key, long token, boolean wanted) implements LockMessage {}

    /** Which grants are in use at that client, and with which tokens? And who waits there? Manager to helper. */
    record Query(Key key, long query) implements LockMessage {}

    /** WRONG_MEMBER: another cell decides on this name. Answers Acquire, Show and Break. Member to helper. */
    record Misdirected(Key key, long request) implements LockMessage {}

    /**
     * The request cannot be granted now, whoever holds the lock. Manager to helper.
     *
     * @param last the request is over; otherwise it stays
     */
    record Blocked(Key key, long request, boolean last, String why) implements LockMessage {}

    /**
     * To whoever keeps the sender's request from being granted: see {@link Probe}. Helper to manager.
     *
     * @param request the client's number of a request that waits
     */
    record Seek(Key key, long request, Probe probe) implements LockMessage {}

    /**
     * Passes a Seek on to a client that is in the way. Manager to helper.
     *
     * @param grant the first token of the grant in the way; 0 if it is a request
     * @param ahead that client's number of the request in the way; 0 if it is a grant
     */
    record Sought(Key key, long grant, long ahead, Probe probe) implements LockMessage {}

    /** What answers an administrator. */
    sealed interface Reply extends LockMessage {
        /** The number of the question. */
        long request();
    }

    /** Asks the directory for names after {@code after} ("" for the first page) that begin with {@code prefix}. */
    record ListNames(Key key, long request, String prefix, String after, int max) implements LockMessage {}

    /**
     * Answers ListNames.
     *
     * @param more whether names follow the last one
     */
    record Page(Key key, long request, List<String> names, boolean more) implements Reply {}

    /**
     * Asks a manager for its holders and waiters.
     *
     * @param limit nanoseconds that the holder has to say whether it is idle
     */
    record Show(Key key, long request, long limit) implements LockMessage {}

    /**
     * Answers Show, in one part or several.
     *
     * @param holders each part has some
     * @param waiters in order; each part has some
     * @param softWriters who waits without a place in the queue; each part has some
     * @param perResource how many permits a bucket has, as the last grant's request said; 0 for a lock
     * @param out how many permits are in use; 0 for a lock
     * @param more how many holders and waiters are not listed
     * @param last no part follows
     */
    record Status(
            Key key,
            long request,
            List<Participant> holders,
            List<Participant> waiters,
            List<Participant> softWriters,
            int perResource,
            int out,
            int more,
            boolean last)
            implements Reply {
        /** That of a lock without soft writers. */
        public Status(
                Key key, long request, List<Participant> holders, List<Participant> waiters, int more, boolean last) {
            this(key, request, holders, waiters, List.of(), 0, 0, more, last);
        }
    }

    /**
     * Asks a manager to answer when its version is not {@code known} any more.
     *
     * @param known as {@link Changed} told it; 0 for none
     * @param limit nanoseconds after which it answers in any case
     */
    record Watch(Key key, long request, long known, long limit) implements LockMessage {}

    /**
     * Answers Watch.
     *
     * @param version of who holds and who waits: positive, and never the same for two states; {@link #UNTOLD} from a
     *     manager that has none
     */
    record Changed(Key key, long request, long version) implements Reply {
        /** This manager does not tell of changes. */
        public static final long UNTOLD = -1;
    }

    /** To a member: its sender wants to hear {@link ClusterState} now and whenever that changes, in this session. */
    record Follow(Key key) implements LockMessage {}

    /**
     * What a member sees of its cluster.
     *
     * @param up as many of the configured members answer as have to
     * @param ready locks can be granted
     * @param silent the ids of the members that do not answer
     */
    record ClusterState(Key key, boolean up, boolean ready, List<String> silent) implements LockMessage {
        /** What has happened since; of null, what is. A cluster is not ready while it is down. */
        public List<LockEvent.Type> since(@Nullable ClusterState before) {
            List<LockEvent.Type> events = new ArrayList<>(2);
            boolean readiness = before == null || before.ready != ready;
            if (readiness && !ready) {
                events.add(LockEvent.Type.NO_LOCK);
            }
            if (before == null || before.up != up) {
                events.add(up ? LockEvent.Type.CLUSTER_UP : LockEvent.Type.CLUSTER_DOWN);
            }
            if (readiness && ready) {
                events.add(LockEvent.Type.LOCK_READY);
            }
            return events;
        }
    }

    /**
     * That member is to be in the list of the cluster, or not; or, if it is empty, who is in it? To be said again until
     * it is so.
     *
     * @param add false: it is to be removed
     */
    record ChangeMembers(Key key, long request, String member, boolean add) implements LockMessage {}

    /**
     * Answers ChangeMembers, at once.
     *
     * @param members the list at this time
     * @param refused it will not be changed like that
     * @param why it is not as it is wanted; empty if nothing is known
     */
    record Members(Key key, long request, List<String> members, boolean refused, String why) implements Reply {}

    /**
     * Asks a manager to give no token of its name that is not higher than this one, from the answer on, whatever member
     * gave it.
     */
    record Raise(Key key, long request, long token) implements LockMessage {}

    /** Ends the grant that uses this token, and no other. */
    record Break(Key key, long request, long token, String reason) implements LockMessage {}

    /**
     * Answers Break, when nobody can believe in the grant any more, and Raise.
     *
     * @param done false if the token was not in use; or if it is one that no member can have given
     */
    record Answer(Key key, long request, boolean done) implements Reply {}
}
