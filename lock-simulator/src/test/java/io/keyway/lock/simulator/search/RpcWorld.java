// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.session.RpcMember;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The members and clients of any algorithm as the states of a search: their cells, as they ship, under sessions at the
 * grain of calls, with links that keep the order of each direction, and clocks that step together, or but for one. A
 * state is some numbers ({@link Links}), and a step of it is a turn of one process ({@link Turns}).
 *
 * <p>After each step what is promised is looked at ({@link Promises}; the processes say themselves whether each user
 * has one answer and one end, R9 and R18), and where nothing is on its way and somebody waits, whether everybody is
 * served ({@link Service}).
 */
class RpcWorld implements Explorer.Space {
    private final Scope scope;
    private final Links links;
    private final Turns turns;
    private final Promises promises;
    private final Symmetry symmetry;
    private final Service service;
    private final StepNames names;
    private boolean cut;
    private @Nullable String broken;

    RpcWorld(Scope scope) {
        this.scope = scope;
        links = new Links(scope);
        turns = new Turns(scope);
        symmetry = new Symmetry(scope, links, turns);
        promises = new Promises(scope, links, turns);
        service = new Service(this, scope, links, turns);
        names = new StepNames(scope, links, turns);
    }

    Turns turns() {
        return turns;
    }

    @Override
    public int width() {
        return links.width;
    }

