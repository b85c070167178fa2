// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockRequest;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.RpcClient;
import io.keyway.lock.peer.session.RpcFrame;
import io.keyway.lock.peer.session.RpcMember;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Transactions as the states of a search: the member, its clients and their agents, as they ship. A state is some
 * numbers: of the member and of each client, as in {@link Turns}; the frames on each link; what may still go wrong; by
 * transaction and lock, during which search of it its grant, and its request, was last on a circle of transactions that
 * wait for each other; and in which circle each has given way last.
 *
 * <p>After each step: no two users were told that they have one lock, and no two have it by the member (R1); who gives
 * way was on a circle through the lock that it gives up since its search began (R10, sound); no two give way in one
 * circle (minimal); what a user was told is not given up (honest). Where nothing is on its way all go on if everybody
 * does at once what there is to do, and after no restart without that anybody searches a second time (complete).
 *
 * <p>Which lock is which says nothing, so whoever asks for one that nobody has asked for asks for the first of them.
 */
final class AgentSpace implements Explorer.Space {
    /** What a search must have seen. */
    enum Goal implements CoverageGoal {
        SURRENDERED,
        ABORTED,
        CIRCLE_OF_TWO,
        CIRCLE_OF_THREE,
        BEHIND_A_REQUEST,
        SEARCH_PUT_OFF,
        GAVE_UP,
        RESTARTED
    }

    private static final int TO_MEMBER = 0;
    private static final int TO_CLIENT = 1;
    private static final int FIRE = 2;
    private static final int ASK = 3;
    private static final int END = 4;
    private static final int GIVE_UP = 5;
    private static final int RESEND = 6;
    private static final int RESTART = 7;
    private static final int OPEN = 8;
    private static final int HEAR = 9;
    private static final String[] NAMES = {
        "to the member, of client ",
        "to client ",
        "time passes for client ",
        "asks: client ",
        "ends: client ",
        "gives up: client ",
        "searches again: client ",
        "the member restarts ",
        "the quarantine ends ",
        "hears of the restart: client "
    };

    /** What a turn of a process did: see {@link AgentLocal} for what it gives up, by which search, in which circle. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Turned(
            int next, int[] sent, @Nullable String broken, int gaveUp, boolean byRequest, long gaveUpBy, int circle) {}

    private final AgentScope scope;
    private final int clients;
    private final int linkWidth;
    private final int firstLink;
    private final int history;
    /** By client, in which circle it gave way last. */
    private final int circles;

    private final int budget;
    private final int width;

    private final List<AgentLocal> locals = new ArrayList<>();
    private final List<AuthorityLocal> authorities = new ArrayList<>();
    private final Map<Long, Integer> knownLocals = new HashMap<>();
    private final Map<Long, Integer> knownAuthorities = new HashMap<>();
    private final List<RpcFrame> frames = new ArrayList<>();
    private final Map<RpcFrame, Integer> numbers = new HashMap<>();
    private final Map<Long, Turned> taken = new HashMap<>();
    private final LongSet served = new LongSet();
    private final Set<CoverageGoal> goals = new LinkedHashSet<>();
    private @Nullable String broken;
    private boolean cut;

    AgentSpace(AgentScope scope) {
        this.scope = scope;
        clients = scope.users.size();
        linkWidth = 2 + 2 * (1 + scope.frames);
        firstLink = 1 + clients;
        history = firstLink + clients * linkWidth;
        circles = history + 2 * clients * scope.locks;
        budget = circles + clients;
        width = budget + 3;
    }

    @Override
    public int width() {
        return width;
    }

    @Override
    public long print(int[] state) {
        return Explorer.print(state);
    }

    @Override
    public Set<CoverageGoal> goals() {
        return goals;
    }

    @Override
    public String cost() {
        return locals.size() + authorities.size() + " states of processes, " + taken.size() + " turns";
    }

    // Where what is

    private int link(int client) {
        return firstLink + client * linkWidth;
    }

    /** Whether the client has not heard yet that its session is over; and its number. */
    private int ended(int client) {
        return link(client);
    }

    private int session(int client) {
        return link(client) + 1;
    }

    private int toMember(int client) {
        return link(client) + 2;
    }

    private int toClient(int client) {
        return toMember(client) + 1 + scope.frames;
    }

    /** Where the history of its grant of that lock is, or of its request for it. */
    private int claim(int client, int lock, boolean byRequest) {
        return history + 2 * (client * scope.locks + lock) + (byRequest ? 1 : 0);
    }

    private AgentLocal of(int[] state, int client) {
        return locals.get(state[1 + client]);
    }

