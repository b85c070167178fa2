// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Driver;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.MemberView.Started;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.session.SessionTarget;
import io.keyway.lock.spi.Owner;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The members and clients of any algorithm as one state of a search: their cells, as they ship, the links between them
 * with what is on its way, one clock, and one lock that the clients ask for and give back. Frames of one direction of a
 * link come in order; everything else may come in any order.
 *
 * <p>Promised is that whoever holds together may, that later grants that exclude each other have higher tokens, and
 * that nobody waits when nothing can happen any more.
 */
final class CellWorld implements Search.World<CellWorld>, Driver {
    private static final long SECOND = 1_000_000_000L;
    private static final long TTL = 8 * SECOND;
    private static final String NAME = "n";

    /**
     * A client wants the lock.
     *
     * @param client counted from 0
     * @param capacity of permits, in the view of this client; 1 for a lock
     */
    record Ask(int client, LockMode mode, int permits, int capacity) {
        static Ask exclusive(int client) {
            return new Ask(client, LockMode.EXCLUSIVE, 1, 1);
        }

        private boolean goesWith(Ask held) {
            return mode == LockMode.SHARED && held.mode == LockMode.SHARED;
        }
    }

    /** What all states of a search share. */
    static final class Plan {
        private final Algorithm algorithm;
        private final MachineFactory machines;
        private final List<String> members;
        private final int[] memberOf;
        private final List<Ask> asks;
        private final SessionSettings settings;
        private final Map<Input, Long> numbers = new HashMap<>();

        /**
         * @param machines of the members: the algorithm's, or an unsafe variant of them
         * @param members how many there are
         * @param memberOf to which member each client talks
         * @param asks those of one client are asked in this order, and each whether or not the former is granted
         */
        Plan(Algorithm algorithm, MachineFactory machines, int members, int[] memberOf, List<Ask> asks) {
            this.algorithm = algorithm;
            this.machines = machines;
            this.members = List.of("a", "b", "c", "d").subList(0, members);
            this.memberOf = memberOf.clone();
            this.asks = List.copyOf(asks);
            this.settings = SessionSettings.of("c", 1, 1, algorithm.id(), TTL, Authenticator.none())
                    .among(1, "members");
        }

        private long number(Input input) {
            return numbers.computeIfAbsent(input, fresh -> (long) numbers.size());
        }
    }

    /** One end dialled it. */
    private static final class Link {
        final int[] cells;
        final long[] numbers;
        final List<ArrayDeque<Input>> queues = List.of(new ArrayDeque<>(), new ArrayDeque<>());
        /** Whether each end may still send. */
        final boolean[] open = {true, true};

        Link(int[] cells, long[] numbers) {
            this.cells = cells;
            this.numbers = numbers;
        }

        Link copy() {
            Link copy = new Link(cells, numbers);
            for (int end = 0; end < 2; end++) {
                copy.queues.get(end).addAll(queues.get(end));
                copy.open[end] = open[end];
            }
            return copy;
        }
    }

    private final Plan plan;
    private final Cell[] cells;
    /** Fingerprints of the cells, or 0 where they are to be taken again. */
    private final long[] prints;

    private final List<Link> links = new ArrayList<>();
    private long lastLink;
    /** How many of the plan's asks each client has made. */
    private final int[] asked;
    /** Granted and not given back: the token, by the number of the ask. */
    private final TreeMap<Integer, Long> holds = new TreeMap<>();

    private final TreeMap<Integer, Boolean> waiting = new TreeMap<>();
    private long highestToken;
    private int current;
    private final ArrayDeque<Long> forced = new ArrayDeque<>();

    private CellWorld(Plan plan) {
        this.plan = plan;
        int all = plan.members.size() + plan.memberOf.length;
        this.cells = new Cell[all];
        this.prints = new long[all];
        this.asked = new int[plan.memberOf.length];
    }

    private CellWorld(CellWorld other) {
        plan = other.plan;
        cells = other.cells.clone();
        prints = other.prints.clone();
        asked = other.asked.clone();
        other.links.forEach(link -> links.add(link.copy()));
        lastLink = other.lastLink;
        holds.putAll(other.holds);
        waiting.putAll(other.waiting);
        highestToken = other.highestToken;
    }

