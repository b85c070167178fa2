// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.ClientView.Echoed;
import io.keyway.lock.peer.kernel.ClientView.Received;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer.SessionTurn;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.SessionFrame.Data;
import io.keyway.lock.peer.session.SessionFrame.Resume;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The session of a client with one incarnation of its member: what it takes, what it sends, and when it has to speak.
 * It outlives links.
 *
 * <p><b>States.</b> The numbered messages are in {@link MessageStream}, what is believed in {@link Beliefs}. A stamp is
 * <i>owed</i> from the sending of one until the highest that was sent has come back; messages that came are
 * <i>unacknowledged</i> until the next frame goes out. What is due is noted as a turn begins and sent by its flush.
 *
 * <p><b>Pace.</b> How often a stamp is sent, and how long an answer may be missing, follows from the smallest lease
 * that is held and the smallest that is waited with.
 *
 * <p><b>Invariants.</b> A frame is taken whole or not at all: its acknowledgement, its messages in order, then its
 * echo. Belief moves only by a stamp that this session has sent. A stamp goes with the last frame of a flush, behind
 * all that was said before it.
 */
final class OpenSession {
    private static final long SHORTEST_SILENCE = 100_000_000L;
    private static final long LONGEST_SILENCE = 10_000_000_000L;
    /** Of a session that is attentive. */
    private static final long ATTENTIVE_SILENCE = 1_000_000_000L;
    /** What stands between the two ends may forget a connection on which nothing is said. */
    private static final long LONGEST_HEARTBEAT = 10_000_000_000L;

    /** A key that is told when the member has the message of that number. */
    private record Receipt(long number, Key key) {}

    final Peer peer;
    final Incarnation member;
    private final long maxTtl;
    private Beliefs beliefs;
    private MessageStream stream = new MessageStream();
    /** The smallest ttl that is waited with; {@link Turn#NEVER} if none is. */
    private long waited = Turn.NEVER;
    /** Something is sent four times in that time; {@link Turn#NEVER} if only what is needed. */
    private long attention = Turn.NEVER;
    /** Nanoseconds that the member took for its last welcome. */
    private long roundTrip;
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
    /**
     * The last message that was acknowledged. Only a count that no search reaches depends on it, so it is no part of
     * the encoding.
     */
    private long ackedReceived;

    /** The messages of a frame are being processed, and its echo is not counted yet. */
    private boolean taking;

    /** In the order of their numbers. */
    private final ArrayDeque<Receipt> receipts = new ArrayDeque<>(0);
    /** Who is told when the next stamp has come back, before that is sent, and after; and who when this echo counts. */
    private final Set<Key> unstamped = new LinkedHashSet<>(0);

    private final Map<Key, Long> confirms = new LinkedHashMap<>(0);
    private final Set<Key> afterFrame = new LinkedHashSet<>(0);

    /** @param maxTtl the longest lease of the cluster */
    OpenSession(Peer peer, Incarnation member, long maxTtl, long now) {
        this.peer = peer;
        this.member = member;
        this.maxTtl = maxTtl;
        heard = now;
        beliefs = new Beliefs(now);
    }

    Beliefs beliefs() {
        return beliefs;
    }

    /** Queues a message; returns its number. */
    long add(Message message) {
        return stream.add(message);
    }

    /** How to go on with it over another link. */
    Resume resume() {
        return new Resume(member, peer.session(), stream.received());
    }

    /** True if the member has all that was said. */
    boolean allAcknowledged() {
        return !stream.unacknowledged();
    }

    /** When nothing of it is worth keeping: every lease of it is over by then, at the member too. */
    long forgetAt() {
        return heard + maxTtl;
    }

    // Pace

    /**
     * Says what the pace depends on besides the leases that are held.
     *
     * @param smallestWaited the smallest ttl that is waited with, or {@link Turn#NEVER}
     * @param attentive as {@link ClientHandshake#attention()}
     * @param lastRoundTrip nanoseconds from the last proof to its welcome
     */
    void pace(long smallestWaited, long attentive, long lastRoundTrip) {
        waited = smallestWaited;
        attention = attentive;
        roundTrip = lastRoundTrip;
    }

    /**
     * How often a stamp is sent: twice a lease while holding, four times while waiting, and every 10 s at least. Over a
     * slow link more often, so that the answer is here before the belief of three quarters of the lease ends.
     */
    long heartbeat() {
        long held = beliefs.smallest();
        if (held == Turn.NEVER && waited == Turn.NEVER && attention == Turn.NEVER) {
            return Math.min(LONGEST_HEARTBEAT, maxTtl / 4); // a lost session would not be missed
        }
        long inTime = Math.max(held / 8, held / 4 * 3 - roundTrip / 2 * 3);
        long kept = Math.min(held / 2, inTime);
        return Math.min(LONGEST_HEARTBEAT, Math.min(kept, Math.min(waited, attention) / 4));
    }

