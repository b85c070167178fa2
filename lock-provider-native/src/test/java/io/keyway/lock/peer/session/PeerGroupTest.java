// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Driver;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.PeerView.PeerDown;
import io.keyway.lock.peer.kernel.PeerView.PeerSuspected;
import io.keyway.lock.peer.kernel.PeerView.PeerTrusted;
import io.keyway.lock.peer.kernel.PeerView.PeerUp;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a member says of another one that is silent, comes back, or starts anew. */
class PeerGroupTest {
    private static final int ALGORITHM = 9;
    private static final Key WATCHER = new Key(ALGORITHM, "watcher");
    private static final List<String> MEMBERS = List.of("a:1", "b:1");
    private static final long MS = 1_000_000;
    private static final long MAX_TTL = 60_000 * MS;
    private static final SessionSettings SETTINGS =
            SessionSettings.of("c", 1, 2, ALGORITHM, MAX_TTL, Authenticator.none());

    private record Watch() implements Call {}

    private record Say() implements Call {}

    /** A lease for the member that says so, and the answer. */
    private record Word(Key key) implements Message {}

    private final ArrayDeque<Runnable> underWay = new ArrayDeque<>();
    private long now = MS;
    private final Member a = new Member("a:1");
    private final Member b = new Member("b:1");
    private boolean cut;

    /** One process after another under one id, all on one link at a time to the other one. */
    private final class Member implements Driver {
        final String id;
        final Map<Long, Long> there = new HashMap<>();
        final List<Call> seen = new ArrayList<>();
        /** What its disk is to say, while it takes its time. */
        final List<Input> unforced = new ArrayList<>();

        Horizon horizon = Horizon.NONE;
        boolean slowDisk;
        int words;
        Cell cell;
        long life;
        long accepted;
        long draws;

        Member(String id) {
            this.id = id;
            this.cell = newCell();
        }

        private Cell newCell() {
            Membership membership = new Membership(id, MEMBERS, 0, 1, false, 0, 1000);
            Incarnation self = new Incarnation(id.hashCode(), life);
            MemberSessions sessions = new MemberSessions(SETTINGS, membership, self, life, now, horizon);
            return new Cell(key -> new Watcher(), sessions.withPeers(false));
        }

        Member other() {
            return this == a ? b : a;
        }

        void start() {
            there.clear();
            life++;
            cell = newCell();
            input(new Input.Command(WATCHER, new Watch()));
        }

        void input(Input input) {
            cell.input(input, this);
            cell.flush(this);
        }

        private void later(Input input) {
            long to = life;
            underWay.add(() -> {
                if (life == to) {
                    input(input);
                }
            });
        }

        /** Every link ends, as of a process that is gone. */
        void drop() {
            Map<Long, Long> links = new HashMap<>(there);
            there.clear();
            links.forEach((mine, theirs) -> {
                other().there.remove(theirs);
                later(new Input.Closed(mine, "broken"));
                other().later(new Input.Closed(theirs, "broken"));
            });
        }

        @Override
        public long clock() {
            return now;
        }

        @Override
        public long random() {
            return StateEncoder.mix(id.hashCode() + draws++);
        }

        @Override
        public void dial(long link) {
            if (cut) {
                later(new Input.Closed(link, "no answer"));
                return;
            }
            long theirs = ++other().accepted;
            there.put(link, theirs);
            other().there.put(theirs, link);
            other().later(new Input.Opened(theirs));
            later(new Input.Opened(link));
        }

        @Override
        public void transmit(long link, Frame frame) {
            Long theirs = there.get(link);
            if (theirs != null && !cut) {
                other().later(new Input.Arrived(theirs, frame));
            }
        }

        @Override
        public void hangUp(long link) {
            Long theirs = there.remove(link);
            if (theirs != null) {
                other().there.remove(theirs);
                other().later(new Input.Closed(theirs, "hung up"));
            }
        }

        @Override
        public void persist(DurableRecord record, long ticket) {
            if (slowDisk) {
                unforced.add(new Input.Forced(ticket));
            } else {
                later(new Input.Forced(ticket));
            }
        }

        @Override
        public void deliver(Notice notice) {}