    /** All members know each other and their clients, and nobody has asked for anything. */
    static CellWorld start(Plan plan) {
        CellWorld world = new CellWorld(plan);
        for (int i = 0; i < plan.members.size(); i++) {
            Membership membership =
                    new Membership(plan.members.get(i), plan.members, 0, 1, true, 0, Membership.LARGEST_EPOCH - 1);
            MemberSessions sessions =
                    new MemberSessions(plan.settings, membership, new Incarnation(1, i + 1), 1, 0, Horizon.NONE);
            world.cells[i] = new Cell(
                    plan.machines,
                    plan.algorithm.talksToMembers() ? sessions.withPeers(plan.algorithm.isElastic()) : sessions);
        }
        for (int client = 0; client < plan.memberOf.length; client++) {
            world.cells[plan.members.size() + client] = new Cell(
                    plan.algorithm.clientMachines(),
                    new ClientSession(
                            plan.settings, new Incarnation(2, client + 1), SessionTarget.ONLY_MEMBER, List.of(), 0, 0));
        }
        for (int i = 0; i < plan.members.size(); i++) {
            world.step(i, new Input.Tick());
            for (var key : plan.algorithm.startingMachines()) {
                world.step(i, new Input.Command(key, new Started()));
            }
        }
        world.settle();
        for (int client = 0; client < plan.memberOf.length; client++) {
            // Somebody has to ask, or there is no session.
            Ask first = Ask.exclusive(client);
            world.post(client, world.acquire(-1 - client, first));
            world.settle();
            long token = world.holds.remove(-1 - client);
            world.post(client, new LockCall.Release(token));
            world.settle();
        }
        return world;
    }

    private void settle() {
        for (Link link = busy(); link != null; link = busy()) {
            int end = link.queues.get(0).isEmpty() ? 1 : 0;
            step(link.cells[end], link.queues.get(end).removeFirst());
        }
    }

    private @Nullable Link busy() {
        for (Link link : links) {
            if (!link.queues.get(0).isEmpty() || !link.queues.get(1).isEmpty()) {
                return link;
            }
        }
        return null;
    }

    private LockCall acquire(int number, Ask ask) {
        Owner owner = new Owner("client" + ask.client(), Map.of());
        return new LockCall.Acquire(
                number, ask.mode(), ask.permits(), ask.capacity(), TTL, owner, true, false, SECOND, 0, null);
    }

    private void post(int client, LockCall call) {
        step(plan.members.size() + client, new Input.Command(LockKeys.lock(plan.algorithm.id(), NAME), call));
    }

    // What can happen

    @Override
    public List<Search.Step<CellWorld>> steps() {
        List<Search.Step<CellWorld>> steps = new ArrayList<>();
        for (int i = 0; i < links.size(); i++) {
            for (int end = 0; end < 2; end++) {
                Input head = links.get(i).queues.get(end).peekFirst();
                if (head != null) {
                    int link = i;
                    int to = end;
                    int cell = links.get(i).cells[end];
                    steps.add(new Search.Step<>("to " + name(cell) + ": " + head, () -> {
                        CellWorld next = new CellWorld(this);
                        next.step(cell, next.links.get(link).queues.get(to).removeFirst());
                        return next;
                    }));
                }
            }
        }
        for (int client = 0; client < asked.length; client++) {
            int number = next(client);
            if (number >= 0) {
                steps.add(new Search.Step<>("client " + client + " asks", () -> new CellWorld(this).ask(number)));
            }
        }
        for (int number : holds.keySet()) {
            steps.add(new Search.Step<>(
                    "client " + plan.asks.get(number).client() + " releases",
                    () -> new CellWorld(this).release(number)));
        }
        if (steps.isEmpty() && !waiting.isEmpty()) {
            throw new AssertionError("requests " + waiting.keySet() + " wait forever");
        }
        return steps;
    }

    private String name(int cell) {
        return cell < plan.members.size() ? plan.members.get(cell) : "client " + (cell - plan.members.size());
    }

    /** The number of the next ask of that client; -1 if there is none. */
    private int next(int client) {
        int before = asked[client];
        for (int number = 0; number < plan.asks.size(); number++) {
            if (plan.asks.get(number).client() == client && before-- == 0) {
                return number;
            }
        }
        return -1;
    }

    private CellWorld ask(int number) {
        Ask ask = plan.asks.get(number);
        asked[ask.client()]++;
        waiting.put(number, true);
        post(ask.client(), acquire(number, ask));
        return this;
    }

    private CellWorld release(int number) {
        long token = holds.getOrDefault(number, 0L);
        holds.remove(number);
        post(plan.asks.get(number).client(), new LockCall.Release(token));
        return this;
    }

