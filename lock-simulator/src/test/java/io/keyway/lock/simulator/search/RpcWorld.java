// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.session.RpcFrame;
import io.keyway.lock.peer.session.RpcMember;
import io.keyway.lock.simulator.search.Scope.Ask;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The members and clients of any algorithm as the states of a search: their cells, as they ship, under sessions at the
 * grain of calls, with links that keep the order of each direction, and clocks that step together, or but for one. A
 * state is some numbers ({@link Links}), and a step of it is a turn of one process ({@link Turns}).
 *
 * <p>After each step: who is believed to hold may hold together (R2), so may what a member has granted (R1), what is
 * granted may stand beside what others believe in, tokens rise over all uses that exclude each other (R5), no more
 * permits are out than their taker sees (R12), each user has one answer and one end (R9, R18). Where nothing is on its
 * way and somebody waits, whoever holds releases, and then everybody is served (R15).
 */
final class RpcWorld implements Explorer.Space {
    /** A stamp that is older gives no belief any more: it is as good as none. */
    private static final int USEFUL = Scope.LEASE * 3 / 4;

    // Steps: the kind, and whose, in the lower 4 bits
    private static final int TICK = 0;
    private static final int FIRE = 1;
    private static final int TO_MEMBER = 2;
    private static final int TO_CLIENT = 3;
    private static final int PAIR = 4;
    private static final int ASK = 5;
    private static final int RELEASE = 6;
    private static final int WITHDRAW = 7;
    private static final int HEAR_END = 8;
    private static final int CONNECT = 9;
    private static final int FORGET = 10;
    private static final int DIE = 11;
    private static final int RESTART = 12;
    private static final int LAG = 13;

    private final Scope scope;
    private final Links links;
    private final Turns turns;
    private final int mostPermits;
    private final LongSet served = new LongSet();
    private boolean cut;
    private @Nullable String broken;

    RpcWorld(Scope scope) {
        this.scope = scope;
        links = new Links(scope);
        turns = new Turns(scope);
        mostPermits = scope.asks.stream()
                .flatMap(users -> users.stream())
                .mapToInt(Ask::capacity)
                .max()
                .orElse(0);
        if (scope.restarts > 0 && scope.members.size() > 1) {
            throw new IllegalArgumentException("a restart among several members is not searched");
        }
    }

    Turns turns() {
        return turns;
    }

    @Override
    public int width() {
        return links.width;
    }

    @Override
    public Set<CoverageGoal> goals() {
        return turns.goals;
    }

    @Override
    public String cost() {
        return turns.locals() + " states of processes, " + turns.steps() + " turns";
    }

    @Override
    public int[] start() {
        int[] state = new int[links.width];
        state[links.restarts] = scope.restarts;
        state[links.forgets] = scope.forgets;
        state[links.deaths] = scope.deaths;
        state[links.drifts] = scope.drifts;
        state[links.withdrawals] = scope.withdrawals;
        state[links.ticks] = scope.ticks;
        state[links.pauses] = scope.pauses;
        for (int client = 0; client < links.clients; client++) {
            state[links.client(client)] = turns.newClient(client);
            int link = links.link(client);
            state[link + Links.STATE] = Links.DOWN;
            state[link + Links.SESSION] = 1 + client - links.clients;
        }
        for (int member = 0; member < links.members; member++) {
            begin(state, member, 0);
        }
        quiet(state);
        for (int client = 0; client < links.clients; client++) {
            connect(state, client);
            quiet(state);
        }
        if (broken != null || cut) {
            throw new AssertionError("the world does not begin: " + broken);
        }
        return state;
    }

    /** Delivers until nothing is on its way. */
    private void quiet(int[] state) {
        for (int step = arrival(state); step >= 0; step = arrival(state)) {
            act(state, step);
        }
    }

    private void begin(int[] state, int member, int life) {
        Turns.Step step = turns.step(turns.newMember(member, life));
        state[member] = step.next;
        sent(state, member, step);
    }

    // What can happen

    @Override
    public int steps(int[] state, int[] into) {
        int count = 0;
        for (int member = 0; member < links.members; member++) {
            if (turns.local(state[member]).isDue()) {
                into[count++] = (FIRE << 4) | member;
            }
            for (int to = 0; to < links.members; to++) {
                if (links.members > 1 && state[links.pair(member, to)] > 0) {
                    into[count++] = (PAIR << 4) | (member << 2) | to;
                }
            }
            if (state[links.restarts] > 0) {
                into[count++] = (RESTART << 4) | member;
            }
        }
        for (int client = 0; client < links.clients; client++) {
            count = steps(state, client, into, count);
        }
        if (state[links.ticks] != 0 && (state[links.pauses] > 0 || !isAnyClientDue(state))) {
            into[count++] = TICK << 4;
            for (int node = 0; state[links.drifts] > 0 && state[links.calm] == 0 && node < links.firstLink(); node++) {
                into[count++] = (LAG << 4) | node;
            }
        }
        return count;
    }

