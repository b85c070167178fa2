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
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.Numbered.Item;
import io.keyway.lock.peer.session.SessionFrame.Data;
import io.keyway.lock.simulator.search.Search;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One state of the search: a member, a client, the links between them with what is on its way, one clock, and what the
 * invariants remember. The client asks, the member grants and answers, the client holds.
 */
final class SearchWorld implements Driver, Search.World<SearchWorld> {
    static final long UNIT = 1_000_000_000L;
    static final long TTL = 4 * UNIT;
    static final long MAX_TTL = 6 * UNIT;

    /** What the world may still do to the two. */
    record Budget(
            int ticks, int asks, int cuts, int losses, int copies, int memberStarts, int clientStarts, int ends) {}

    /** One link: each queue is in order, and queues are independent of each other and of other links. */
    private static final class Link {
        final long atMember;
        final long atClient;
        final ArrayDeque<Input> toMember = new ArrayDeque<>();
        final ArrayDeque<Input> toClient = new ArrayDeque<>();
        boolean memberSends = true;
        boolean clientSends = true;

        Link(long atMember, long atClient) {
            this.atMember = atMember;
            this.atClient = atClient;
        }

        Link copy() {
            Link copy = new Link(atMember, atClient);
            copy.toMember.addAll(toMember);
            copy.toClient.addAll(toClient);
            copy.memberSends = memberSends;
            copy.clientSends = clientSends;
            return copy;
        }

        void cut() {
            if (memberSends) {
                toClient.addLast(new Input.Closed(atClient, "cut"));
            }
            if (clientSends) {
                toMember.addLast(new Input.Closed(atMember, "cut"));
            }
            memberSends = false;
            clientSends = false;
        }
    }

    private static final MachineFactory MEMBERS = new Numbered() {
        @Override
        void received(Peer from, Item item, Turn turn) {
            turn.member().grant(from, KEY, item.value(), TTL);
            turn.send(from, item);
        }
    };

    private static final MachineFactory CLIENTS = new Numbered() {
        @Override
        void received(Peer from, Item item, Turn turn) {
            turn.client().afterEcho(KEY);
        }

        @Override
        void told(Call call, Turn turn) {
            if (call instanceof ClientView.Echoed
                    && turn.client().exists()
                    && turn.client().belief(TTL).holds(turn.now())) {
                turn.client().hold(KEY, TTL);
                turn.tell(new Held(turn.client().session()));
            }
        }
    };

    private record Held(Peer session) implements Notice {}

    /** What all worlds of one search share: the goals reached, and a number for each thing that was ever on its way. */
    static final class Shared {
        final Set<String> goals = new TreeSet<>();
        private final Map<Input, Long> numbers = new HashMap<>();

        long number(Input input) {
            return numbers.computeIfAbsent(input, fresh -> (long) numbers.size());
        }
    }

    private final Shared shared;
    Budget budget;
    private long now;
    private Cell member;
    private Cell client;
    private int memberLife = 1;
    private int clientLife = 1;
    private final List<Link> links = new ArrayList<>();
    private long lastLink;
    private boolean stepsMember;
    /** Fingerprints of the cells, or 0 if they are to be taken again. */
    private long memberPrint;

    private long clientPrint;

    /**
     * By session of this life of the member: the last question heard; by session of this client: the last asked and the
     * last answer heard.
     */
    private final Map<Long, Long> heard = new TreeMap<>();

    private long asked;
    private long answered;
    /** The newest session of each life of the client at this life of the member. */
    private final Map<Long, Long> newest = new TreeMap<>();
    /** What the client holds, or held of a former life of the member, and until when it believes. */
    private long heldOf;

    private long heldIn;
    private long heldUntil;

    SearchWorld(Budget budget, Shared shared) {
        this.budget = budget;
        this.shared = shared;
        member = new Cell(MEMBERS, memberSessions());
        client = startClient();
        step(
                false,
                new Input.Command(
                        Numbered.KEY, new Numbered.Do(turn -> turn.client().await(Numbered.KEY, TTL))));
    }