    private AuthorityLocal member(int[] state) {
        return authorities.get(state[0]);
    }

    private int number(AgentLocal local) {
        return knownLocals.computeIfAbsent(local.print(), fresh -> {
            locals.add(local);
            return locals.size() - 1;
        });
    }

    private int number(AuthorityLocal local) {
        return knownAuthorities.computeIfAbsent(local.done(), fresh -> {
            authorities.add(local);
            return authorities.size() - 1;
        });
    }

    private int number(RpcFrame frame) {
        return numbers.computeIfAbsent(frame, fresh -> {
            frames.add(fresh);
            return frames.size() - 1;
        });
    }

    // How it begins

    @Override
    public int[] start() {
        int[] state = new int[width];
        for (int client = 0; client < clients; client++) {
            AgentLocal local =
                    new AgentLocal(scope, client, new Cell(scope.algorithm.clientMachines(), new RpcClient()));
            state[1 + client] = number(local);
            state[session(client)] = 1 + client - clients;
        }
        state[budget] = scope.restarts;
        state[budget + 1] = scope.cancels;
        state[budget + 2] = scope.resends;
        begin(state, 1);
        for (int client = 0; client < clients; client++) {
            connect(state, client);
        }
        quiet(state);
        return state;
    }

    private void begin(int[] state, int life) {
        long opens = life == 1 ? Turn.NEVER : AgentLocal.NOW + 1;
        RpcMember sessions = new RpcMember(List.of("a"), 0, life, opens, Scope.TTL, Scope.TTL);
        state[0] =
                number(new AuthorityLocal(scope, new Cell(scope.memberMachines, sessions), AgentLocal.NOW, life > 1));
    }

    private void connect(int[] state, int client) {
        state[ended(client)] = 0;
        state[session(client)] += clients;
        long session = RpcMember.session(state[session(client)]);
        member(state, new Input.Opened(session));
        AgentLocal next = of(state, client).copy();
        next.input(new Input.Opened(session));
        done(state, client, next);
    }

    private void quiet(int[] state) {
        for (int step = arrival(state); step >= 0; step = arrival(state)) {
            act(state, step);
        }
    }

    /** What arrives next; -1 if nothing is on its way. */
    private int arrival(int[] state) {
        for (int client = 0; client < clients; client++) {
            if (state[ended(client)] == 0 && state[toClient(client)] > 0) {
                return (TO_CLIENT << 4) | client;
            }
        }
        for (int client = 0; client < clients; client++) {
            if (state[ended(client)] == 0 && state[toMember(client)] > 0) {
                return (TO_MEMBER << 4) | client;
            }
        }
        for (int client = 0; client < clients; client++) {
            if (state[ended(client)] != 0) {
                return (HEAR << 4) | client;
            }
        }
        return -1;
    }

    // What can happen

    /**
     * All that can happen; in a reduced scope, where a client has something to hear, what can happen at the first such
     * client alone. What others do meanwhile changes none of that, nor does it change what they do: so each order of
     * what concerns one process is still tried, and what is promised of one process holds in all orders.
     */
    @Override
    public int steps(int[] state, int[] into) {
        int count = 0;
        if (scope.reduced) {
            for (int client = 0; client < clients; client++) {
                if (state[ended(client)] == 0 && state[toClient(client)] > 0) {
                    return steps(state, client, into, 0);
                }
            }
        }
        for (int client = 0; client < clients; client++) {
            if (state[ended(client)] == 0 && state[toMember(client)] > 0) {
                into[count++] = (TO_MEMBER << 4) | client;
            }
            count = steps(state, client, into, count);
        }
        if (state[budget] > 0) {
            into[count++] = RESTART << 4;
        }
        if (member(state).quarantined && arrival(state) < 0) {
            into[count++] = OPEN << 4;
        }
        return count;
    }

    private int steps(int[] state, int client, int[] into, int before) {
        int count = before;
        AgentLocal of = of(state, client);
        if (state[ended(client)] != 0) {
            into[count++] = (HEAR << 4) | client;
        } else if (state[toClient(client)] > 0) {
            into[count++] = (TO_CLIENT << 4) | client;
        }
        if (of.puts) {
            into[count++] = (FIRE << 4) | client;
        }
        if (of.mayAsk()) {
            for (int lock = 0; lock < choices(state, client); lock++) {
                if ((of.asked & (1 << lock)) == 0) {
                    into[count++] = (((lock << 5) | ASK) << 4) | client;
                }
            }
        }
        if (of.mayEnd()) {
            into[count++] = (END << 4) | client;
        }
        if (state[budget + 1] > 0 && of.mayGiveUp()) {
            into[count++] = (GIVE_UP << 4) | client;
        }
        if (state[budget + 2] > 0 && of.waits && !of.done && !of.aborted) {
            into[count++] = (RESEND << 4) | client;
        }
        return count;
    }