    /**
     * A client that is late is one that was paused, or has too much on the way: what it says may be late anyhow.
     */
    private boolean isAnyClientDue(int[] state) {
        for (int client = 0; client < links.clients; client++) {
            boolean speaks = state[links.toMember(client)] < links.mostToMember;
            if (speaks && !isDead(state, client) && of(state, client).isDue()) {
                return true;
            }
        }
        return false;
    }

    private int steps(int[] state, int client, int[] into, int before) {
        int count = before;
        int link = links.link(client);
        int up = state[link + Links.STATE];
        if (up == Links.UP && state[links.toMember(client)] > 0) {
            into[count++] = (TO_MEMBER << 4) | client;
        }
        MemberLocal member = turns.member(state[scope.memberOf.get(client)]);
        if (up == Links.UP && state[links.forgets] > 0 && (member.forgettable & (1 << client)) != 0) {
            into[count++] = (FORGET << 4) | client;
        }
        if (isDead(state, client)) {
            return count;
        }
        ClientLocal of = turns.client(state[links.client(client)]);
        if (state[links.toClient(client)] > 0) {
            into[count++] = (TO_CLIENT << 4) | client;
        }
        if (of.isDue()) {
            into[count++] = (FIRE << 4) | links.client(client);
        }
        if (of.next() >= 0) {
            into[count++] = (ASK << 4) | client;
        }
        if (of.holder() >= 0) {
            into[count++] = (RELEASE << 4) | client;
        }
        if (state[links.withdrawals] > 0 && of.waiter() >= 0) {
            into[count++] = (WITHDRAW << 4) | client;
        }
        if (up == Links.ENDED || up == Links.RESTARTED) {
            into[count++] = (HEAR_END << 4) | client;
        } else if (up == Links.DOWN && of.wantsLink()) {
            into[count++] = (CONNECT << 4) | client;
        }
        if (state[links.deaths] > 0) {
            into[count++] = (DIE << 4) | client;
        }
        return count;
    }

    private boolean isDead(int[] state, int client) {
        return (state[links.dead] & (1 << client)) != 0;
    }

    @Override
    public Explorer.@Nullable Outcome apply(int[] state, int step, int[] next) {
        System.arraycopy(state, 0, next, 0, next.length);
        act(next, step);
        if (cut) {
            cut = false;
            broken = null;
            return Explorer.Outcome.CUT;
        }
        check(next);
        if (broken == null && needsService(next)) {
            service(next);
        }
        String why = broken;
        broken = null;
        return why == null ? null : new Explorer.Outcome(why);
    }

    private void act(int[] state, int step) {
        int who = step & 15;
        switch (step >>> 4) {
            case TICK -> tick(state, -1);
            case LAG -> {
                state[links.drifts]--;
                tick(state, who);
                state[links.calm] = Scope.LEASE;
            }
            case FIRE -> {
                if (who < links.members) {
                    member(state, who, Turns.FIRE, 0, 0);
                } else {
                    client(state, who - links.members, Turns.FIRE, 0, 0);
                }
            }
            case TO_MEMBER -> {
                int queue = links.toMember(who);
                int frame = state[queue + 1];
                state[links.link(who) + Links.HEARD] = state[queue + 2];
                shift(state, queue, 2);
                int session = state[links.link(who) + Links.SESSION];
                member(state, scope.memberOf.get(who), Turns.FRAME, session, frame);
            }
            case TO_CLIENT -> {
                int queue = links.toClient(who);
                int frame = state[queue + 1];
                int age = state[queue + 2];
                shift(state, queue, 2);
                client(state, who, Turns.FRAME, age, frame);
            }
            case PAIR -> {
                int queue = links.pair(who >> 2, who & 3);
                int frame = state[queue + 1];
                shift(state, queue, 1);
                member(state, who & 3, Turns.FRAME, Turns.OTHER_MEMBER + (who >> 2), frame);
            }
            case ASK -> client(state, who, Turns.ASK, of(state, who).next(), 0);
            case RELEASE -> client(state, who, Turns.RELEASE, of(state, who).holder(), 0);
            case WITHDRAW -> {
                state[links.withdrawals]--;
                client(state, who, Turns.WITHDRAW, of(state, who).waiter(), 0);
            }
            case HEAR_END -> {
                int link = links.link(who);
                boolean restarted = state[link + Links.STATE] == Links.RESTARTED;
                clear(state, links.toClient(who));
                state[link + Links.STATE] = Links.DOWN;
                client(state, who, Turns.END, restarted ? 1 : 0, 0);
            }
            case CONNECT -> connect(state, who);
            case FORGET -> {
                state[links.forgets]--;
                int link = links.link(who);
                clear(state, links.toMember(who));
                state[link + Links.STATE] = Links.ENDED;
                member(state, scope.memberOf.get(who), Turns.END, state[link + Links.SESSION], 0);
            }
            case DIE -> {
                state[links.deaths]--;
                state[links.dead] |= 1 << who;
                clear(state, links.toClient(who));
            }
            default -> restart(state, who);
        }
    }