    private SearchWorld(SearchWorld other) {
        budget = other.budget;
        shared = other.shared;
        memberPrint = other.memberPrint;
        clientPrint = other.clientPrint;
        now = other.now;
        member = other.member;
        client = other.client;
        memberLife = other.memberLife;
        clientLife = other.clientLife;
        for (Link link : other.links) {
            links.add(link.copy());
        }
        lastLink = other.lastLink;
        heard.putAll(other.heard);
        asked = other.asked;
        answered = other.answered;
        newest.putAll(other.newest);
        heldOf = other.heldOf;
        heldIn = other.heldIn;
        heldUntil = other.heldUntil;
    }

    private static SessionSettings settings() {
        return new SessionSettings("c", 1, 1, "", "", Numbered.ID, MAX_TTL, 1, 1, 3 * UNIT, 4, Authenticator.none());
    }

    private MemberSessions memberSessions() {
        long quarantine = memberLife == 1 ? now : now + settings().quarantine();
        return new MemberSessions(
                settings(), "m", new Incarnation(1, memberLife), memberLife, quarantine, Horizon.NONE);
    }

    private Cell startClient() {
        return new Cell(CLIENTS, new ClientSession(settings(), new Incarnation(2, clientLife), List.of()));
    }

    private MemberSessions memberSide() {
        return (MemberSessions) member.sessions();
    }

    private ClientSession clientSide() {
        return (ClientSession) client.sessions();
    }

    /** An action that is possible now, and its name. */
    record Move(String name, Consumer<SearchWorld> act) {}

    @Override
    public List<Search.Step<SearchWorld>> steps() {
        return moves().stream()
                .map(move -> new Search.Step<>(move.name(), () -> after(move)))
                .toList();
    }

    List<Move> moves() {
        List<Move> moves = new ArrayList<>();
        Budget b = budget;
        for (int i = 0; i < links.size(); i++) {
            int at = i;
            Link link = links.get(i);
            queue(moves, at, true, link.toMember, b);
            queue(moves, at, false, link.toClient, b);
            if (b.cuts > 0 && link.memberSends && link.clientSends) {
                moves.add(new Move("cut " + at, world -> {
                    world.spend(0, 0, 1, 0, 0, 0, 0, 0);
                    world.links.get(at).cut();
                }));
            }
        }
        if (due(member)) {
            moves.add(new Move("member wakes", world -> world.step(true, new Input.Tick())));
        }
        if (due(client)) {
            moves.add(new Move("client wakes", world -> world.step(false, new Input.Tick())));
        }
        if (b.ticks > 0) {
            moves.add(new Move("time", world -> {
                world.spend(1, 0, 0, 0, 0, 0, 0, 0);
                world.now += UNIT;
                world.memberPrint = 0;
                world.clientPrint = 0;
            }));
        }
        if (b.asks > 0 && clientSide().exists()) {
            moves.add(new Move("ask", SearchWorld::ask));
        }
        if (b.memberStarts > 0) {
            moves.add(new Move("member starts anew", SearchWorld::restartMember));
        }
        if (b.clientStarts > 0) {
            moves.add(new Move("client starts anew", SearchWorld::restartClient));
        }
        if (b.ends > 0) {
            moves.add(new Move("client closes", world -> {
                world.spend(0, 0, 0, 0, 0, 0, 0, 1);
                world.heldOf = 0;
                world.step(false, new Input.Closing());
            }));
        }
        return moves;
    }

    private static void queue(List<Move> moves, int at, boolean member, ArrayDeque<Input> queue, Budget b) {
        Input head = queue.peekFirst();
        if (head == null) {
            return;
        }
        String where = (member ? " to member on " : " to client on ") + at;
        moves.add(new Move("deliver" + where + ": " + head, world -> {
            Input input = world.queue(at, member).pollFirst();
            world.step(member, input);
        }));
        if (head instanceof Input.Arrived && b.losses > 0) {
            moves.add(new Move("lose" + where + ": " + head, world -> {
                world.spend(0, 0, 0, 1, 0, 0, 0, 0);
                world.queue(at, member).pollFirst();
            }));
        }
        if (head instanceof Input.Arrived && b.copies > 0) {
            moves.add(new Move("copy" + where + ": " + head, world -> {
                world.spend(0, 0, 0, 0, 1, 0, 0, 0);
                world.queue(at, member).addLast(head);
            }));
        }
    }

    private ArrayDeque<Input> queue(int at, boolean member) {
        return member ? links.get(at).toMember : links.get(at).toClient;
    }