    /** Of how many locks it may ask for the next one. */
    private int choices(int[] state, int client) {
        int wishes = scope.users.get(client).wishes().size();
        return wishes > 0 ? wishes : Math.min(scope.locks, 1 + used(state));
    }

    /** How many locks somebody has asked for. */
    private int used(int[] state) {
        int asked = 0;
        for (int client = 0; client < clients; client++) {
            asked |= of(state, client).asked;
        }
        return Integer.bitCount(asked);
    }

    @Override
    public Explorer.@Nullable Outcome apply(int[] state, int step, int[] next) {
        System.arraycopy(state, 0, next, 0, next.length);
        broken = null;
        cut = false;
        act(next, step);
        if (cut) {
            return Explorer.Outcome.CUT;
        }
        if (broken == null) {
            broken = both(next);
        }
        if (broken == null && arrival(next) < 0) {
            broken = missed(next);
        }
        return broken == null ? null : new Explorer.Outcome(broken);
    }

    private void act(int[] state, int step) {
        int who = step & 15;
        switch ((step >>> 4) & 31) {
            case TO_MEMBER -> {
                int frame = state[toMember(who) + 1];
                Links.shift(state, toMember(who), 1);
                member(state, who, frame);
            }
            case TO_CLIENT -> {
                int frame = state[toClient(who) + 1];
                Links.shift(state, toClient(who), 1);
                client(state, who, TO_CLIENT, frame);
            }
            case FIRE -> client(state, who, FIRE, 0);
            case ASK -> client(state, who, ASK, step >>> 9);
            case END -> client(state, who, END, 0);
            case GIVE_UP -> {
                state[budget + 1]--;
                goals.add(Goal.GAVE_UP);
                client(state, who, END, 0);
            }
            case RESEND -> {
                state[budget + 2]--;
                client(state, who, FIRE, 0);
            }
            case RESTART -> restart(state);
            case OPEN -> {
                AuthorityLocal next = member(state).opened();
                next.input(new Input.Tick());
                done(state, next);
            }
            default -> {
                AgentLocal next = of(state, who).copy();
                next.input(new Input.Closed(1, "restarted"));
                done(state, who, next);
                connect(state, who);
            }
        }
        if (!scope.reduced) {
            remember(state);
        }
    }

    private void restart(int[] state) {
        state[budget]--;
        goals.add(Goal.RESTARTED);
        for (int client = 0; client < clients; client++) {
            Links.clear(state, toMember(client), 1);
            Links.clear(state, toClient(client), 1);
            state[ended(client)] = 1;
        }
        begin(state, 1 + scope.restarts - state[budget]);
    }

    // Turns, each once

    private void client(int[] state, int client, int kind, int argument) {
        long key = ((long) state[1 + client] << 32) | ((long) argument << 8) | (kind << 4) | client;
        Turned turned = taken.get(key);
        if (turned == null) {
            AgentLocal next = of(state, client).copy();
            try {
                switch (kind) {
                    case TO_CLIENT ->
                        next.input(new Input.Arrived(1, new RpcClient.Echoing(frames.get(argument), AgentLocal.NOW)));
                    case FIRE -> next.fire();
                    case ASK -> next.ask(argument);
                    default -> next.end();
                }
            } catch (RuntimeException | AssertionError e) {
                next.broken = "a machine fails: " + e;
            }
            turned = turned(next);
            taken.put(key, turned);
        }
        took(state, client, turned);
    }

    private void done(int[] state, int client, AgentLocal next) {
        took(state, client, turned(next));
    }

    private Turned turned(AgentLocal next) {
        int[] sent = next.sent.stream().mapToInt(this::number).toArray();
        if (next.circle != 0) {
            goals.add(next.aborted ? Goal.ABORTED : Goal.SURRENDERED);
            goals.add(next.circleOf == 2 ? Goal.CIRCLE_OF_TWO : Goal.CIRCLE_OF_THREE);
            if (next.behindARequest) {
                goals.add(Goal.BEHIND_A_REQUEST);
            }
        }
        if (next.puts) {
            goals.add(Goal.SEARCH_PUT_OFF);
        }
        return new Turned(number(next), sent, next.broken, next.gaveUp, next.byRequest, next.gaveUpBy, next.circle);
    }