    private ClientLocal of(int[] state, int client) {
        return turns.client(state[links.client(client)]);
    }

    private void restart(int[] state, int member) {
        state[links.restarts]--;
        for (int client = 0; client < links.clients; client++) {
            int link = links.link(client);
            clear(state, links.toMember(client));
            if (state[link + Links.STATE] != Links.DOWN) {
                state[link + Links.STATE] = Links.RESTARTED;
            }
        }
        begin(state, member, scope.restarts - state[links.restarts]);
    }

    private void connect(int[] state, int client) {
        int link = links.link(client);
        state[link + Links.STATE] = Links.UP;
        state[link + Links.SESSION] += links.clients;
        state[link + Links.HEARD] = Turns.NO_ECHO;
        int session = state[link + Links.SESSION];
        if (session >= Links.SESSIONS) {
            throw new IllegalStateException("too many sessions for this search");
        }
        member(state, scope.memberOf.get(client), Turns.OPEN, session, 0);
        client(state, client, Turns.OPEN, session, 0);
    }

    private void tick(int[] state, int lags) {
        if (state[links.ticks] > 0) {
            state[links.ticks]--;
        }
        if (state[links.pauses] > 0 && isAnyClientDue(state)) {
            state[links.pauses]--;
        }
        state[links.calm] = Math.max(0, state[links.calm] - 1);
        for (int member = 0; member < links.members; member++) {
            if (member != lags) {
                state[member] = turns.take(state[member], Turns.TICK, 0, 0).next;
            }
        }
        for (int client = 0; client < links.clients; client++) {
            int at = links.client(client);
            if (at != lags && !isDead(state, client)) {
                state[at] = turns.take(state[at], Turns.TICK, 0, 0).next;
                older(state, links.link(client) + Links.HEARD);
                older(state, links.toMember(client), 2);
                older(state, links.toClient(client), 2);
            }
        }
    }

    private static void older(int[] state, int at) {
        state[at] = state[at] < USEFUL ? state[at] + 1 : Turns.NO_ECHO;
    }

    private static void older(int[] state, int queue, int width) {
        for (int i = 0; i < state[queue]; i++) {
            older(state, queue + width * (i + 1));
        }
    }

    // Turns of processes

    private void member(int[] state, int member, int kind, int argument, int frame) {
        Turns.Step step = turns.take(state[member], kind, argument, frame);
        state[member] = step.next;
        broken = step.broken == null ? broken : step.broken;
        sent(state, member, step);
    }

    private void sent(int[] state, int member, Turns.Step step) {
        for (int i = 0; i < step.sent.length; i += 2) {
            int to = step.sent[i];
            int frame = step.sent[i + 1];
            if (to >= RpcMember.MEMBERS) {
                int queue = links.pair(member, (int) (to - RpcMember.MEMBERS));
                int size = state[queue];
                if (size == links.pairs()) {
                    cut = true;
                    return;
                }
                state[queue + 1 + size] = frame;
                state[queue]++;
                continue;
            }
            int client = MemberLocal.client(scope, to);
            int link = links.link(client);
            if (state[link + Links.SESSION] == to && state[link + Links.STATE] == Links.UP && !isDead(state, client)) {
                push(state, links.toClient(client), links.mostToClient, frame, state[link + Links.HEARD]);
            }
        }
    }

    private void push(int[] state, int queue, int most, int frame, int age) {
        int size = state[queue];
        if (size == most) {
            cut = true;
            return;
        }
        state[queue + 1 + 2 * size] = frame;
        state[queue + 2 + 2 * size] = age;
        state[queue]++;
    }

