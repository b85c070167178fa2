// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The session of a client over a link that loses nothing. A link that is opened is a fresh session; scripts say when it
 * is gone.
 */
final class PlainClient implements SessionLayer, ClientView {
    private static final Peer NONE = new Peer(0);

    private final Map<Long, Belief> beliefs = new TreeMap<>();

    private record Hold(Key key, long ttl) {}

    private final Set<Hold> holders = new LinkedHashSet<>();
    private final Map<Key, Long> waiters = new LinkedHashMap<>();
    private final Set<Long> doubted = new LinkedHashSet<>();
    private final Map<Key, Long> confirming = new LinkedHashMap<>();
    private final Set<Key> afterEcho = new LinkedHashSet<>();
    private final TreeMap<Long, Key> receipts = new TreeMap<>();
    private final List<Message> out = new ArrayList<>();
    private Peer session = NONE;
    private long echo = Turn.NEVER;
    private long lastStamp;
    private long sent;
    private long acked;
    private long now;
    private @Nullable SessionTurn turn;
    private boolean heartbeat;

    @Override
    public void begin(SessionTurn begun) {
        turn = begun;
        now = begun.now();
        beliefs.forEach((ttl, belief) -> {
            if (!belief.holds(now)) {
                for (Hold hold : List.copyOf(holders)) {
                    if (hold.ttl() == ttl) {
                        holders.remove(hold);
                        begun.call(hold.key(), new Lapsed(ttl));
                    }
                }
            } else if (now - belief.doubtful() >= 0 && holds(ttl) && doubted.add(ttl)) {
                tellHolders(ttl, new Doubted(ttl), begun);
            }
        });
        arm(begun);
    }

    private void tellHolders(long ttl, Call call, Turn turn) {
        holders.forEach(hold -> {
            if (hold.ttl() == ttl) {
                turn.call(hold.key(), call);
            }
        });
    }

    private boolean holds(long ttl) {
        return holders.stream().anyMatch(hold -> hold.ttl() == ttl);
    }

    private void arm(SessionTurn turn) {
        long due = Turn.NEVER;
        for (Hold hold : holders) {
            Belief belief = belief(hold.ttl());
            due = Math.min(due, doubted.contains(hold.ttl()) ? belief.deadline() : belief.doubtful());
            due = Math.min(due, lastStamp + hold.ttl() / 2);
        }
        for (long ttl : waiters.values()) {
            due = Math.min(due, lastStamp + ttl / 4);
        }
        turn.wake(exists() ? due : Turn.NEVER);
    }

    @Override
    public void opened(long link, SessionTurn turn) {
        session = new Peer(link);
        echo = Turn.NEVER;
        waiters.keySet().forEach(key -> turn.call(key, new SessionOpen(session, false)));
    }

    /** The member ended the session, or restarted. */
    void gone(boolean restarted, SessionTurn turn) {
        Peer was = session;
        session = NONE;
        Set<Key> keys = new LinkedHashSet<>();
        holders.forEach(hold -> keys.add(hold.key()));
        keys.addAll(waiters.keySet());
        holders.clear();
        beliefs.clear();
        doubted.clear();
        confirming.clear();
        receipts.clear();
        out.clear();
        sent = 0;
        acked = 0;
        keys.forEach(key -> turn.call(key, new SessionGone(was, restarted, "its session is over")));
    }

    @Override
    public void closed(long link, String why, SessionTurn turn) {
        if (session.session() == link) {
            gone("restarted".equals(why), turn);
        }
    }