    private void took(int[] state, int client, Turned turned) {
        broken = broken == null ? turned.broken() : broken;
        if (turned.gaveUp() >= 0 && !scope.reduced) {
            int seen = state[claim(client, turned.gaveUp(), turned.byRequest())];
            if (seen < turned.gaveUpBy()) {
                broken = "R10: sound: client " + client + " gives up lock " + turned.gaveUp() + " by search "
                        + turned.gaveUpBy() + ", and was last on a circle through it during search " + seen;
            }
        }
        if (turned.gaveUp() >= 0) {
            for (int other = 0; other < clients; other++) {
                if (state[circles + other] == turned.circle()) {
                    broken = "R10: minimal: client " + client + " gives way where client " + other + " has";
                }
            }
            state[circles + client] = turned.circle();
        }
        state[1 + client] = turned.next();
        for (int frame : turned.sent()) {
            if (!push(state, toMember(client), frame)) {
                cut = true;
            }
        }
    }

    private void member(int[] state, int client, int frame) {
        long key = -1 - (((long) state[0] << 32) | ((long) frame << 10) | ((long) state[session(client)]));
        Turned turned = taken.get(key);
        if (turned == null) {
            AuthorityLocal next = member(state).copy();
            try {
                next.input(new Input.Arrived(RpcMember.session(state[session(client)]), frames.get(frame)));
            } catch (RuntimeException | AssertionError e) {
                next.broken = "a machine fails: " + e;
            }
            turned = turned(next);
            taken.put(key, turned);
        }
        took(state, turned);
    }

    private void member(int[] state, Input input) {
        AuthorityLocal next = member(state).copy();
        next.input(input);
        done(state, next);
    }

    private void done(int[] state, AuthorityLocal next) {
        took(state, turned(next));
    }

    private Turned turned(AuthorityLocal next) {
        int[] sent = new int[2 * next.sent.size()];
        for (int i = 0; i < next.sent.size(); i++) {
            sent[2 * i] = next.sent.get(i).client();
            sent[2 * i + 1] = number(next.sent.get(i).frame());
        }
        int number = number(next);
        return new Turned(number, sent, next.broken, -1, false, 0, 0);
    }

    private void took(int[] state, Turned turned) {
        broken = broken == null ? turned.broken() : broken;
        state[0] = turned.next();
        for (int i = 0; i < turned.sent().length; i += 2) {
            if (!push(state, toClient(turned.sent()[i]), turned.sent()[i + 1])) {
                cut = true;
            }
        }
    }

    private boolean push(int[] state, int queue, int frame) {
        if (state[queue] == scope.frames) {
            return false;
        }
        state[queue + 1 + state[queue]++] = frame;
        return true;
    }

    // What is promised

    private @Nullable String both(int[] state) {
        int all = 0;
        for (int client = 0; client < clients; client++) {
            AgentLocal of = of(state, client);
            List<LockRequest> wishes = of.wishes(of.told);
            boolean clash = wishes.isEmpty() && (all & of.told) != 0;
            all |= of.told;
            for (int other = 0; !wishes.isEmpty() && other < client; other++) {
                for (LockRequest theirs : of(state, other).wishes(of(state, other).told)) {
                    clash |= wishes.stream().anyMatch(own -> AgentScope.clash(own, theirs));
                }
            }
            if (clash) {
                return "R1: two users were told that they have a lock: " + inWords(state);
            }
        }
        return null;
    }

    /** A bit for each transaction that it waits for. */
    private int[] edges(int[] state) {
        int[] edges = new int[clients];
        AuthorityLocal member = member(state);
        for (int client = 0; client < clients; client++) {
            AgentLocal waiter = of(state, client);
            for (int lock = 0; lock < scope.locks; lock++) {
                long request = waiter.requests[lock];
                if (request == 0 || waiter.done || waiter.aborted) {
                    continue;
                }
                LockMode mode = waiter.wanted(lock);
                for (int other = 0; other < clients; other++) {
                    LockMode held = of(state, other).held[lock];
                    if (other != client && held != null && !AgentScope.together(held, mode)) {
                        edges[client] |= 1 << other;
                    }
                }
                long[] queue = member.queues[lock];
                for (int i = 0; i < queue.length && !(queue[i] == client && queue[i + 1] == request); i += 2) {
                    AgentLocal ahead = of(state, (int) queue[i]);
                    if (queue[i] != client
                            && ahead.requests[lock] == queue[i + 1]
                            && !AgentScope.together(ahead.wanted(lock), mode)) {
                        edges[client] |= 1 << (int) queue[i];
                    }
                }
            }
        }
        return edges;
    }