    @Override
    public long print(int[] state) {
        return symmetry.print(state);
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
        state[links.cuts] = scope.cuts;
        for (int client = 0; client < links.clients; client++) {
            state[links.client(client)] = turns.newClient(client);
            int link = links.link(client);
            state[link + Links.STATE] = Links.DOWN;
            state[link + Links.SESSION] = 1 + client - links.clients;
        }
        for (int member = 0; member < links.members; member++) {
            begin(state, member, turns.newMember(member));
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
        for (int step = service.arrival(state); step >= 0; step = service.arrival(state)) {
            act(state, step);
        }
    }

    private void begin(int[] state, int member, Turns.Step step) {
        state[member] = step.next;
        sent(state, member, step);
    }

    // What can happen

    @Override
    public int steps(int[] state, int[] into) {
        int count = 0;
        for (int member = 0; member < links.members; member++) {
            if (turns.local(state[member]).isDue()) {
                into[count++] = (Steps.FIRE << 4) | member;
            }
            for (int to = 0; to < links.members; to++) {
                if (links.members > 1 && state[links.pair(member, to)] > 0 && !links.isCut(state, member, to)) {
                    into[count++] = (Steps.PAIR << 4) | (member << 2) | to;
                }
            }
            if (state[links.restarts] > 0 && scope.isMortal(member)) {
                into[count++] = (Steps.RESTART << 4) | member;
            }
        }
        if (state[links.alone] != 0 || state[links.cuts] > 0) {
            into[count++] = ((state[links.alone] != 0 ? Steps.HEAL : Steps.CUT) << 4) | scope.lonely;
        }
        for (int client = 0; client < links.clients; client++) {
            count = steps(state, client, into, count);
        }
        if (state[links.ticks] != 0 && (state[links.pauses] > 0 || !isAnyClientDue(state))) {
            into[count++] = Steps.TICK << 4;
            for (int node = 0; state[links.drifts] > 0 && state[links.calm] == 0 && node < links.firstLink(); node++) {
                into[count++] = (Steps.LAG << 4) | node;
            }
        }
        return count;
    }

    /** What is not to be late in this scope; -1 if there is nothing. */
    private int prompt(int[] state) {
        if (!scope.prompt) {
            return -1;
        }
        for (int process = 0; process < links.firstLink(); process++) {
            boolean isDead = process >= links.members && links.isDead(state, process - links.members);
            if (!isDead && turns.local(state[process]).isDue()) {
                return (Steps.FIRE << 4) | process;
            }
        }
        for (int client = 0; client < links.clients; client++) {
            boolean up = state[links.link(client) + Links.STATE] == Links.UP;
            if (up && state[links.toMember(client)] > 0) {
                return (Steps.TO_MEMBER << 4) | client;
            }
            if (!links.isDead(state, client) && state[links.toClient(client)] > 0) {
                return (Steps.TO_CLIENT << 4) | client;
            }
        }
        for (int pair = 0; pair < links.members * links.members; pair++) {
            int queue = links.pair(pair / links.members, pair % links.members);
            boolean comes = state[queue] > 0 && !links.isCut(state, pair / links.members, pair % links.members);
            if (comes && turns.isOfElections(state[queue + 1])) {
                return (Steps.PAIR << 4) | ((pair / links.members) << 2) | (pair % links.members);
            }
        }
        return -1;
    }

    /** A client that is late was paused, or has too much on the way: what it says may be late anyhow. */
    private boolean isAnyClientDue(int[] state) {
        for (int client = 0; client < links.clients; client++) {
            boolean speaks = state[links.toMember(client)] < links.mostToMember;
            if (speaks && !links.isDead(state, client) && of(state, client).isDue()) {
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
            into[count++] = (Steps.TO_MEMBER << 4) | client;
        }
        MemberLocal member = turns.member(state[scope.memberOf.get(client)]);
        if (up == Links.UP && state[links.forgets] > 0 && (member.forgettable & (1 << client)) != 0) {
            into[count++] = (Steps.FORGET << 4) | client;
        }
        if (links.isDead(state, client)) {
            return count;
        }
        ClientLocal of = turns.client(state[links.client(client)]);
        if (state[links.toClient(client)] > 0) {
            into[count++] = (Steps.TO_CLIENT << 4) | client;
        }
        if (of.isDue()) {
            into[count++] = (Steps.FIRE << 4) | links.client(client);
        }
        if (of.next() >= 0) {
            into[count++] = (Steps.ASK << 4) | client;
        }
        if (of.holder() >= 0) {
            into[count++] = (Steps.RELEASE << 4) | client;
        }
        if (state[links.withdrawals] > 0 && of.waiter() >= 0) {
            into[count++] = (Steps.WITHDRAW << 4) | client;
        }
        if (up == Links.ENDED || up == Links.RESTARTED) {
            into[count++] = (Steps.HEAR_END << 4) | client;
        } else if (up == Links.DOWN && of.wantsLink()) {
            into[count++] = (Steps.CONNECT << 4) | client;
        }
        if (state[links.deaths] > 0) {
            into[count++] = (Steps.DIE << 4) | client;
        }
        return count;
    }

    @Override
    public Explorer.@Nullable Outcome apply(int[] state, int step, int[] next) {
        System.arraycopy(state, 0, next, 0, next.length);
        act(next, step);
        for (int more = prompt(next); more >= 0 && !cut && broken == null; more = prompt(next)) {
            broken = promises.broken(next);
            act(next, more);
        }
        if (cut) {
            cut = false;
            broken = null;
            return Explorer.Outcome.CUT;
        }
        broken = broken == null ? promises.broken(next) : broken;
        if (broken == null && service.isNeeded(next)) {
            String why = service.missed(next);
            broken = broken == null ? why : broken;
        }
        String why = broken;
        broken = null;
        return why == null ? null : new Explorer.Outcome(why);
    }

    private void act(int[] state, int step) {
        int who = step & 15;
        switch (step >>> 4) {
            case Steps.TICK -> tick(state, -1);
            case Steps.LAG -> {
                state[links.drifts]--;
                tick(state, who);
                state[links.calm] = scope.lease;
            }
            case Steps.FIRE -> {
                if (who < links.members) {
                    member(state, who, Turns.FIRE, 0, 0);
                } else {
                    client(state, who - links.members, Turns.FIRE, 0, 0);
                }
            }
            case Steps.TO_MEMBER -> {
                int queue = links.toMember(who);
                int frame = state[queue + 1];
                state[links.link(who) + Links.HEARD] = state[queue + 2];
                Links.shift(state, queue, 2);
                int session = state[links.link(who) + Links.SESSION];
                member(state, scope.memberOf.get(who), Turns.FRAME, session, frame);
            }
            case Steps.TO_CLIENT -> {
                int queue = links.toClient(who);
                int frame = state[queue + 1];
                int age = state[queue + 2];
                Links.shift(state, queue, 2);
                client(state, who, Turns.FRAME, age, frame);
            }
            case Steps.PAIR -> {
                int queue = links.pair(who >> 2, who & 3);
                int frame = state[queue + 1];
                Links.shift(state, queue, 1);
                int kind = frame == Turns.STARTED_ANEW ? Turns.END : Turns.FRAME;
                member(state, who & 3, kind, Turns.OTHER_MEMBER + (who >> 2), kind == Turns.END ? 0 : frame);
            }
            case Steps.ASK -> client(state, who, Turns.ASK, of(state, who).next(), 0);
            case Steps.RELEASE ->
                client(state, who, Turns.RELEASE, of(state, who).holder(), 0);
            case Steps.WITHDRAW -> {
                state[links.withdrawals]--;
                client(state, who, Turns.WITHDRAW, of(state, who).waiter(), 0);
            }
            case Steps.HEAR_END -> {
                int link = links.link(who);
                boolean restarted = state[link + Links.STATE] == Links.RESTARTED;
                Links.clear(state, links.toClient(who), 2);
                state[link + Links.STATE] = Links.DOWN;
                client(state, who, Turns.END, restarted ? 1 : 0, 0);
            }
            case Steps.CONNECT -> connect(state, who);
            case Steps.FORGET -> {
                state[links.forgets]--;
                int link = links.link(who);
                Links.clear(state, links.toMember(who), 2);
                state[link + Links.STATE] = Links.ENDED;
                member(state, scope.memberOf.get(who), Turns.END, state[link + Links.SESSION], 0);
            }
            case Steps.DIE -> {
                state[links.deaths]--;
                state[links.dead] |= 1 << who;
                Links.clear(state, links.toClient(who), 2);
            }
            case Steps.CUT, Steps.HEAL -> {
                boolean cuts = step >>> 4 == Steps.CUT;
                state[links.alone] = cuts ? 1 : 0;
                state[links.cuts] -= cuts ? 1 : 0;
                for (int other = 0; other < links.members; other++) {
                    if (other != who) {
                        int kind = cuts ? Turns.UNHEARD : Turns.HEARD;
                        member(state, other, kind, Turns.OTHER_MEMBER + who, 0);
                        member(state, who, kind, Turns.OTHER_MEMBER + other, 0);
                    }
                }
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
            if (scope.memberOf.get(client) != member) {
                continue; // its member lives
            }
            int link = links.link(client);
            Links.clear(state, links.toMember(client), 2);
            if (state[link + Links.STATE] != Links.DOWN) {
                state[link + Links.STATE] = Links.RESTARTED;
            }
        }
        for (int other = 0; links.members > 1 && other < links.members; other++) {
            if (other != member) {
                Links.clear(state, links.pair(other, member), 1);
                cut |= !links.pushBetween(state, links.pair(member, other), Turns.STARTED_ANEW);
            }
        }
        int life = scope.restarts - state[links.restarts];
        begin(state, member, turns.take(state[member], Turns.RESTART, life, 0));
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
            if (at != lags && !links.isDead(state, client)) {
                state[at] = turns.take(state[at], Turns.TICK, 0, 0).next;
                links.older(state, links.link(client) + Links.HEARD);
                links.older(state, links.toMember(client), 2);
                links.older(state, links.toClient(client), 2);
            }
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
                int other = (int) (to - RpcMember.MEMBERS);
                // Whoever has not heard yet of the other one's new life still speaks to the former.
                if (!Links.stands(state, links.pair(other, member), Turns.STARTED_ANEW)) {
                    cut |= !links.pushBetween(state, links.pair(member, other), frame);
                }
                continue;
            }
            int client = MemberLocal.client(scope, RpcMember.session(to));
            int link = links.link(client);
            if (state[link + Links.SESSION] == to
                    && state[link + Links.STATE] == Links.UP
                    && !links.isDead(state, client)) {
                cut |= !Links.push(state, links.toClient(client), links.mostToClient, frame, state[link + Links.HEARD]);
            }
        }
    }

    private void client(int[] state, int client, int kind, int argument, int frame) {
        int at = links.client(client);
        Turns.Step step = turns.take(state[at], kind, argument, frame);
        state[at] = step.next;
        broken = step.broken == null ? broken : step.broken;
        for (int i = 0; i < step.sent.length; i += 2) {
            cut |= !Links.push(state, links.toMember(client), links.mostToMember, step.sent[i + 1], 0);
        }
        if (step.begun != null) {
            String why = promises.begins(state, step.begun, step.token, kind == Turns.ASK);
            broken = why == null ? broken : why;
        }
    }

    /** Does that step, too; false if the search goes no further behind it. */
    boolean goesOn(int[] state, int step) {
        act(state, step);
        boolean over = cut || broken != null;
        cut = false;
        return !over;
    }

    @Override
    public String name(int[] state, int step) {
        return names.of(state, step);
    }

    Scope scope() {
        return scope;
    }

    /** Members, then clients. */
    List<String> processes() {
        return names.processes();
    }
}
