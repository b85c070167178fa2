// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer.SessionTurn;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.SessionFrame.Data;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The session of a client with one incarnation of its member: what it takes, what it sends, and when it has to speak. It outlives links. */
final class OpenSession {
    final Peer peer;
    final Incarnation member;
    private MessageStream stream = new MessageStream();
    private ResendTimer retry = new ResendTimer();
    private Beliefs beliefs;
    private AckCallbacks expectations = new AckCallbacks();
    /** When the last frame came. */
    private long heard;

    private boolean stamped;
    /** The last stamp sent, once {@link #stamped}. */
    private long stamp;
    /** Since when an echo is missing; {@link Turn#NEVER} if none is. */
    private long owedSince = Turn.NEVER;
    /** When the messages that came are to be acknowledged at the latest. */
    private long ackBy = Turn.NEVER;
    /**
     * A stamped frame is to be sent by the next flush: the first at once, since it says that all has been told that was
     * to be told. An acknowledgement is.
     */
    private boolean keepNow = true;

    private boolean ackNow;
    /** The last message that was acknowledged. Only a count that no search reaches depends on it, so it is no part of the encoding. */
    private long ackedReceived;

    private boolean taking;

    OpenSession(Peer peer, Incarnation member, long now) {
        this.peer = peer;
        this.member = member;
        heard = now;
        beliefs = new Beliefs(now);
    }

    Beliefs beliefs() {
        return beliefs;
    }

    AckCallbacks expectations() {
        return expectations;
    }

    /** Queues a message; returns its number. */
    long add(Message message) {
        return stream.add(message);
    }

    /** How many messages of the member were taken. */
    long received() {
        return stream.received();
    }

    /** How many messages the member is known to have. */
    long acked() {
        return stream.acked();
    }

    /** True if the member has all that was said. */
    boolean allAcknowledged() {
        return !stream.unacknowledged();
    }

    /** When nothing of it is worth keeping: every lease of it is over by then, at the member too. */
    long forgetAt(long maxTtl) {
        return heard + maxTtl;
    }

    void keepNow() {
        keepNow = true;
    }

    /** True if an answer is missing for so long that another link is to be tried. */
    boolean silent(Keepalive pace, long now) {
        return owed() && now - owedSince >= pace.silence();
    }

    private boolean owed() {
        return owedSince != Turn.NEVER;
    }

    /** A turn begins while a link is up: what is due is sent by the next flush. */
    void look(Keepalive pace, SessionTurn turn) {
        long now = turn.now();
        if (retry.due(now)) {
            retry.again(now);
            sendAgain(turn);
        }
        keepNow |= now - lastStamp() >= pace.heartbeat();
        ackNow |= Clocks.due(ackBy, now);
    }

    private void sendAgain(SessionTurn turn) {
        if (stream.rewind()) {
            turn.goal(SessionGoal.RESENT);
        }
        keepNow = true;
    }

    /** When the last stamp was sent, or a frame came if none was. */
    private long lastStamp() {
        return stamped ? stamp : heard;
    }

    /** False if the member speaks of another session, or of messages that can't be. */
    boolean resumes(Welcome welcome) {
        return welcome.session() == peer.session()
                && welcome.received() >= stream.acked()
                && welcome.received() <= stream.everSent();
    }

    /** Goes on over a new link. */
    void resumed(Welcome welcome, SessionTurn turn) {
        acknowledged(welcome.received(), turn);
        sendAgain(turn);
        heard = turn.now();
    }

    /** The link is gone. */
    void linkDown() {
        retry.stop();
        owedSince = Turn.NEVER;
        ackBy = Turn.NEVER;
    }

    void stalled(long nanos) {
        if (owed()) {
            owedSince += nanos;
        }
    }

    private boolean acknowledged(long upTo, SessionTurn turn) {
        boolean news = stream.acknowledged(upTo);
        if (news) {
            expectations.acknowledged(stream.acked(), turn);
        }
        return news;
    }

