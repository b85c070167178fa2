// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The smallest thing that can go wrong: clients count, a member must hear each number once and in order. It tests the
 * simulator, not the product.
 */
final class TinyModel implements Model {
    /** Ways to be wrong on purpose. */
    enum Flaw {
        NONE,
        TAKES_DOUBLES,
        NEVER_RESENDS,
        HIDDEN_STATE
    }

    enum TinyGoal implements CoverageGoal {
        RESENT
    }

    private static final Key KEY = new Key(9, "count");

    record Count(long client, long value) implements Message, Call, Notice {
        @Override
        public Key key() {
            return KEY;
        }
    }

    record TinyFrame(long from, long sequence, Message message) implements Frame {}

    record TinyAck(long sequence) implements Frame {}

    private final SimWorld world;
    private final Flaw flaw;
    private final long[] wanted;
    private final Map<Long, Long> heard = new TreeMap<>();

    TinyModel(SimWorld world, Flaw flaw) {
        this.world = world;
        this.flaw = flaw;
        this.wanted = new long[world.size()];
    }

    static List<Act> acts(Options options) {
        Draws draws = new Draws(options.seed(), 6);
        List<Act> acts = new ArrayList<>();
        for (int i = 0; i < options.acts(); i++) {
            acts.add(new Act(
                    draws.below(options.faultPhase()), (int) draws.between(1, options.clients()), 0, "count", 0, 0, 0));
        }
        return acts;
    }

    @Override
    public void start(SimNode node) {
        if (node.isMember()) {
            node.open(0, new Cell(new Counting(), new TinyMember(flaw)), null);
        } else {
            long client = node.index() * 1000L + node.incarnation();
            node.open(0, new Cell(new Counting(), new TinyClient(client, flaw)), world.member(0));
        }
    }

    @Override
    public void act(SimNode node, Act act) {
        long client = node.index() * 1000L + node.incarnation();
        node.input(new Input.Command(KEY, new Count(client, ++wanted[node.index()])));
    }

    @Override
    public void wake(SimNode node, long number, Object what) {}

    @Override
    public void notice(SimCell cell, Notice notice) {
        if (notice instanceof Count number) {
            long last = heard.getOrDefault(number.client(), 0L);
            if (number.value() != last + 1) {
                throw new Violation("ORDER", number + " after " + last);
            }
            heard.put(number.client(), number.value());
        }
    }

    @Override
    public void ended(SimNode node, boolean crash) {
        wanted[node.index()] = 0;
    }

    @Override
    public long session(SimNode client) {
        return 0;
    }

    @Override
    public List<Oracle> oracles() {
        return List.of();
    }

    @Override
    public String waiting() {
        StringBuilder text = new StringBuilder();
        for (int i = 1; i < wanted.length; i++) {
            long client = i * 1000L + world.node(i).incarnation();
            if (wanted[i] != heard.getOrDefault(client, 0L)) {
                text.append(" client").append(i).append(" for ").append(wanted[i]);
            }
        }
        return text.toString();
    }

    @Override
    public String leftOver() {
        return "";
    }

    @Override
    public long finishWithin() {
        return 10 * Nanos.SECOND;
    }

    @Override
    public long cleanWithin() {
        return 0;
    }

    private static final class Counting implements MachineFactory {
        @Override
        public Machine create(Key key) {
            return new Relay();
        }
    }

    /** Sends what it is called with, tells what it receives. */
    private static final class Relay implements Machine {
        @Override
        public void received(Peer from, Message message, Turn turn) {
            turn.tell((Count) message);
        }

        @Override
        public void called(Call call, Turn turn) {
            turn.send(new Peer(1), (Count) call);
        }

        @Override
        public void due(int slot, Turn turn) {}

        @Override
        public boolean atRest() {
            return true;
        }

        @Override
        public Machine copy() {
            return new Relay();
        }

        @Override
        public void encode(StateEncoder out) {}
    }

    private abstract static class Tiny implements SessionLayer {
        @Override
        public void begin(SessionTurn turn) {}

        @Override
        public void died(long session, SessionTurn turn) {}

        @Override
        public void stalled(long nanos) {}

        @Override
        public void closing(SessionTurn turn) {}

        @Override
        public void forced(long ticket, SessionTurn turn) {}
    }