    private void spend(int ticks, int asks, int cuts, int losses, int copies, int members, int clients, int ends) {
        Budget b = budget;
        budget = new Budget(
                b.ticks - ticks,
                b.asks - asks,
                b.cuts - cuts,
                b.losses - losses,
                b.copies - copies,
                b.memberStarts - members,
                b.clientStarts - clients,
                b.ends - ends);
    }

    private boolean due(Cell cell) {
        return Turn.due(cell.nextDue(), now);
    }

    private void ask() {
        spend(0, 1, 0, 0, 0, 0, 0, 0);
        step(false, new Input.Command(Numbered.KEY, new Numbered.Do(turn -> {
            if (turn.client().exists()) {
                turn.send(turn.client().session(), new Item(Numbered.KEY, ++asked));
            }
        })));
    }

    private void restartMember() {
        spend(0, 0, 0, 0, 0, 1, 0, 0);
        memberLife++;
        memberPrint = 0;
        member = new Cell(MEMBERS, memberSessions());
        heard.clear();
        newest.clear();
        for (Link link : links) {
            link.toMember.clear();
            link.cut();
            link.toMember.clear();
        }
    }

    private void restartClient() {
        spend(0, 0, 0, 0, 0, 0, 1, 0);
        clientLife++;
        for (Link link : links) {
            link.toClient.clear();
            link.cut();
            link.toClient.clear();
        }
        heldOf = 0;
        client = startClient();
        step(
                false,
                new Input.Command(
                        Numbered.KEY, new Numbered.Do(turn -> turn.client().await(Numbered.KEY, TTL))));
    }

    private void step(boolean ofMember, Input input) {
        stepsMember = ofMember;
        Cell cell = (ofMember ? member : client).copy();
        if (ofMember) {
            member = cell;
            memberPrint = 0;
        } else {
            client = cell;
            clientPrint = 0;
        }
        cell.input(input, this);
        cell.flush(this);
        links.removeIf(
                link -> !link.memberSends && !link.clientSends && link.toMember.isEmpty() && link.toClient.isEmpty());
        check();
    }

    /** Delivers everything, in order, without time passing. */
    SearchWorld settled() {
        for (Move move = first(); move != null; move = first()) {
            move.act().accept(this);
        }
        return this;
    }

    private @Nullable Move first() {
        return moves().stream()
                .filter(move -> move.name().startsWith("deliver"))
                .findFirst()
                .orElse(null);
    }

    /** The client asked, was answered and holds. */
    SearchWorld held() {
        settled();
        ask();
        settled();
        require(heldOf != 0, "nothing is held");
        return this;
    }

    /** The client held, nothing went through for longer than a session lives, and only the member has noticed. */
    SearchWorld apart() {
        held();
        links.forEach(Link::cut);
        links.forEach(link -> link.toClient.clear());
        now += MAX_TTL;
        memberPrint = 0;
        clientPrint = 0;
        step(true, new Input.Tick());
        links.clear();
        return this;
    }

    SearchWorld after(Move move) {
        SearchWorld next = new SearchWorld(this);
        move.act().accept(next);
        return next;
    }

    private static void require(boolean holds, String invariant) {
        if (!holds) {
            throw new AssertionError(invariant);
        }
    }

    private void check() {
        MemberSessions sessions = memberSide();
        newest.clear();
        for (long number = 1; number <= sessions.lastSession(); number++) {
            MemberSession session = sessions.session(number);
            if (session != null) {
                Long other = newest.put(session.client.low(), number);
                require(other == null, "two live sessions of one incarnation");
            }
        }
        if (heldOf != 0
                && clientSide().session().session() == heldIn
                && clientSide().member().low() == heldOf) {
            heldUntil = clientSide().belief(TTL).deadline();
            MemberSession session = heldOf == memberLife ? sessions.session(heldIn) : null;
            if (session != null && now - heldUntil < 0) {
                require(heldUntil - (session.heard + TTL) < 0, "belief reaches beyond the grant");
            }
        }
        boolean believed = heldOf != 0 && now - heldUntil < 0;
        require(!believed || heldOf == memberLife || sessions.quarantined(), "granting while an old belief stands");
    }