    private long smallest() {
        return Math.min(maxTtl, Math.min(beliefs.smallest(), waited));
    }

    /**
     * How long an answer may be missing: short enough to resume over another link before a belief that was renewed at
     * half of its lease ends, and long enough for a link that is slow but alive.
     */
    long silence() {
        long slow = Math.min(2 * roundTrip, maxTtl);
        long most = attention == Turn.NEVER ? LONGEST_SILENCE : Math.min(ATTENTIVE_SILENCE, attention / 2);
        return Math.max(Math.max(SHORTEST_SILENCE, slow), Math.min(most, smallest() / 6));
    }

    private long resendDelay() {
        return MessageStream.resendDelay(Math.min(smallest(), attention == Turn.NEVER ? maxTtl : 2 * attention));
    }

    // What is due

    /** True if an answer is missing for so long that another link is to be tried. */
    boolean silent(long now) {
        return owed() && now - owedSince >= silence();
    }

    private boolean owed() {
        return owedSince != Turn.NEVER;
    }

    /** A turn begins while a link is up: what is due is sent by the next flush. */
    void look(SessionTurn turn) {
        long now = turn.now();
        if (stream.resendDue(now)) {
            stream.resendLater(now);
            sendAgain(turn);
        }
        keepNow |= now - lastStamp() >= heartbeat();
        ackNow |= Turn.due(ackBy, now);
    }

    /** When it has something to do while a link is up. */
    long nextWork() {
        long next = Turn.earlier(stream.resendAt(), ackBy);
        next = Turn.earlier(next, lastStamp() + heartbeat());
        return owed() ? Turn.earlier(next, owedSince + silence()) : next;
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

    void stalled(long nanos) {
        if (owed()) {
            owedSince += nanos;
        }
    }

    // Links

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
        stream.resendNever();
        owedSince = Turn.NEVER;
        ackBy = Turn.NEVER;
    }

    // What comes