    private static void shift(int[] state, int queue, int width) {
        int size = --state[queue];
        System.arraycopy(state, queue + 1 + width, state, queue + 1, size * width);
        Arrays.fill(state, queue + 1 + size * width, queue + 1 + (size + 1) * width, 0);
    }

    private static void clear(int[] state, int queue) {
        Arrays.fill(state, queue, queue + 1 + 2 * state[queue], 0);
    }

    private void client(int[] state, int client, int kind, int argument, int frame) {
        int at = links.client(client);
        Turns.Step step = turns.take(state[at], kind, argument, frame);
        state[at] = step.next;
        broken = step.broken == null ? broken : step.broken;
        for (int i = 0; i < step.sent.length; i += 2) {
            push(state, links.toMember(client), links.mostToMember, step.sent[i + 1], 0);
        }
        if (step.begun != null) {
            begins(state, step.begun, step.token);
            if (kind == Turns.ASK && step.begun.mode() == LockMode.PERMITS) {
                int out = believes(state) >>> 8;
                if (out > step.begun.capacity()) {
                    broken = "R12: " + out + " permits are used by a cache that sees " + step.begun.capacity();
                }
            }
        }
    }

    // What is promised

    private void begins(int[] state, Ask ask, long token) {
        long highest = Links.token(state, links.highest);
        long alone = Links.token(state, links.highestAlone);
        if (token <= (ask.mode() == LockMode.EXCLUSIVE ? highest : alone)) {
            broken = "R5: token " + token + " after " + Math.max(highest, alone);
        }
        if (ask.mode() == LockMode.PERMITS) {
            return;
        }
        Links.token(state, links.highest, Math.max(highest, token));
        if (ask.mode() == LockMode.EXCLUSIVE) {
            Links.token(state, links.highestAlone, Math.max(alone, token));
        }
    }

    private int believes(int[] state) {
        int all = 0;
        for (int client = 0; client < links.clients; client++) {
            all += isDead(state, client) ? 0 : of(state, client).believes;
        }
        return all;
    }

    private void check(int[] state) {
        int believed = believes(state);
        if (broken != null || believed == 0) {
            return;
        }
        int alone = believed & 15;
        if (alone > 1 || (alone == 1 && believed > 15)) {
            broken = "R2: several believe in what nobody can have together";
        } else if (believed >>> 8 > mostPermits) {
            broken = "R12: " + (believed >>> 8) + " permits are believed in";
        }
        for (int member = 0; member < links.members; member++) {
            for (MemberLocal.Grant grant : turns.member(state[member]).grants) {
                beside(state, grant);
            }
        }
    }

    private void beside(int[] state, MemberLocal.Grant grant) {
        for (int client = 0; client < links.clients; client++) {
            if (client == grant.client() || isDead(state, client)) {
                continue;
            }
            ClientLocal of = of(state, client);
            for (int user = 0; of.believes != 0 && user < of.believed.length; user++) {
                LockMode mode = scope.asks.get(client).get(user).mode();
                if (of.believed[user] && (mode != grant.mode() || mode == LockMode.EXCLUSIVE)) {
                    broken = "R1: " + grant + " stands while client " + client + " believes in token " + of.token[user];
                }
            }
        }
    }

    // Whether everybody is served

    private boolean needsService(int[] state) {
        boolean waits = false;
        for (int client = 0; client < links.clients; client++) {
            if (state[links.toMember(client)] > 0 && state[links.link(client) + Links.STATE] == Links.UP) {
                return false;
            }
            if (!isDead(state, client)) {
                if (state[links.toClient(client)] > 0) {
                    return false;
                }
                waits |= of(state, client).waits();
            }
        }
        return waits
                && !arePairs(state)
                && (scope.ticks != 0 || !anyStep(state))
                && !served.contains(Explorer.print(state));
    }

    private boolean arePairs(int[] state) {
        for (int pair = 0; links.members > 1 && pair < links.members * links.members; pair++) {
            if (state[links.pair(pair / links.members, pair % links.members)] > 0) {
                return true;
            }
        }
        return false;
    }

    private boolean anyStep(int[] state) {
        return steps(state, new int[Explorer.MOST_STEPS]) > 0;
    }