    @Override
    public void arrived(long link, Frame frame, SessionTurn turn) {
        PlainFrame plain = (PlainFrame) frame;
        if (session.session() != link) {
            return;
        }
        plain.messages().forEach(message -> turn.accept(session, message));
        if (plain.stamp() != Turn.NEVER && (echo == Turn.NEVER || plain.stamp() > echo)) {
            echo = plain.stamp();
            beliefs.values().forEach(belief -> {
                belief.echoed(echo);
                if (belief.doubtful() - turn.now() > 0 && doubted.remove(belief.ttl())) {
                    tellHolders(belief.ttl(), new Certain(belief.ttl()), turn);
                }
            });
        }
        acked = Math.max(acked, plain.seen());
        while (!receipts.isEmpty() && receipts.firstKey() <= acked) {
            Map.Entry<Long, Key> first = receipts.pollFirstEntry();
            turn.call(first.getValue(), new Received(first.getKey()));
        }
        call(afterEcho, new Echoed(), turn);
        Set<Key> confirmed = new LinkedHashSet<>();
        confirming.forEach((key, since) -> {
            if (echo != Turn.NEVER && echo >= since) {
                confirmed.add(key);
            }
        });
        confirming.keySet().removeAll(confirmed);
        call(confirmed, new Echoed(), turn);
    }

    private static void call(Set<Key> keys, Call call, Turn turn) {
        List<Key> all = List.copyOf(keys);
        keys.clear();
        all.forEach(key -> turn.call(key, call));
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
        if (!to.equals(session) || session.equals(NONE)) {
            return 0;
        }
        out.add(message);
        return ++sent;
    }

    @Override
    public void flush(SessionTurn turn) {
        boolean due = false;
        for (long ttl : waiters.values()) {
            due |= now - lastStamp >= ttl / 4;
        }
        for (Hold hold : holders) {
            due |= now - lastStamp >= hold.ttl() / 2;
        }
        if (!session.equals(NONE) && (heartbeat || due || !out.isEmpty())) {
            lastStamp = turn.now();
            turn.transmit(session.session(), new PlainFrame(session.session(), lastStamp, 0, List.copyOf(out)));
            out.clear();
            heartbeat = false;
        }
        arm(turn);
    }

    @Override
    public Peer session() {
        return session;
    }

    @Override
    public boolean exists() {
        return !session.equals(NONE);
    }

    @Override
    public boolean connected() {
        return exists();
    }

    @Override
    public void heard(long epoch) {}

    @Override
    public Set<Key> holders() {
        Set<Key> keys = new LinkedHashSet<>();
        holders.forEach(hold -> keys.add(hold.key()));
        return keys;
    }

    @Override
    public Belief belief(long ttl) {
        return beliefs.computeIfAbsent(ttl, t -> new Belief(t, echo == Turn.NEVER ? now : echo + t - t / 4));
    }

    @Override
    public void hold(Key key, long ttl) {
        holders.add(new Hold(key, ttl));
    }

    @Override
    public void unhold(Key key, long ttl) {
        holders.remove(new Hold(key, ttl));
    }

    @Override
    public void await(Key key, long ttl) {
        waiters.put(key, ttl);
    }

    @Override
    public void unawait(Key key, long ttl) {
        waiters.remove(key);
    }

    @Override
    public void receipt(Key key, long number) {
        if (number <= acked && turn != null) {
            turn.call(key, new Received(number));
        } else {
            receipts.put(number, key);
        }
    }

    @Override
    public void confirm(Key key) {
        heartbeat = true;
        confirming.put(key, now);
    }

    @Override
    public void afterEcho(Key key) {
        afterEcho.add(key);
    }

    @Override
    public PlainClient copy() {
        PlainClient copy = new PlainClient();
        beliefs.forEach((ttl, belief) -> copy.beliefs.put(ttl, new Belief(ttl, belief.deadline())));
        copy.holders.addAll(holders);
        copy.waiters.putAll(waiters);
        copy.doubted.addAll(doubted);
        copy.confirming.putAll(confirming);
        copy.afterEcho.addAll(afterEcho);
        copy.receipts.putAll(receipts);
        copy.out.addAll(out);
        copy.session = session;
        copy.echo = echo;
        copy.lastStamp = lastStamp;
        copy.sent = sent;
        copy.acked = acked;
        copy.now = now;
        copy.heartbeat = heartbeat;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        out.put(session).time(echo).time(lastStamp).put(sent).put(acked).put(heartbeat);
        beliefs.values().forEach(belief -> out.put(belief.ttl()).time(belief.deadline()));
        out.value(holders)
                .value(waiters)
                .value(doubted)
                .value(afterEcho)
                .value(receipts)
                .value(this.out);
        confirming.forEach((key, since) -> out.put(key).time(since));
    }
}