    /**
     * Takes a frame: its acknowledgement, its messages in order, and then its echo, since a message may end what the
     * echo would extend.
     *
     * @param algorithm whose messages may come
     * @param open false after the goodbye: nothing that comes behind it can be kept
     * @return why the peer is out of its mind; null if it is not
     */
    @Nullable
    String take(Data frame, int algorithm, boolean open, SessionTurn turn) {
        MessageStream.Fit fit = frame.session() == peer.session() ? stream.fit(frame) : MessageStream.Fit.BROKEN;
        if (fit == MessageStream.Fit.GAP) {
            turn.goal(SessionGoal.GAP_DROPPED);
            return null;
        }
        if (fit == MessageStream.Fit.BROKEN || (frame.stamped() && (!stamped || frame.stamp() - stamp > 0))) {
            return "the member answers what was never sent";
        }
        heard = turn.now();
        turn.heardClock(frame.clock());
        long delay = resendDelay();
        boolean progress = acknowledged(frame.ack(), turn);
        if (!frame.messages().isEmpty()) {
            ackBy = Turn.earlier(ackBy, turn.now() + delay / 4); // in time, or the member sends them again
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
            stream.progress(turn.now(), delay, owed() || stream.unacknowledged());
        }
        tellEchoed(turn);
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

    private boolean acknowledged(long upTo, SessionTurn turn) {
        boolean news = stream.acknowledged(upTo);
        while (!receipts.isEmpty() && receipts.peekFirst().number() <= stream.acked()) {
            Receipt first = receipts.removeFirst();
            turn.call(first.key(), new Received(first.number()));
        }
        return news;
    }

    // Who is told of it

    /** The key wants to know when the member has the message of that number. */
    void receipt(Key key, long number, Turn turn) {
        if (number <= stream.acked()) {
            turn.call(key, new Received(number));
            return;
        }
        Receipt receipt = new Receipt(number, key);
        if (receipts.isEmpty() || receipts.peekLast().number() <= number) {
            receipts.addLast(receipt);
            return;
        }
        List<Receipt> all = new ArrayList<>(receipts); // nobody asks for what it has sent as late as that
        all.add(receipt);
        all.sort(Comparator.comparingLong(Receipt::number));
        receipts.clear();
        receipts.addAll(all);
    }

    /** The key wants to know when the next stamp has come back, which is sent now. */
    void confirm(Key key) {
        unstamped.add(key);
        keepNow = true;
    }

    /** The key wants to know when the echo of the frame at hand has been counted; at once if there is none at hand. */
    void afterEcho(Key key, Turn turn) {
        if (taking) {
            afterFrame.add(key);
        } else {
            turn.call(key, Echoed.ECHOED);
        }
    }

    /** The echo of a frame has moved the beliefs, if it does. */
    private void tellEchoed(Turn turn) {
        if (!confirms.isEmpty()) {
            for (Iterator<Map.Entry<Key, Long>> all = confirms.entrySet().iterator(); all.hasNext(); ) {
                Map.Entry<Key, Long> next = all.next();
                if (beliefs.covers(next.getValue())) {
                    afterFrame.add(next.getKey());
                    all.remove();
                }
            }
        }
        if (!afterFrame.isEmpty()) {
            for (Key key : afterFrame) {
                turn.call(key, Echoed.ECHOED);
            }
            afterFrame.clear();
        }
    }

    /** All keys that must hear of its end, each once, and some that need not. */
    void keys(Set<Key> into) {
        beliefs.holders(into);
        for (Receipt receipt : receipts) {
            into.add(receipt.key());
        }
        into.addAll(unstamped);
        into.addAll(confirms.keySet());
        into.addAll(afterFrame);
    }

    /** Nothing is believed or expected any more. */
    void leave(long now) {
        beliefs = new Beliefs(now);
        receipts.clear();
        unstamped.clear();
        confirms.clear();
        afterFrame.clear();
    }

    // What goes out

    /**
     * Sends what is queued, stamped, or an acknowledgement if one is due. The stamp is taken before encoding, and goes
     * with the last frame: only behind all that was said.
     */
    void transmit(long link, SessionTurn turn) {
        if (keepNow || stream.unsent()) {
            stamp(turn.now());
            do {
                List<Message> messages = stream.send(SessionFrame.MAX_MESSAGES);
                turn.transmit(link, frame(messages, !stream.unsent(), turn));
            } while (stream.unsent());
            stream.sentAt(turn.now(), resendDelay());
        } else if (ackNow) {
            spoken();
            turn.transmit(link, frame(List.of(), false, turn));
        }
    }

    private void stamp(long now) {
        stamped = true;
        stamp = now;
        if (!owed()) {
            owedSince = now;
        }
        if (!unstamped.isEmpty()) {
            for (Key key : unstamped) {
                confirms.put(key, now);
            }
            unstamped.clear();
        }
        keepNow = false;
        spoken();
    }

    private void spoken() {
        ackedReceived = stream.received();
        ackBy = Turn.NEVER;
        ackNow = false;
    }

    private Data frame(List<Message> messages, boolean withStamp, SessionTurn turn) {
        long seq = stream.next() - messages.size();
        long echoed = withStamp ? stamp : 0;
        return new Data(peer.session(), seq, stream.received(), withStamp, echoed, turn.shownClock(), messages);
    }

    OpenSession copy() {
        OpenSession copy = new OpenSession(peer, member, maxTtl, heard);
        copy.stream = stream.copy();
        copy.beliefs = beliefs.copy();
        copy.waited = waited;
        copy.attention = attention;
        copy.roundTrip = roundTrip;
        copy.stamped = stamped;
        copy.stamp = stamp;
        copy.owedSince = owedSince;
        copy.ackBy = ackBy;
        copy.keepNow = keepNow;
        copy.ackNow = ackNow;
        copy.ackedReceived = ackedReceived;
        copy.receipts.addAll(receipts);
        copy.unstamped.addAll(unstamped);
        copy.confirms.putAll(confirms);
        copy.afterFrame.addAll(afterFrame);
        return copy;
    }

    /** What the pace depends on is encoded by whoever says it. */
    void encode(StateEncoder out) {
        out.put(peer).put(member.high()).put(member.low()).time(heard);
        out.put(stamped).time(stamped ? stamp : Turn.NEVER).time(owedSince).time(ackBy);
        out.put(keepNow).put(ackNow);
        stream.encode(out);
        beliefs.encode(out);
        out.put(receipts.size());
        for (Receipt receipt : receipts) {
            out.put(receipt.number()).put(receipt.key());
        }
        out.value(unstamped).value(afterFrame).put(confirms.size());
        for (Map.Entry<Key, Long> entry : confirms.entrySet()) {
            out.put(entry.getKey()).time(entry.getValue());
        }
    }
}