    @Override
    public void deliver(Notice notice) {
        if (notice instanceof Numbered.Heard message) {
            long session = message.from().session();
            if (stepsMember) {
                long next = heard.merge(session, 1L, Long::sum);
                require(message.value() == next, "question " + message.value() + " heard instead of " + next);
                MemberSession live = memberSide().session(session);
                require(live != null, "a question of a session that is over");
                Long newer = newest.get(live.client.low());
                require(newer == null || newer <= session, "a question of a session that has a successor");
            } else {
                require(message.value() == ++answered, "answer " + message.value() + " heard instead of " + answered);
            }
        } else if (notice instanceof Held held) {
            heldOf = clientSide().member().low();
            heldIn = held.session().session();
        } else if (notice instanceof Numbered.Told told) {
            told(told.call());
        }
    }

    private void told(Call call) {
        if (call instanceof ClientView.SessionOpen) {
            asked = 0; // questions and answers are counted from 1 in each session
            answered = 0;
        } else if (call instanceof ClientView.Lapsed) {
            heldOf = 0;
        } else if (call instanceof ClientView.SessionGone gone && !gone.restarted()) {
            heldOf = 0;
        } else if (call instanceof MemberView.Expired expired) {
            ended(expired.peer().session());
        } else if (call instanceof MemberView.SessionEnded ended) {
            ended(ended.peer().session());
        }
    }

    private void ended(long session) {
        boolean believed = heldOf == memberLife && heldIn == session && now - heldUntil < 0;
        require(!believed, "the member ended what the client believes");
    }

    @Override
    public long fingerprint() {
        StateEncoder canon = new StateEncoder(now);
        memberPrint = memberPrint == 0 ? member.fingerprint(now) : memberPrint;
        clientPrint = clientPrint == 0 ? client.fingerprint(now) : clientPrint;
        canon.put(memberPrint)
                .put(clientPrint)
                .put(budget.ticks())
                .put(budget.asks())
                .put(budget.cuts());
        canon.put(budget.losses()).put(budget.copies()).put(budget.memberStarts());
        canon.put(budget.clientStarts()).put(budget.ends());
        canon.put(memberLife).put(clientLife).put(links.size());
        for (Link link : links) {
            canon.put(link.atMember).put(link.atClient).put(link.memberSends).put(link.clientSends);
            encode(canon, link.toMember);
            encode(canon, link.toClient);
        }
        canon.value(heard).put(asked).put(answered);
        canon.put(heldOf).put(heldOf == 0 ? 0 : heldIn).time(heldOf == 0 ? Turn.NEVER : heldUntil);
        return canon.fingerprint();
    }

    private void encode(StateEncoder canon, ArrayDeque<Input> queue) {
        canon.put(queue.size());
        for (Input input : queue) {
            if (input instanceof Input.Arrived arrived && arrived.frame() instanceof Data data && data.stamped()) {
                Data relative =
                        new Data(data.session(), data.seq(), data.ack(), true, data.stamp() - now, 0, data.messages());
                canon.put(shared.number(new Input.Arrived(arrived.link(), relative)));
            } else {
                canon.put(shared.number(input));
            }
        }
    }

    @Override
    public long clock() {
        return now;
    }

    @Override
    public long random() {
        return 0;
    }

    @Override
    public void dial(long link) {
        Link fresh = new Link(++lastLink, link);
        fresh.toMember.add(new Input.Opened(fresh.atMember));
        fresh.toClient.add(new Input.Opened(link));
        links.add(fresh);
    }

    private @Nullable Link link(long number) {
        for (Link link : links) {
            // A client that starts anew counts its links anew; its former links no longer send.
            if (stepsMember ? link.atMember == number : link.atClient == number && link.clientSends) {
                return link;
            }
        }
        return null;
    }

    @Override
    public void transmit(long number, Frame frame) {
        Link link = link(number);
        if (link != null && stepsMember && link.memberSends) {
            link.toClient.addLast(new Input.Arrived(link.atClient, frame));
        } else if (link != null && !stepsMember && link.clientSends) {
            link.toMember.addLast(new Input.Arrived(link.atMember, frame));
        }
    }

    @Override
    public void hangUp(long number) {
        Link link = link(number);
        if (link == null) {
            return;
        }
        (stepsMember ? link.toMember : link.toClient).clear();
        link.cut();
        (stepsMember ? link.toMember : link.toClient).clear();
    }

    @Override
    public void persist(DurableRecord record, long ticket) {}

    @Override
    public void reached(CoverageGoal goal) {
        shared.goals.add(goal.name());
    }
}
