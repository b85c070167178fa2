// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Driver;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A member and a client on one clock, joined by links that a script can cut, delay and rob of frames. */
final class World {
    static final long MS = 1_000_000L;
    static final long MAX_TTL = 60_000 * MS;
    static final Incarnation CLIENT = new Incarnation(0xC, 1);
    static final Incarnation MEMBER = new Incarnation(0xA, 1);

    /** One end of a world: a cell and what it did. */
    final class End implements Driver {
        final boolean member;
        Cell cell;
        final List<Notice> notices = new ArrayList<>();
        final List<Frame> sent = new ArrayList<>();
        final TreeMap<Long, DurableRecord> unforced = new TreeMap<>();
        boolean forceAtOnce = true;
        private long draws;

        End(boolean member, Cell cell) {
            this.member = member;
            this.cell = cell;
        }

        void input(Input input) {
            cell.input(input, this);
            cell.flush(this);
        }

        void work(Consumer<Turn> work) {
            input(new Input.Command(Numbered.KEY, new Numbered.Do(work)));
        }

        <T extends Call> List<T> told(Class<T> type) {
            List<T> told = new ArrayList<>();
            for (Notice notice : notices) {
                if (notice instanceof Numbered.Told one && type.isInstance(one.call())) {
                    told.add(type.cast(one.call()));
                }
            }
            return told;
        }

        List<Long> heard() {
            List<Long> heard = new ArrayList<>();
            for (Notice notice : notices) {
                if (notice instanceof Numbered.Heard one) {
                    heard.add(one.value());
                }
            }
            return heard;
        }

        <T extends Frame> T lastSent(Class<T> type) {
            for (int i = sent.size() - 1; i >= 0; i--) {
                if (type.isInstance(sent.get(i))) {
                    return type.cast(sent.get(i));
                }
            }
            throw new AssertionError("no " + type.getSimpleName() + " among " + sent);
        }

        void force() {
            while (!unforced.isEmpty()) {
                long ticket = unforced.pollFirstEntry().getKey();
                input(new Input.Forced(ticket));
            }
        }

        @Override
        public long clock() {
            return now;
        }

        @Override
        public long random() {
            return StateEncoder.mix(++draws * (member ? 1 : -1));
        }

        @Override
        public void dial(long link) {
            dialled.add(link);
            dials++;
        }

        @Override
        public void transmit(long link, Frame frame) {
            sent.add(frame);
            if (open.contains(link) && !deaf && keep.test(frame)) {
                (member ? toClient : toMember).addLast(new Input.Arrived(link, frame));
            }
        }

        @Override
        public String origin(long link) {
            return "link " + link;
        }

        @Override
        public void hangUp(long link) {
            if (open.remove(link)) {
                (member ? toClient : toMember).addLast(new Input.Closed(link, "hung up"));
            }
            dialled.remove(link);
        }

        @Override
        public void persist(DurableRecord record, long ticket) {
            unforced.put(ticket, record);
        }

        @Override
        public void deliver(Notice notice) {
            notices.add(notice);
        }

        @Override
        public void reached(CoverageGoal goal) {
            goals.add(goal.name());
        }
    }

    long now = 1000 * MS;
    End member;
    End client;
    final TreeSet<Long> dialled = new TreeSet<>();
    final TreeSet<Long> open = new TreeSet<>();
    final ArrayDeque<Input> toMember = new ArrayDeque<>();
    final ArrayDeque<Input> toClient = new ArrayDeque<>();
    final TreeSet<String> goals = new TreeSet<>();
    /** How often the client asked for a link. */
    int dials;

    boolean reachable = true;
    /** Frames vanish while links stay up. */
    boolean deaf;

    Predicate<Frame> keep = frame -> true;

    World(SessionSettings ofMember, SessionSettings ofClient) {
        this(ofMember, ofClient, Membership.single("a:1"), SessionTarget.ONLY_MEMBER);
    }

    World(SessionSettings ofMember, SessionSettings ofClient, Membership membership, SessionTarget aim) {
        MemberSessions sessions = new MemberSessions(ofMember, membership, MEMBER, 7, now, Horizon.NONE);
        member = new End(true, new Cell(new Numbered(), sessions));
        client = new End(false, new Cell(new Numbered(), new ClientSession(ofClient, CLIENT, aim, List.of(), 0, 0)));
    }

    World() {
        this(settings("c", Authenticator.none()), settings("c", Authenticator.none()));
    }

    static SessionSettings settings(String cluster, Authenticator authenticator) {
        return SessionSettings.of(cluster, 11, 22, Numbered.ID, MAX_TTL, authenticator);
    }

    static MemberSessions memberSessions(SessionSettings settings, Incarnation self, long epoch, long quarantine) {
        return new MemberSessions(settings, "a:1", self, epoch, quarantine, Horizon.NONE);
    }