    private static final class TinyMember extends Tiny {
        private final Flaw flaw;
        private final Map<Long, Long> last = new TreeMap<>();

        TinyMember(Flaw flaw) {
            this.flaw = flaw;
        }

        @Override
        public void opened(long link, SessionTurn turn) {}

        @Override
        public void closed(long link, String why, SessionTurn turn) {}

        @Override
        public void arrived(long link, Frame frame, SessionTurn turn) {
            TinyFrame number = (TinyFrame) frame;
            long expected = last.getOrDefault(number.from(), 0L) + 1;
            if (number.sequence() == expected || (flaw == Flaw.TAKES_DOUBLES && number.sequence() < expected)) {
                last.put(number.from(), number.sequence());
                turn.accept(new Peer(number.from()), number.message());
            }
            turn.transmit(link, new TinyAck(last.getOrDefault(number.from(), 0L)));
        }

        @Override
        public long send(Peer to, Message message) {
            return 0;
        }

        @Override
        public void flush(SessionTurn turn) {}

        @Override
        public SessionLayer copy() {
            TinyMember copy = new TinyMember(flaw);
            copy.last.putAll(last);
            return copy;
        }

        @Override
        public void encode(StateEncoder out) {
            out.value(last);
        }
    }

    private static final class TinyClient extends Tiny {
        private final long self;
        private final Flaw flaw;
        private final List<Message> unacknowledged = new ArrayList<>();
        private long first = 1;
        private long link;
        private boolean up;
        private boolean fresh;
        private long dialAt = Turn.NEVER;
        private long sendAt = Turn.NEVER;

        TinyClient(long self, Flaw flaw) {
            this.self = self;
            this.flaw = flaw;
        }

        @Override
        public void opened(long opened, SessionTurn turn) {
            up = true;
            sendAll(turn);
        }

        @Override
        public void closed(long closed, String why, SessionTurn turn) {
            up = false;
            dialAt = turn.now() + 50 * Nanos.MILLI;
        }

        @Override
        public void arrived(long from, Frame frame, SessionTurn turn) {
            long sequence = ((TinyAck) frame).sequence();
            while (first <= sequence) {
                unacknowledged.remove(0);
                first++;
            }
            if (unacknowledged.isEmpty()) {
                sendAt = Turn.NEVER;
            }
        }

        @Override
        public void begin(SessionTurn turn) {
            if (Turn.due(dialAt, turn.now())) {
                dialAt = Turn.NEVER;
                turn.dial(++link);
            }
            if (Turn.due(sendAt, turn.now())) {
                sendAt = Turn.NEVER;
                if (flaw != Flaw.NEVER_RESENDS) {
                    turn.goal(TinyGoal.RESENT);
                    sendAll(turn);
                }
            }
        }

        private void sendAll(SessionTurn turn) {
            for (int i = 0; up && i < unacknowledged.size(); i++) {
                turn.transmit(link, new TinyFrame(self, first + i, unacknowledged.get(i)));
            }
            if (!unacknowledged.isEmpty()) {
                sendAt = turn.now() + 100 * Nanos.MILLI;
            }
        }

        @Override
        public long send(Peer to, Message message) {
            unacknowledged.add(message);
            fresh = true;
            return first + unacknowledged.size() - 1;
        }

        @Override
        public void flush(SessionTurn turn) {
            if (link == 0) {
                turn.dial(++link);
            }
            if (fresh) {
                fresh = false;
                sendAll(turn);
            }
            turn.wake(Turn.earlier(dialAt, sendAt));
        }

        @Override
        public SessionLayer copy() {
            TinyClient copy = new TinyClient(self, flaw);
            copy.unacknowledged.addAll(unacknowledged);
            copy.first = first;
            copy.link = link;
            copy.up = up;
            copy.fresh = flaw != Flaw.HIDDEN_STATE && fresh;
            copy.dialAt = dialAt;
            copy.sendAt = sendAt;
            return copy;
        }

        @Override
        public void encode(StateEncoder out) {
            out.value(unacknowledged).put(first).put(link).put(up).time(dialAt).time(sendAt);
            if (flaw != Flaw.HIDDEN_STATE) {
                out.put(fresh);
            }
        }
    }
}