    /** Nothing goes wrong any more, everybody is prompt, whoever holds releases, and nobody new comes. */
    private void service(int[] from) {
        int[] state = from.clone();
        List<Long> way = new ArrayList<>();
        int units = scope.ticks == 0 ? 0 : scope.quarantine + 4 * Scope.LEASE;
        while (needsAnybody(state)) {
            int step = prompt(state);
            if (step >>> 4 == TICK && units-- == 0) {
                broken = "R15: a request waits for ever";
                return;
            }
            if (step >>> 4 == TICK) {
                long print = Explorer.print(state);
                if (served.contains(print)) {
                    break;
                }
                way.add(print);
            }
            act(state, step);
            if (cut || broken != null) {
                cut = false;
                return;
            }
        }
        way.forEach(served::add);
    }

    private boolean needsAnybody(int[] state) {
        for (int client = 0; client < links.clients; client++) {
            if (!isDead(state, client) && of(state, client).waits()) {
                return true;
            }
        }
        return false;
    }

    /** What arrives next; -1 if nothing is on its way. */
    private int arrival(int[] state) {
        for (int client = 0; client < links.clients; client++) {
            if (!isDead(state, client) && state[links.toClient(client)] > 0) {
                return (TO_CLIENT << 4) | client;
            }
        }
        for (int pair = 0; links.members > 1 && pair < links.members * links.members; pair++) {
            int from = pair / links.members;
            int to = pair % links.members;
            if (state[links.pair(from, to)] > 0) {
                return (PAIR << 4) | (from << 2) | to;
            }
        }
        for (int client = 0; client < links.clients; client++) {
            if (state[links.toMember(client)] > 0 && state[links.link(client) + Links.STATE] == Links.UP) {
                return (TO_MEMBER << 4) | client;
            }
        }
        return -1;
    }

    /** What happens next if everybody does at once what there is to do. */
    private int prompt(int[] state) {
        int arrival = arrival(state);
        if (arrival >= 0) {
            return arrival;
        }
        for (int member = 0; member < links.members; member++) {
            if (turns.local(state[member]).isDue()) {
                return (FIRE << 4) | member;
            }
        }
        for (int client = 0; client < links.clients; client++) {
            if (isDead(state, client)) {
                continue;
            }
            ClientLocal of = of(state, client);
            int up = state[links.link(client) + Links.STATE];
            if (up == Links.ENDED || up == Links.RESTARTED) {
                return (HEAR_END << 4) | client;
            } else if (up == Links.DOWN && of.wantsLink()) {
                return (CONNECT << 4) | client;
            } else if (of.isDue()) {
                return (FIRE << 4) | links.client(client);
            } else if (of.holder() >= 0) {
                return (RELEASE << 4) | client;
            }
        }
        return TICK << 4;
    }

    // For people

    @Override
    public String name(int[] state, int step) {
        int who = step & 15;
        return switch (step >>> 4) {
            case TICK -> "a unit of time passes";
            case LAG -> "a unit of time passes, but not on the clock of " + node(who);
            case FIRE -> node(who) + " does what is due";
            case TO_MEMBER ->
                "to " + node(scope.memberOf.get(who)) + " from client " + who + ": " + text(state, links.toMember(who));
            case TO_CLIENT ->
                "to client " + who + " from " + node(scope.memberOf.get(who)) + ": " + text(state, links.toClient(who));
            case PAIR ->
                "to " + node(who & 3) + " from " + node(who >> 2) + ": "
                        + turns.frame(state[links.pair(who >> 2, who & 3) + 1]).messages();
            case ASK ->
                "client " + who + " asks: "
                        + scope.asks.get(who).get(of(state, who).next());
            case RELEASE -> "client " + who + " releases";
            case WITHDRAW -> "client " + who + " gives up";
            case HEAR_END -> "client " + who + " hears that its session is over";
            case CONNECT -> "client " + who + " opens a session";
            case FORGET -> "the session of client " + who + " ends: it was silent";
            case DIE -> "client " + who + " dies";
            default -> node(who) + " is killed and starts anew";
        };
    }

    /** Members, then clients. */
    List<String> processes() {
        return IntStream.range(0, links.firstLink()).mapToObj(this::node).toList();
    }

    private String node(int number) {
        return number < links.members ? "member " + scope.members.get(number) : "client " + (number - links.members);
    }

    private String text(int[] state, int queue) {
        RpcFrame frame = turns.frame(state[queue + 1]);
        int age = state[queue + 2];
        String stamp = age == Turns.NO_ECHO ? "" : ", stamp " + age + " old";
        return (frame.messages().isEmpty() ? "KEEP" : frame.messages().toString()) + stamp;
    }
}