    ClientSession clientSide() {
        return (ClientSession) client.cell.sessions();
    }

    MemberSessions memberSide() {
        return (MemberSessions) member.cell.sessions();
    }

    /** Another life of the member's process, on the same address. */
    void restartMember(Incarnation incarnation, long epoch, long quarantineFor) {
        for (Long link : List.copyOf(open)) {
            cut(link);
        }
        toMember.clear();
        MemberSessions sessions =
                memberSessions(settings("c", Authenticator.none()), incarnation, epoch, now + quarantineFor);
        member = new End(true, new Cell(new Numbered(), sessions));
    }

    /** The member keeps a promise on its disk, this far ahead of need, and a script says when it is forced. */
    void keepHorizon(Incarnation incarnation, long epoch, long ahead) {
        SessionSettings settings = settings("c", Authenticator.none());
        Horizon horizon = new Horizon(now, ahead);
        member = new End(
                true, new Cell(new Numbered(), new MemberSessions(settings, "a:1", incarnation, epoch, now, horizon)));
        member.forceAtOnce = false;
    }

    /** Both ends hear that the link is down; what was under way is lost. */
    void cut(long link) {
        open.remove(link);
        toMember.removeIf(input -> input instanceof Input.Arrived arrived && arrived.link() == link);
        toClient.removeIf(input -> input instanceof Input.Arrived arrived && arrived.link() == link);
        toMember.addLast(new Input.Closed(link, "cut"));
        toClient.addLast(new Input.Closed(link, "cut"));
    }

    /** Delivers all that can be without time passing. */
    void settle() {
        for (int steps = 0; ; steps++) {
            if (steps > 10_000) {
                throw new AssertionError("the world never comes to rest");
            }
            if (!dialled.isEmpty()) {
                long link = dialled.pollFirst();
                if (reachable) {
                    open.add(link);
                    toMember.addLast(new Input.Opened(link));
                    toClient.addLast(new Input.Opened(link));
                } else {
                    toClient.addLast(new Input.Closed(link, "unreachable"));
                }
            } else if (!toMember.isEmpty()) {
                member.input(toMember.pollFirst());
            } else if (!toClient.isEmpty()) {
                client.input(toClient.pollFirst());
            } else if (member.forceAtOnce && !member.unforced.isEmpty()) {
                member.force();
            } else {
                return;
            }
        }
    }

    /** Lets time pass; everything due happens at its time. */
    void pass(long nanos) {
        long until = now + nanos;
        int ticksNow = 0;
        settle();
        while (true) {
            End first = first();
            if (first == null || first.cell.nextDue() - until > 0) {
                now = until;
                return;
            }
            ticksNow = first.cell.nextDue() - now > 0 ? 0 : ticksNow + 1;
            if (ticksNow > 10_000) {
                throw new AssertionError("what is due is never done");
            }
            now = Math.max(now, first.cell.nextDue());
            first.input(new Input.Tick());
            settle();
        }
    }

    private @Nullable End first() {
        long ofMember = member.cell.nextDue();
        long ofClient = client.cell.nextDue();
        if (ofMember == Turn.NEVER && ofClient == Turn.NEVER) {
            return null;
        }
        return Turn.earlier(ofMember, ofClient) == ofMember ? member : client;
    }

    /** The client waits with that ttl and the session is open. */
    Peer connect(long ttl) {
        client.work(turn -> turn.client().await(Numbered.KEY, ttl));
        settle();
        if (!clientSide().connected()) {
            throw new AssertionError("not connected");
        }
        return clientSide().session();
    }

    void sendFromClient(long value) {
        client.work(turn -> turn.send(turn.client().session(), number(value)));
    }

    void sendFromMember(Peer to, long value) {
        member.work(turn -> turn.send(to, number(value)));
    }

    /** The member grants, the client holds. */
    void grant(Peer peer, long token, long ttl) {
        member.work(turn -> turn.member().grant(peer, Numbered.KEY, token, ttl));
        client.work(turn -> turn.client().hold(Numbered.KEY, ttl));
        settle();
    }

    /** The session is open; the client has said 1 and holds a grant of token 5. */
    Peer held(long ttl) {
        Peer peer = connect(ttl);
        sendFromClient(1);
        settle();
        grant(peer, 5, ttl);
        return peer;
    }

    static Numbered.Item number(long value) {
        return new Numbered.Item(Numbered.KEY, value);
    }

    Map<String, Long> fingerprints() {
        return Map.of("member", member.cell.fingerprint(now), "client", client.cell.fingerprint(now));
    }

    static Key key() {
        return Numbered.KEY;
    }

    static boolean believes(World world, long ttl) {
        ClientView view = world.clientSide();
        return view.exists() && view.belief(ttl).holds(world.now);
    }

    static List<Long> tokens(List<MemberView.Expired> expired) {
        return expired.stream().map(MemberView.Expired::token).toList();
    }
}
