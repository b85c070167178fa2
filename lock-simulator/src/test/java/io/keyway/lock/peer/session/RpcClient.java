// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The session of a client at the grain of calls, with the beliefs that ship: see {@link RpcMember}. It speaks when it
 * has something to say, twice a lease while it holds and four times while it waits.
 */
public final class RpcClient implements SessionLayer, ClientView {
    private static final Peer NONE = new Peer(0);

    private record Receipt(long number, Key key) {}

    private Beliefs beliefs = new Beliefs(0);
    private final Map<Key, Long> awaited = new LinkedHashMap<>(2);
    private final Map<Key, Long> confirms = new LinkedHashMap<>(2);
    private final Set<Key> unstamped = new LinkedHashSet<>(2);
    private final Set<Key> afterFrame = new LinkedHashSet<>(2);
    private final ArrayDeque<Receipt> receipts = new ArrayDeque<>(2);
    private final List<Message> out = new ArrayList<>(2);
    private Peer session = NONE;
    private long lastStamp;
    private long sent;
    private long acked;
    private boolean keepNow;
    private boolean taking;
    private @Nullable SessionTurn turn;

    // The layer

    @Override
    public void begin(SessionTurn begun) {
        turn = begun;
        if (exists()) {
            beliefs.lapse(begun);
            keepNow |= Turn.due(nextKeep(), begun.now());
        }
    }

    private long nextKeep() {
        long held = beliefs.smallest();
        long waited = Turn.NEVER;
        for (long ttl : awaited.values()) {
            waited = Math.min(waited, ttl);
        }
        return held == Turn.NEVER && waited == Turn.NEVER ? Turn.NEVER : lastStamp + Math.min(held / 2, waited / 4);
    }

    /** A stamp that was sent longer ago is overdue, whatever the lease: it may as well have been sent then. */
    public void stampedAtLeast(long at) {
        lastStamp = Math.max(lastStamp, at);
    }

    /** Whether it would dial if it had no session. */
    public boolean wanted() {
        return !awaited.isEmpty();
    }

    @Override
    public void opened(long link, SessionTurn turn) {
        session = new Peer(link);
        beliefs = new Beliefs(turn.now());
        lastStamp = turn.now();
        keepNow = true;
        for (Key key : List.copyOf(awaited.keySet())) {
            turn.call(key, new SessionOpen(session, false));
        }
    }

    /** The member ended the session, or was {@code restarted}. */
    @Override
    public void closed(long link, String why, SessionTurn turn) {
        Set<Key> keys = new LinkedHashSet<>(awaited.keySet());
        beliefs.holders(keys);
        receipts.forEach(receipt -> keys.add(receipt.key()));
        keys.addAll(unstamped);
        keys.addAll(confirms.keySet());
        SessionGone gone = new SessionGone(session, "restarted".equals(why), why);
        session = NONE;
        beliefs = new Beliefs(turn.now());
        receipts.clear();
        unstamped.clear();
        confirms.clear();
        out.clear();
        sent = 0;
        acked = 0;
        keepNow = false;
        keys.forEach(key -> turn.call(key, gone));
    }

    /**
     * A frame of the member, and the highest stamp that it had heard.
     *
     * @param echo on this client's clock; {@link Turn#NEVER} if there is none
     */
    public record Echoing(RpcFrame said, long echo) implements Frame {}

    /** Messages come before the echo, since one of them may end what the echo would extend. */
    @Override
    public void arrived(long link, Frame arrived, SessionTurn turn) {
        Echoing frame = (Echoing) arrived;
        turn.heardClock(frame.said().clock());
        acked += frame.said().acks();
        while (!receipts.isEmpty() && receipts.peekFirst().number() <= acked) {
            Receipt first = receipts.removeFirst();
            turn.call(first.key(), new Received(first.number()));
        }
        taking = true;
        for (Message message : frame.said().messages()) {
            turn.accept(session, message);
        }
        taking = false;
        if (frame.echo() != Turn.NEVER) {
            beliefs.echoed(frame.echo(), turn);
        }
        for (Map.Entry<Key, Long> confirm : List.copyOf(confirms.entrySet())) {
            if (beliefs.covers(confirm.getValue())) {
                confirms.remove(confirm.getKey());
                afterFrame.add(confirm.getKey());
            }
        }
        for (Key key : List.copyOf(afterFrame)) {
            turn.call(key, Echoed.ECHOED);
        }
        afterFrame.clear();
    }

