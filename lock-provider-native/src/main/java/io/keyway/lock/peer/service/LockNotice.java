// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockEvent;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.wire.LogText;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.Probe;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What helpers and managers tell the user of their cell. */
public sealed interface LockNotice extends Notice {
    Key key();

    /** The request has the lock. {@code handle} serves further acquires of this name until it is closed. */
    record Granted(
            Key key,
            long request,
            GrantHandle handle,
            long token,
            @Nullable Object user) implements LockNotice {}

    /**
     * The request waits. May be repeated.
     *
     * @param ahead -1 if unknown
     */
    record Waiting(
            Key key,
            long request,
            int ahead,
            List<Participant> holders,
            @Nullable Object user) implements LockNotice {}

    /** Final: held by another, and the request does not wait. */
    record Refused(
            Key key,
            long request,
            List<Participant> holders,
            @Nullable Object user) implements LockNotice {}

    /**
     * The member can't be reached, or grants nothing now; the request stays, and trying goes on.
     *
     * @param closed the member itself has said so: what it said before of that request does not count any more
     */
    record Trouble(
            Key key,
            long request,
            String why,
            boolean closed,
            @Nullable Object user) implements LockNotice {
        /** One of which the member knows nothing. */
        public Trouble(Key key, long request, String why, @Nullable Object user) {
            this(key, request, why, false, user);
        }

        /** Tells the user of that request. */
        public void tell(LockEngine.Sink to) {
            if (closed) {
                to.closed(why);
            } else {
                to.doubt(why);
            }
        }

        /** The same, for other reasons. */
        public Trouble because(String other) {
            return new Trouble(key, request, other, closed, user);
        }
    }

    /**
     * Final: the request cannot be served. Also of the requests for names, status and break.
     *
     * @param lasting asking again changes nothing before somebody changes a configuration
     */
    record Failed(
            Key key,
            long request,
            String why,
            boolean lasting,
            @Nullable Object user) implements LockNotice {
        public Failed(Key key, long request, String why, @Nullable Object user) {
            this(key, request, why, false, user);
        }
    }

    /**
     * Final: another member decides on this name; whoever sent the request there has another list of members. Also of
     * the requests for status and break.
     *
     * @param call to be sent where it belongs; null for status and break
     */
    record Misdirected(
            Key key,
            long request,
            LockCall.@Nullable Acquire call,
            @Nullable Object user) implements LockNotice {}

    /** Final: the request was withdrawn and will not be granted. */
    record Withdrawn(Key key, long request, @Nullable Object user) implements LockNotice {}

    /**
     * A probe for the user of that grant, or of that request.
     *
     * @param token the one in use; 0 if it is for a request
     * @param ahead the number of the request; 0 if it is for a grant
     */
    record Sought(Key key, long token, long ahead, Probe probe) implements LockNotice {}

    /** Of a use that was granted before. */
    sealed interface OfUse extends LockNotice {
        long token();

        @Nullable
        Object user();
    }

    /** The grant in use with that token may be in trouble; belief goes on until its deadline. */
    record Doubted(
            Key key, long token, String why, @Nullable Object user) implements OfUse {}

    /** The trouble is over. */
    record Certain(Key key, long token, @Nullable Object user) implements OfUse {}

    /** The grant in use with that token is over without a release. Once a grant, and before {@link Closed}. */
    record Ended(
            Key key,
            long token,
            LeaseLoss.Cause cause,
            String detail,
            @Nullable Object user) implements OfUse {}

    /**
     * Answers Release.
     *
     * @param answer DONE: the member has it, or the lock is cached; NOT_HELD: the token was not in use; UNKNOWN: the
     *     session ended before the member confirmed it, and the grant ends with the session
     */
    record ReleaseDone(Key key, long token, Answer answer) implements LockNotice {}

    /** That handle is closed for good. */
    record Closed(Key key, GrantHandle handle) implements LockNotice {}

    /**
     * Answers a {@link LockCall.Question}.
     *
     * @param silent of a page of names, the members that gave no answer, each with the reason
     */
    record Told(Key key, LockMessage.Reply answer, List<String> silent) implements LockNotice {
        /** The whole answer. */
        public Told(Key key, LockMessage.Reply answer) {
            this(key, answer, List.of());
        }
    }

    /**
     * The cluster has changed, as a member sees it: of the member itself, or of a client that follows it.
     *
     * @param type CLUSTER_UP, CLUSTER_DOWN, LOCK_READY or NO_LOCK
     * @param silent the ids of the members that do not answer
     */
    record ClusterChanged(Key key, LockEvent.Type type, List<String> silent) implements LockNotice {}

    /** Something that must not happen did; nothing unsafe followed. For the log of the member, or of the client. */
    record Alarm(Key key, String text) implements LockNotice {
        private static final int LONGEST = 1200;

        /** For a log: the name and the text come from whoever asked. */
        public String shown() {
            return LogText.shown(key.id() + ": " + text, LONGEST);
        }
    }
}