    private void step(int cell, Input input) {
        Cell copy = cells[cell].copy();
        cells[cell] = copy;
        prints[cell] = 0;
        current = cell;
        copy.input(input, this);
        copy.flush(this);
        for (Long ticket = forced.poll(); ticket != null; ticket = forced.poll()) {
            copy.input(new Input.Forced(ticket), this);
            copy.flush(this);
        }
        links.removeIf(link -> !link.open[0]
                && !link.open[1]
                && link.queues.get(0).isEmpty()
                && link.queues.get(1).isEmpty());
    }

    // What the cells say

    @Override
    public void deliver(Notice notice) {
        if (notice instanceof LockNotice.Granted granted) {
            granted((int) granted.request(), granted.token());
        } else if (notice instanceof LockNotice.Ended
                || notice instanceof LockNotice.Refused
                || notice instanceof LockNotice.Failed) {
            throw new AssertionError("nobody dies, breaks or is in a hurry, and yet: " + notice);
        }
    }

    private void granted(int number, long token) {
        waiting.remove(number);
        Ask ask = number < 0 ? Ask.exclusive(-1 - number) : plan.asks.get(number);
        int permits = ask.permits();
        for (int other : holds.keySet()) {
            Ask held = plan.asks.get(other);
            if (ask.mode() == LockMode.PERMITS) {
                permits += held.permits();
            } else if (!ask.goesWith(held)) {
                throw new AssertionError(ask + " and " + held + " hold together");
            }
        }
        if (ask.mode() == LockMode.PERMITS && permits > ask.capacity()) {
            throw new AssertionError(permits + " permits are out, and " + ask + " was granted");
        }
        if (ask.mode() == LockMode.EXCLUSIVE && token <= highestToken) {
            throw new AssertionError("token " + token + " after " + highestToken);
        }
        highestToken = Math.max(highestToken, token);
        holds.put(number, token);
    }

    @Override
    public void dial(long link) {
        int members = plan.members.size();
        int to = current >= members
                ? plan.memberOf[current - members]
                : plan.members.indexOf(
                        ((MemberSessions) cells[current].sessions()).peers().dials(link));
        Link fresh = new Link(new int[] {to, current}, new long[] {++lastLink, link});
        fresh.queues.get(0).add(new Input.Opened(lastLink));
        fresh.queues.get(1).add(new Input.Opened(link));
        links.add(fresh);
    }

    @Override
    public void transmit(long number, Frame frame) {
        for (Link link : links) {
            for (int end = 0; end < 2; end++) {
                if (link.cells[end] == current && link.numbers[end] == number && link.open[end]) {
                    link.queues.get(1 - end).addLast(new Input.Arrived(link.numbers[1 - end], frame));
                }
            }
        }
    }

    @Override
    public void hangUp(long number) {
        for (Link link : links) {
            for (int end = 0; end < 2; end++) {
                if (link.cells[end] == current && link.numbers[end] == number && link.open[end]) {
                    link.open[end] = false;
                    link.queues.get(end).clear();
                    link.queues.get(1 - end).addLast(new Input.Closed(link.numbers[1 - end], "hung up"));
                }
            }
        }
    }

    @Override
    public void persist(DurableRecord record, long ticket) {
        forced.add(ticket);
    }

    /** Time stands still: nothing is lost that a timer would have to mend. */
    @Override
    public long clock() {
        return SECOND;
    }

    @Override
    public long random() {
        return 0;
    }

    // Which states are equal

    @Override
    public long fingerprint() {
        StateEncoder canon = new StateEncoder(clock());
        for (int i = 0; i < cells.length; i++) {
            prints[i] = prints[i] == 0 ? cells[i].fingerprint(clock()) : prints[i];
            canon.put(prints[i]);
        }
        canon.put(links.size());
        for (Link link : links) {
            for (int end = 0; end < 2; end++) {
                canon.put(link.cells[end]).put(link.numbers[end]).put(link.open[end]);
                encode(canon, link.queues.get(end));
            }
        }
        for (int each : asked) {
            canon.put(each);
        }
        canon.put(holds.size()).put(highestToken);
        holds.forEach((number, token) -> canon.put(number).put(token));
        canon.value(List.copyOf(waiting.keySet()));
        return canon.fingerprint();
    }

    private void encode(StateEncoder canon, Collection<Input> queue) {
        canon.put(queue.size());
        for (Input input : queue) {
            canon.put(plan.number(input));
        }
    }
}