    @Override
    public void died(long id, SessionTurn turn) {}

    @Override
    public void stalled(long nanos) {}

    @Override
    public void closing(SessionTurn turn) {}

    @Override
    public void forced(long ticket, SessionTurn turn) {}

    @Override
    public long send(Peer to, Message message) {
        if (!exists() || !to.equals(session)) {
            return 0;
        }
        out.add(aged(message));
        return ++sent;
    }

    /** Who has waited for longer than a lease has waited as long as anybody: longer times are the same. */
    private static Message aged(Message message) {
        if (!(message instanceof LockMessage.Acquire acquire) || acquire.waited() <= acquire.ttl()) {
            return message;
        }
        return new LockMessage.Acquire(
                acquire.key(),
                acquire.request(),
                acquire.mode(),
                acquire.permits(),
                acquire.capacity(),
                acquire.perResource(),
                acquire.ttl(),
                acquire.noWait(),
                acquire.wantPlace(),
                acquire.cache(),
                acquire.ttl(),
                acquire.patience(),
                acquire.atLeast(),
                acquire.converts(),
                acquire.quiet(),
                acquire.owner());
    }

    @Override
    public void flush(SessionTurn turn) {
        if (!exists()) {
            turn.wake(Turn.NEVER);
            return;
        }
        if (keepNow || !out.isEmpty()) {
            lastStamp = turn.now();
            unstamped.forEach(key -> confirms.put(key, turn.now()));
            unstamped.clear();
            turn.transmit(session.session(), new RpcFrame(List.copyOf(out), 0, turn.shownClock()));
            out.clear();
            keepNow = false;
        }
        turn.wake(Turn.earlier(beliefs.next(), nextKeep()));
    }

    // What helpers see of it

    @Override
    public Peer session() {
        return session;
    }

    @Override
    public boolean exists() {
        return session.session() != 0;
    }

    @Override
    public boolean connected() {
        return exists();
    }

    @Override
    public void heard(long epoch) {}

    @Override
    public Set<Key> holders() {
        return Set.of();
    }

    @Override
    public Belief belief(long ttl) {
        return beliefs.belief(ttl);
    }

    @Override
    public void hold(Key key, long ttl) {
        beliefs.hold(key, ttl);
    }

    @Override
    public void unhold(Key key, long ttl) {
        beliefs.unhold(key, ttl);
    }

    @Override
    public void await(Key key, long ttl) {
        awaited.put(key, ttl);
    }

    @Override
    public void unawait(Key key, long ttl) {
        awaited.remove(key);
    }

    @Override
    public void receipt(Key key, long number) {
        if (number <= acked && turn != null) {
            turn.call(key, new Received(number));
        } else {
            receipts.addLast(new Receipt(number, key));
        }
    }

    @Override
    public void confirm(Key key) {
        unstamped.add(key);
        keepNow = true;
    }

    @Override
    public void afterEcho(Key key) {
        if (taking) {
            afterFrame.add(key);
        } else if (turn != null) {
            turn.call(key, Echoed.ECHOED);
        }
    }

    // State

    @Override
    public RpcClient copy() {
        RpcClient copy = new RpcClient();
        copy.beliefs = beliefs.copy();
        copy.awaited.putAll(awaited);
        copy.confirms.putAll(confirms);
        copy.unstamped.addAll(unstamped);
        copy.receipts.addAll(receipts);
        copy.session = session;
        copy.lastStamp = lastStamp;
        copy.sent = sent;
        copy.acked = acked;
        copy.keepNow = keepNow;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        out.put(session).time(lastStamp).put(sent).put(acked).put(keepNow);
        beliefs.encode(out);
        out.put(awaited.size());
        awaited.forEach((key, ttl) -> out.put(key).put(ttl));
        out.put(confirms.size());
        confirms.forEach((key, since) -> out.put(key).time(since));
        out.value(unstamped).put(receipts.size());
        receipts.forEach(receipt -> out.put(receipt.number()).put(receipt.key()));
    }
}