        private final class Watcher implements Machine {
            @Override
            public void received(Peer from, Message message, Turn turn) {
                words++;
                if (Member.this == a) {
                    turn.member().grant(from, WATCHER, 1, 2 * MAX_TTL);
                    turn.peers().send(turn.peers().member(from), message);
                }
            }

            @Override
            public void called(Call call, Turn turn) {
                if (call instanceof Watch) {
                    turn.peers().watch(WATCHER);
                } else if (call instanceof Say) {
                    turn.peers().send(other().id, new Word(WATCHER));
                } else {
                    seen.add(call);
                }
            }

            @Override
            public void due(int slot, Turn turn) {}

            @Override
            public boolean atRest() {
                return false;
            }

            @Override
            public Machine copy() {
                return new Watcher();
            }

            @Override
            public void encode(StateEncoder out) {}
        }
    }

    private void settle() {
        while (!underWay.isEmpty()) {
            Objects.requireNonNull(underWay.poll()).run();
        }
    }

    private void pass(long nanos) {
        long end = now + nanos;
        settle();
        while (true) {
            Member first = a.cell.nextDue() <= b.cell.nextDue() ? a : b;
            if (first.cell.nextDue() > end) {
                break;
            }
            now = Math.max(now, first.cell.nextDue());
            first.input(new Input.Tick());
            settle();
        }
        now = end;
    }

    @BeforeEach
    void bothMeet() {
        a.start();
        b.start();
        pass(1_000 * MS);
        assertThat(a.seen).containsExactly(new PeerUp("b:1", false));
        assertThat(b.seen).containsExactly(new PeerUp("a:1", false));
        a.seen.clear();
        b.seen.clear();
    }

    @Test
    void oneThatIsSilentIsSuspectedUntilItAnswers() {
        cut = true;
        pass(5_000 * MS);
        assertThat(a.seen).containsExactly(new PeerSuspected("b:1"));
        cut = false;
        pass(3_000 * MS);
        assertThat(a.seen).containsExactly(new PeerSuspected("b:1"), new PeerTrusted("b:1"));
    }

    @Test
    void aStallOfItsOwnIsNoAnswerOfOneThatIsSuspected() {
        cut = true;
        pass(5_000 * MS);
        assertThat(a.seen).containsExactly(new PeerSuspected("b:1"));
        now += 2_000 * MS;
        a.input(new Input.Stalled(2_000 * MS));
        pass(1_000 * MS);
        assertThat(a.seen).as("nothing was heard").containsExactly(new PeerSuspected("b:1"));
        cut = false;
        pass(3_000 * MS);
        assertThat(a.seen).containsExactly(new PeerSuspected("b:1"), new PeerTrusted("b:1"));
    }

    @Test
    void aStallOfItsOwnIsNoSilenceOfOneThatIsTrusted() {
        now += 20_000 * MS;
        a.input(new Input.Stalled(20_000 * MS));
        pass(3_000 * MS);
        assertThat(a.seen).isEmpty();
    }

    @Test
    void aRestartIsToldOnce() {
        b.drop();
        b.start();
        pass(3_000 * MS);
        assertThat(a.seen).containsExactly(new PeerDown("b:1", true, "it was restarted"), new PeerUp("b:1", true));
        a.seen.clear();
        cut = true;
        a.drop();
        pass(2 * MAX_TTL);
        cut = false;
        pass(3_000 * MS);
        assertThat(a.seen.get(a.seen.size() - 1)).as("the same life as before").isEqualTo(new PeerUp("b:1", false));
    }

    /** By the word other members come to count on this one: it outlasts a start only if the horizon is on disk. */
    @Test
    void whatAMemberIsToldOfALeaseWaitsForTheHorizonAsWhatAClientIsTold() {
        a.drop();
        a.horizon = new Horizon(now, MAX_TTL / 2);
        a.start();
        pass(3_000 * MS);
        a.slowDisk = true;
        b.input(new Input.Command(WATCHER, new Say()));
        settle();
        assertThat(a.words).isEqualTo(1);
        assertThat(b.words).as("the disk of a has not answered").isZero();
        a.unforced.forEach(a::input);
        settle();
        assertThat(b.words).isEqualTo(1);
    }
}