    /** Notes which locks are on a circle now: those that somebody on one has, and that another one waits for. */
    private void remember(int[] state) {
        int[] reach = edges(state);
        for (int via = 0; via < clients; via++) {
            for (int from = 0; from < clients; from++) {
                reach[from] |= (reach[from] & (1 << via)) != 0 ? reach[via] : 0;
            }
        }
        for (int client = 0; client < clients; client++) {
            if ((reach[client] & (1 << client)) == 0) {
                continue;
            }
            AgentLocal of = of(state, client);
            for (int lock = 0; lock < scope.locks; lock++) {
                for (int other = 0; other < clients; other++) {
                    AgentLocal waiter = of(state, other);
                    if (other == client || waiter.requests[lock] == 0 || (reach[client] & (1 << other)) == 0) {
                        continue;
                    }
                    LockMode held = of.held[lock];
                    if (held != null && !AgentScope.together(held, waiter.wanted(lock))) {
                        state[claim(client, lock, false)] = (int) of.round;
                    }
                    if (of.requests[lock] != 0
                            && !AgentScope.together(of.wanted(lock), waiter.wanted(lock))
                            && isAhead(state, lock, client, other)) {
                        state[claim(client, lock, true)] = (int) of.round;
                    }
                }
            }
        }
    }

    /** Whether the member has the request of the one before that of the other one. */
    private boolean isAhead(int[] state, int lock, int client, int other) {
        long[] queue = member(state).queues[lock];
        for (int i = 0; i < queue.length && queue[i] != other; i += 2) {
            if (queue[i] == client && queue[i + 1] == of(state, client).requests[lock]) {
                return true;
            }
        }
        return false;
    }

    /** Nothing is on its way: no circle may stand; and if everybody is prompt, all transactions end. */
    private @Nullable String missed(int[] from) {
        if (served.contains(print(from))) {
            return null;
        }
        int[] state = from.clone();
        List<Long> way = new ArrayList<>();
        int again = 0;
        while (!allDone(state)) {
            int step = prompt(state);
            if (step < 0) {
                if (again++ == (scope.restarts == 0 ? 0 : 4)) {
                    return "R10: complete: all wait for each other: " + inWords(state);
                }
                for (int client = 0; client < clients; client++) {
                    if (of(state, client).waits && !of(state, client).done) {
                        client(state, client, FIRE, 0);
                    }
                }
            } else {
                if (((step >>> 4) & 31) == END) {
                    again = 0;
                }
                act(state, step);
            }
            if (broken != null || cut) {
                cut = false;
                return broken;
            }
            if (arrival(state) < 0) {
                long print = print(state);
                if (served.contains(print)) {
                    break;
                }
                way.add(print);
            }
        }
        served.add(print(from));
        way.forEach(served::add);
        return null;
    }

    private boolean allDone(int[] state) {
        for (int client = 0; client < clients; client++) {
            if (!of(state, client).done && of(state, client).asked != 0) {
                return false;
            }
        }
        return true;
    }

    /** What happens next if all do at once what there is to do; -1 if all wait. */
    private int prompt(int[] state) {
        int arrival = arrival(state);
        if (arrival >= 0) {
            return arrival;
        }
        if (member(state).quarantined) {
            return OPEN << 4;
        }
        for (int client = 0; client < clients; client++) {
            if (of(state, client).puts) {
                return (FIRE << 4) | client;
            }
        }
        for (int client = 0; client < clients; client++) {
            AgentLocal of = of(state, client);
            if (of.mayEnd() && of.asked != 0) {
                return (END << 4) | client;
            } else if (of.mayAsk() && of.asked != 0) {
                for (int lock = 0; lock < choices(state, client); lock++) {
                    if ((of.asked & (1 << lock)) == 0) {
                        return (((lock << 5) | ASK) << 4) | client;
                    }
                }
            }
        }
        return -1;
    }

    private String inWords(int[] state) {
        StringBuilder text = new StringBuilder();
        for (int client = 0; client < clients; client++) {
            text.append(of(state, client)).append("; ");
        }
        return text.toString();
    }

    @Override
    public String name(int[] state, int step) {
        int kind = (step >>> 4) & 31;
        String whose = NAMES[kind] + (kind == RESTART || kind == OPEN ? "" : step & 15);
        return whose
                + (kind == ASK ? " for lock " + (step >>> 9) : "")
                + (kind <= TO_CLIENT
                        ? ": "
                                + frames.get(state[(kind == TO_MEMBER ? toMember(step & 15) : toClient(step & 15)) + 1])
                                        .messages()
                        : "");
    }
}
