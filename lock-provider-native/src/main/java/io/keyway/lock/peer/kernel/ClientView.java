// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

import java.util.Collection;

/**
 * What a helper may ask and tell the session of its client. The session carries the lease: belief in a grant of it ends
 * at the highest echoed stamp plus 3/4 ttl.
 */
public interface ClientView {
    /** The session that is open or being resumed; its number is 0 while there is none. */
    Peer session();

    /** True if messages can be queued now: a session exists, connected or not. */
    boolean exists();

    /** True if a link of the session is up and welcomed. */
    boolean connected();

    /**
     * A token of the member has come, of that epoch, which may have begun after its welcome: should the member forget
     * it with its disk, this client tells it.
     */
    void heard(long epoch);

    /** Belief of the current session in grants of that ttl; a shared object, see {@link Belief}. */
    Belief belief(long ttl);

    /**
     * The key holds (or caches) a grant of the current session. When the belief of that ttl is about to end, the key is
     * called with {@link Doubted}, and with {@link Certain} if it goes on; when it ends, with {@link Lapsed}; when the
     * session is over, with {@link SessionGone}. Either of the last two ends the registration.
     */
    void hold(Key key, long ttl);

    void unhold(Key key, long ttl);

    /** The keys that hold a grant of the current session. */
    Collection<Key> holders();

    /**
     * The key waits for an answer or a grant: the session is kept up and heartbeats at ttl/4; the key is called with
     * {@link SessionGone} and {@link SessionOpen}. Outlives sessions. One a key.
     */
    void await(Key key, long ttl);

    void unawait(Key key, long ttl);

    /** Asks for {@link Received} of that key when the peer has acknowledged the message of that number. */
    void receipt(Key key, long number);

    /**
     * Sends a heartbeat now, because a grant must be confirmed; its echo is told by {@link Echoed}. Forgotten when the
     * session is over.
     */
    void confirm(Key key);

    /**
     * A user has until then, on the cell's clock, to stop its work under a grant that has ended. Before that, this
     * client does not tell a new leader that it has said all that it holds.
     */
    default void stops(long until) {}

    /**
     * Asks for {@link Echoed} in this turn, as soon as the echo of the frame at hand has moved the beliefs: messages
     * are processed before it.
     */
    void afterEcho(Key key);

    /**
     * A session was opened: to a fresh one waiting helpers send their requests. {@code reasserting}: the member is in
     * quarantine and takes re-assertions.
     */
    record SessionOpen(Peer session, boolean reasserting) implements Call {}

    /**
     * The session is over: nothing of it is believed any more, unless {@code restarted}: another incarnation of the
     * member answers, and belief stays as it was (frozen) until re-asserted or lapsed.
     */
    record SessionGone(Peer session, boolean restarted, String why) implements Call {}

    /**
     * Nothing that was ever granted to this client is believed any more, whatever session it was granted in and whether
     * or not one is open.
     */
    record Disowned(String why) implements Call {}

    /** No echo came for five eighths of that ttl: belief in grants of it ends in ttl/8 unless one comes. */
    record Doubted(long ttl) implements Call {}

    /** An echo came after {@link Doubted}. */
    record Certain(long ttl) implements Call {}

    /** Belief in grants of that ttl has ended. */
    record Lapsed(long ttl) implements Call {}

    /** The peer has the message of that number. */
    record Received(long number) implements Call {}

    /** A stamp at or after the {@link #confirm} came back, or the frame of {@link #afterEcho} is done. */
    record Echoed() implements Call {
        /** All of them are alike. */
        public static final Echoed ECHOED = new Echoed();
    }

    /** The member decides on nothing any more: what waits is to be asked of another one. */
    record Dismissed() implements Call {}

    /** The member can't be reached, or refuses; retrying goes on. */
    record Unreachable(String why, boolean final_) implements Call {}
}