    /**
     * Takes a frame: its acknowledgement, its messages in order, and then its echo, since a message may end what the echo would extend.
     *
     * @param algorithm whose messages may come
     * @param open false after the goodbye: nothing that comes behind it can be kept
     * @return why the peer is out of its mind; null if it is not
     */
    @Nullable
    String take(Data frame, int algorithm, boolean open, Keepalive pace, SessionTurn turn) {
        MessageStream.Fit fit = frame.session() == peer.session() ? stream.fit(frame) : MessageStream.Fit.BROKEN;
        if (fit == MessageStream.Fit.GAP) {
            turn.goal(SessionGoal.GAP_DROPPED);
            return null;
        }
        if (fit == MessageStream.Fit.BROKEN || (frame.stamped() && (!stamped || frame.stamp() - stamp > 0))) {
            return "the member answers what was never sent";
        }
        heard = turn.now();
        boolean progress = acknowledged(frame.ack(), turn);
        if (!frame.messages().isEmpty()) {
            ackBy = Clocks.earlier(ackBy, turn.now() + pace.acknowledgement());
        }
        if (!accept(frame, algorithm, open, turn)) {
            return "the member sends messages of another algorithm";
        }
        ackNow |= stream.received() - ackedReceived >= MessageStream.WINDOW / 2;
        if (frame.stamped() && beliefs.echoed(frame.stamp(), turn)) {
            turn.goal(SessionGoal.EXTENDED);
            progress = true;
        }
        owedSince = owed() && !beliefs.covers(stamp) ? turn.now() : Turn.NEVER;
        if (progress) {
            retry.progress(turn.now(), pace.retry(), owed() || stream.unacknowledged());
        }
        expectations.echoed(beliefs, turn);
        return null;
    }

    private boolean accept(Data frame, int algorithm, boolean open, SessionTurn turn) {
        taking = true;
        boolean known = true;
        long number = frame.seq();
        List<Message> messages = frame.messages();
        for (int i = 0; i < messages.size(); i++) {
            Message message = messages.get(i);
            if (!stream.take(number++)) {
                turn.goal(SessionGoal.DUPLICATE_DROPPED);
            } else if (message.key().algorithm() != algorithm) {
                known = false;
                break;
            } else if (open) {
                turn.accept(peer, message);
            }
        }
        taking = false;
        return known;
    }

    /** True while the messages of a frame are being processed, and its echo is not. */
    boolean taking() {
        return taking;
    }

    /** Sends what is queued, stamped, or an acknowledgement if one is due. The stamp is taken before encoding, and goes with the last frame: only behind all that was said. */
    void transmit(long link, Keepalive pace, SessionTurn turn) {
        if (keepNow || stream.unsent()) {
            stamp(turn.clock(), turn.now());
            do {
                List<Message> messages = stream.send(MemberSessions.MAX_MESSAGES);
                turn.transmit(link, frame(messages, !stream.unsent()));
            } while (stream.unsent());
            retry.sent(turn.now(), pace.retry());
        } else if (ackNow) {
            spoken();
            turn.transmit(link, frame(List.of(), false));
        }
    }

    private void stamp(long clock, long now) {
        stamped = true;
        stamp = clock;
        if (!owed()) {
            owedSince = now;
        }
        expectations.stamped(clock);
        keepNow = false;
        spoken();
    }

    private void spoken() {
        ackedReceived = stream.received();
        ackBy = Turn.NEVER;
        ackNow = false;
    }

    private Data frame(List<Message> messages, boolean withStamp) {
        long seq = stream.next() - messages.size();
        return new Data(peer.session(), seq, stream.received(), withStamp, withStamp ? stamp : 0, 0, messages);
    }

    /** When it has something to do while a link is up. */
    long nextWork(Keepalive pace) {
        long next = Clocks.earlier(retry.at(), ackBy);
        next = Clocks.earlier(next, lastStamp() + pace.heartbeat());
        return owed() ? Clocks.earlier(next, owedSince + pace.silence()) : next;
    }

    /** Nothing is believed or expected any more. */
    void leave(long now) {
        beliefs = new Beliefs(now);
        expectations.clear();
    }

    /** All keys that must hear of its end, each once, and some that need not. */
    void keys(Set<Key> into) {
        beliefs.holders(into);
        expectations.keys(into);
    }

    OpenSession copy() {
        OpenSession copy = new OpenSession(peer, member, heard);
        copy.stream = stream.copy();
        copy.retry = retry.copy();
        copy.beliefs = beliefs.copy();
        copy.expectations = expectations.copy();
        copy.stamped = stamped;
        copy.stamp = stamp;
        copy.owedSince = owedSince;
        copy.ackBy = ackBy;
        copy.keepNow = keepNow;
        copy.ackNow = ackNow;
        copy.ackedReceived = ackedReceived;
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(peer).put(member.high()).put(member.low()).time(heard);
        out.put(stamped).time(stamped ? stamp : Turn.NEVER).time(owedSince).time(ackBy);
        out.put(keepNow).put(ackNow);
        stream.encode(out);
        retry.encode(out);
        beliefs.encode(out);
        expectations.encode(out);
    }
}
