// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Message;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The frames of a link: five that open it, one that refuses it, and one that carries everything else; and two with
 * which an administrator reads what a member wrote down of its events, which drivers answer and no cell sees.
 */
public sealed interface SessionFrame extends Frame {
    /** Messages in one frame, at most. */
    int MAX_MESSAGES = 1024;

    /** Which end of a session the sender of a hello is. */
    enum Role {
        CLIENT(1),
        MEMBER(2);

        private final int code;

        Role(int code) {
            this.code = code;
        }

        /** On the wire and in transcripts. */
        public int code() {
            return code;
        }
    }

    /**
     * Client to member, first on a link. The member stores nothing but this.
     *
     * @param wireLow the oldest wire version that the client speaks
     * @param wireHigh the newest one
     * @param settings hash of all settings that the whole cluster must share
     * @param members hash of the member list; 0 from a client, who does not know it yet
     * @param from the id of the member that says hello; empty from a client
     * @param node the id of the member that is meant; empty for any
     * @param shard which cell of the member is meant
     * @param attempt rises with each link of this incarnation; an older link never wins over a newer one
     * @param life the byte of the machine's lock file that this client keeps locked while it lives; 0 where there is
     *     none
     * @param guard the same for a second process that must be dead before the client counts as dead; 0 if there is none
     * @param tokenFloor what all tokens are to exceed from now on; 0 if the client does not care
     * @param seen the highest epochs that the client knows of
     * @param resume the session to go on with; null asks for a fresh one
     */
    record Hello(
            int wireLow,
            int wireHigh,
            String cluster,
            long settings,
            long members,
            int algorithm,
            Role role,
            String from,
            String node,
            int shard,
            Incarnation client,
            Nonce nonce,
            long attempt,
            long life,
            long guard,
            long tokenFloor,
            List<Seen> seen,
            @Nullable Resume resume)
            implements SessionFrame {
        /** Of one that gives no floor of tokens. */
        public Hello(
                int wireLow,
                int wireHigh,
                String cluster,
                long settings,
                long members,
                int algorithm,
                Role role,
                String from,
                String node,
                int shard,
                Incarnation client,
                Nonce nonce,
                long attempt,
                long life,
                long guard,
                List<Seen> seen,
                @Nullable Resume resume) {
            this(
                    wireLow, wireHigh, cluster, settings, members, algorithm, role, from, node, shard, client, nonce,
                    attempt, life, guard, 0, seen, resume);
        }
    }

    /** An epoch of a member that somebody has seen at work. */
    record Seen(String node, long epoch, Incarnation incarnation) {}

    /**
     * A session to go on with.
     *
     * @param received the number of the last message that the client has of that session
     */
    record Resume(Incarnation member, long session, long received) {}

    /** Member to client: answer my nonce. */
    record Challenge(int wire, Incarnation member, Nonce nonce, Mac mac) implements SessionFrame {}

    /** Client to member: the answer. */
    record Proof(Mac mac) implements SessionFrame {}

    /**
     * Member to client: the session is open on this link.
     *
     * @param received the number of the last message that the member has of this session
     * @param leastEpoch the lowest epoch with which another member may open a list that it asks this one about: higher
     *     than what a former life of it was told, and 0 to a client
     * @param quarantine nanoseconds until this member may grant
     * @param members the ids of all members
     * @param shards how many cells each member has
     * @param fresh this life of the member began as the first use of the cluster; to a client: and it waits until all
     *     members of its list have answered
     * @param longestTtl the longest lease that may be left of former lives of the member, in nanoseconds
     */
    record Welcome(
            long session,
            long received,
            String node,
            long epoch,
            long leastEpoch,
            long quarantine,
            List<String> members,
            int shards,
            boolean fresh,
            long longestTtl)
            implements SessionFrame {}

    /**
     * Member to a client that has proved itself: this member leads, and lets clients in after at most that time.
     *
     * @param nanos of its clock, from now
     */
    record Wait(long nanos) implements SessionFrame {}

    /** Member to client, before it hangs up. The texts are empty before the client has proved itself. */
    record Refuse(RefuseCode code, String field, String here, String there) implements SessionFrame {}

    /**
     * Both ways, after the welcome.
     *
     * @param seq the number of the first message in it, or the next one to be used if there is none
     * @param ack the number of the last message that the sender has in order
     * @param stamped true if {@code stamp} counts
     * @param stamp from a client its clock, opaque to the member; from a member the highest stamp that it has processed
     *     in this session
     * @param clock from a member its logical clock, from a client the highest that its process has heard of; 0 for
     *     algorithms that order nothing by it
     */
    record Data(long session, long seq, long ack, boolean stamped, long stamp, long clock, List<Message> messages)
            implements SessionFrame {}

    /**
     * Client to member, after the welcome: a question about the member's log of events.
     *
     * @param request comes back with the answer
     * @param what 0 to read it, 1 to begin to record, 2 to end that
     * @param from the number of the first event that is wanted
     */
    record AskTrace(long request, int what, long from) implements SessionFrame {
        /** Reads. */
        public static final int READ = 0;
        /** Begins to record. */
        public static final int START = 1;
        /** Records no more; what is there stays. */
        public static final int STOP = 2;
    }

    /**
     * Member to client: answers that.
     *
     * @param on whether the member records now
     * @param next the number of the first event that is not in it
     * @param more whether the log has more events
     * @param text lines of the log
     */
    record TracePage(long request, boolean on, long next, boolean more, String text) implements SessionFrame {
        /** The most bytes of the text. */
        public static final int MAX_TEXT = 60 * 1024;
    }
}
