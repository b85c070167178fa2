// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.Deadlock;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.TransactionOptions.OnDeadlock;
import io.keyway.lock.kit.agent.Agent;
import io.keyway.lock.kit.agent.AgentEffects;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.spi.Probe;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A user of transactions at a client: the shipping agent, over the shipping machines. It does what the kit's
 * transaction does between the two, one transaction after the other, and tries the work of an aborted one again.
 */
final class AgentUser implements AgentEffects {
    /** A grant in use. */
    record Held(SimCell cell, GrantHandle handle, long token) {}

    /** Comes back with each notice. */
    record Ask(AgentUser user, long life, LockName name) {}

    /** Verbs: a lock and then the next one; both at once. By any other verb the seed draws which, and how. */
    static final String STEPS = "steps";

    static final String AT_ONCE = "at-once";

    private static final long TRIES_AGAIN = 50 * Nanos.MILLI;

    final SimNode node;
    final int index;
    final Map<LockName, Held> held = new LinkedHashMap<>();
    final Map<LockName, Long> requests = new LinkedHashMap<>();
    /** What its user was told that it holds. */
    final Set<LockName> told = new HashSet<>();

    final ArrayDeque<Act> later = new ArrayDeque<>();
    Probe.Agent self = new Probe.Agent(0, 0);

    @Nullable
    Agent agent;

    @Nullable
    Act act;

    /** Its locks over nodes; null if its locks are at one member each. */
    @Nullable
    NodeWork nodes;

    private final AgentModel model;
    private final ArrayDeque<Runnable> effects = new ArrayDeque<>();
    private final List<LockRequest> next = new ArrayList<>();
    private boolean draining;
    private boolean looks;
    private boolean aborted;
    private boolean ending;
    /** How often it has given way, and the round of its last search. */
    private int gaveWay;

    private long round;
    private long life;
    private long alarm = Long.MAX_VALUE;

    AgentUser(AgentModel model, SimNode node, int index) {
        this.model = model;
        this.node = node;
        this.index = index;
    }

    private long now() {
        return node.clock();
    }

    // Its transactions

    void begin(Act next) {
        if (act != null) {
            later.addLast(next);
        } else {
            act = next;
            begin(next, 0);
        }
    }

    private void begin(Act work, int age) {
        model.circles.changes();
        life++;
        aborted = false;
        ending = false;
        gaveWay = age;
        alarm = Long.MAX_VALUE;
        Random random = new Random(Draws.of(model.world.options().seed() + age, work.at()));
        self = new Probe.Agent(1 + random.nextInt(3), model.nextNumber());
        boolean drawn = !work.verb().equals(STEPS) && !work.verb().equals(AT_ONCE);
        OnDeadlock answer = drawn && random.nextInt(5) == 0 ? OnDeadlock.ABORT : OnDeadlock.SURRENDER;
        Agent fresh = new Agent(self, node.toString(), age, answer, this);
        agent = fresh;
        nodes = model.isOverNodes() ? new NodeWork(model, this) : null;
        next.clear();
        if (drawn) {
            for (LockName name : model.locks()) {
                if (random.nextInt(3) > 0) {
                    next.add(new LockRequest(name, random.nextInt(4) == 0 ? LockMode.SHARED : LockMode.EXCLUSIVE));
                }
            }
            Collections.shuffle(next, random);
        } else {
            int all = model.locks().size();
            next.add(new LockRequest(model.locks().get(work.name()), LockMode.EXCLUSIVE));
            next.add(new LockRequest(model.locks().get((work.name() + 1) % all), LockMode.EXCLUSIVE));
        }
        if (drawn ? random.nextBoolean() : work.verb().equals(AT_ONCE)) {
            begin(next);
            next.clear();
        }
        if (work.patience() > 0) {
            wake(work.patience(), () -> {
                if (!ending && !fresh.isComplete()) {
                    model.gaveUp++;
                    close(true);
                }
            });
        }
        decided();
    }

    private void begin(List<LockRequest> wanted) {
        if (nodes != null) {
            wanted.forEach(nodes::add);
            advance();
        } else {
            wanted.forEach(this::want);
        }
    }

    /** Whether it wants anything. */
    boolean waits() {
        return agent != null && !aborted && !ending && !agent.isComplete();
    }

    /** The mode in which it wants that lock, or part, which it wants. */
    LockMode mode(LockName name) {
        LockMode mode = agent == null ? null : agent.mode(name);
        if (mode == null) {
            throw new IllegalStateException(this + " does not want " + name);
        }
        return mode;
    }

    /** Asks for the next nodes. */
    private void advance() {
        Agent mine = agent;
        if (nodes == null || mine == null || aborted || ending) {
            return;
        }
        mine.unfinished(true);
        nodes.advance();
        mine.unfinished(nodes.lacks());
        if (nodes.lacks() && !looks) {
            looks = true;
            wake(250 * Nanos.MILLI, () -> {
                looks = false;
                advance();
                decided();
            });
        }
    }

    /** Asks for the parts that held locks are held without, and counts on those that have come. */
    private void askSpares() {
        Agent mine = agent;
        // Where a lock is at all nodes, one that is taken again from a cache is hardly ever met.
        boolean asks = model.defect != AgentDefect.TAKES_IT_AGAIN;
        if (nodes == null || mine == null || aborted || !asks) {
            return;
        }
        nodes.askSpares();
        for (LockName part : held.keySet()) {
            if (nodes.isOfTold(part) && told.add(part)) {
                mine.report(part);
            }
        }
    }

    /** That part is not to be had any more. */
    void takeBack(LockName part) {
        Agent mine = agent;
        Long request = requests.remove(part);
        Held grant = held.get(part);
        if (mine != null && request != null) {
            mine.gone(part, request);
            send(part, new LockCall.Withdraw(request));
        } else if (mine != null && grant != null && !told.contains(part)) {
            held.remove(part);
            mine.released(part);
            giveBack(grant);
        }
    }

    void spare(LockName part, boolean spare) {
        Agent mine = agent;
        if (mine != null && model.defect != AgentDefect.COUNTS_ON_EACH_NODE) {
            mine.spare(part, spare, now());
        }
    }

    void want(LockRequest wanted) {
        Agent mine = agent;
        if (mine != null) {
            long id = nextRequest();
            mine.asked(wanted.name(), wanted.mode(), id, now());
            ask(wanted.name(), wanted.mode(), id);
        }
    }

    /** After each thing that it hears of: has it all, and what is next? */
    private void decided() {
        Agent mine = agent;
        if (mine == null || act == null || ending) {
            return;
        }
        if (aborted) {
            ending = true;
            wake(TRIES_AGAIN, () -> {
                int age = mine.age();
                Act work = act;
                release();
                if (work == null || model.world.healed()) {
                    done();
                } else {
                    begin(work, age);
                }
            });
        } else if (mine.isComplete()) {
            told.clear();
            told.addAll(held.keySet());
            if (nodes != null) {
                nodes.tell();
            }
            askSpares();
            if (next.isEmpty()) {
                ending = true;
                model.tokens.begin(this);
                Act work = act;
                wake(model.world.healed() ? Nanos.MILLI : work.hold(), () -> {
                    model.completed++;
                    close(false);
                });
            } else {
                begin(List.of(next.remove(0)));
            }
        }
    }

    private void close(boolean givesUp) {
        Agent mine = agent;
        if (mine != null && givesUp) {
            mine.end();
        }
        release();
        done();
    }

    private void release() {
        model.circles.changes();
        withdrawAll();
        held.values().forEach(this::giveBack);
        held.clear();
        told.clear();
        agent = null;
        nodes = null;
        life++;
    }

    private void done() {
        act = null;
        Act following = later.pollFirst();
        if (following != null && !model.world.healed()) {
            begin(following);
        }
    }

    /** The process is gone. */
    void ended() {
        effects.clear();
        held.clear();
        requests.clear();
        told.clear();
        agent = null;
        nodes = null;
    }

    private void wake(long nanos, Runnable what) {
        long current = life;
        model.world.wake(node, Math.max(1, nanos), 0, (Runnable) () -> {
            if (current == life) {
                what.run();
                model.changed();
            }
        });
    }

    // What its agent wants; done when the turn is over that it decided in

    private void later(Runnable effect) {
        effects.addLast(effect);
        if (!draining) {
            draining = true;
            model.world.wake(node, 1, 0, (Runnable) () -> {
                draining = false;
                for (Runnable each = effects.pollFirst(); each != null; each = effects.pollFirst()) {
                    each.run();
                }
            });
        }
    }

    private void send(LockName name, LockCall call) {
        later(() -> model.cell(node, name).input(new Input.Command(model.key(name), call)));
    }

    @Override
    public long nextRequest() {
        return model.nextNumber();
    }

    @Override
    public void ask(LockName name, LockMode mode, long request) {
        requests.put(name, request);
        long ttl = model.world.options().maxTtl() / 2;
        if (nodes != null) {
            nodes.asks(name);
        }
        send(
                name,
                new LockCall.Acquire(
                        request,
                        mode,
                        1,
                        1,
                        ttl,
                        nodes == null ? model.owner(node) : nodes.owner(name),
                        true,
                        true,
                        ttl / 4,
                        0,
                        new Ask(this, life, name)));
        Agent mine = agent;
        if (mine != null) {
            mine.sent(name, request, now());
        }
    }

    @Override
    public void release(LockName name, long token) {
        Held grant = held.remove(name);
        if (told.contains(name) || grant == null || grant.token() != token) {
            throw new Violation("R10", "honest: " + this + " gives up " + name + ", and its user relies on " + told);
        }
        model.surrenders++;
        model.circles.surrenders();
        giveBack(grant);
        plainAge();
    }

    @Override
    public void withdraw(LockName name, long request) {
        if (!requests.remove(name, request)) {
            throw new Violation("R10", "honest: " + this + " gives up the place of " + request + " for " + name);
        }
        model.surrenders++;
        model.places++;
        model.circles.surrenders();
        send(name, new LockCall.Withdraw(request));
        plainAge();
    }

    private void plainAge() {
        if (model.defect == AgentDefect.PLAIN_AGES) {
            int shown = AgentDefect.plain(++gaveWay);
            Agent mine = agent;
            later(() -> {
                if (mine != null && mine.equals(agent)) {
                    mine.behave(mine.onDeadlock(), 0, shown, now());
                }
            });
        }
    }

    private void giveBack(Held grant) {
        later(() -> {
            if (!grant.handle().tryRelease(grant.token(), now())) {
                grant.cell().input(new Input.Command(grant.handle().key(), new LockCall.Release(grant.token())));
            }
        });
    }

    /** Has the node of that grant go on above that token. */
    void raise(Held grant, long request, long token, long limit) {
        later(() -> {
            GrantHandle handle = grant.handle();
            if (model.defect == AgentDefect.TAKES_IT_AGAIN || handle.seal(grant.token())) {
                grant.cell().input(new Input.Command(handle.key(), new LockCall.Raise(request, token, limit)));
            }
        });
    }

    @Override
    public boolean passOver(LockName name) {
        boolean may = model.defect != AgentDefect.WAITS_IN_A_CIRCLE && model.defect != AgentDefect.COUNTS_ON_EACH_NODE;
        boolean can = may && nodes != null && nodes.passOver(name);
        if (can) {
            model.circles.givesWay();
            later(this::advance);
        }
        return can;
    }

    @Override
    public void probe(LockName name, long request, Probe probe) {
        boolean own = probe.initiator().equals(self);
        if (own && probe.kind() != Probe.Kind.CONFIRM) {
            round = probe.round();
            model.circles.said(this, probe);
        }
        if (own && probe.kind() == Probe.Kind.CONFIRM && model.defect == AgentDefect.NO_CONFIRMATION) {
            Probe.Edge last = probe.path().get(probe.path().size() - 1);
            Probe back = probe.on(Probe.Kind.CONFIRM, probe.path().size() - 1);
            probed(last.lock(), last.token(), last.ahead(), back);
            return;
        }
        Probe sent = AgentDefect.sent(model.defect, self, probe);
        if (sent != null) {
            send(name, new LockCall.Seek(request, sent));
        }
    }

    @Override
    public void abort(Deadlock deadlock) {
        Held mine = held.get(deadlock.gaveUp());
        if (model.defect == AgentDefect.GIVES_UP_WHAT_IS_REPORTED && mine != null) {
            release(deadlock.gaveUp(), mine.token());
        }
        model.aborts++;
        model.circles.givesWay();
        aborted = true;
        withdrawAll();
    }

    private void withdrawAll() {
        requests.forEach((name, request) -> send(name, new LockCall.Withdraw(request)));
        requests.clear();
    }

    @Override
    public void wakeAt(long nanos) {
        if (nanos < alarm) {
            alarm = nanos;
            wake(nanos - now(), this::ring);
        }
    }

    private void ring() {
        Agent mine = agent;
        if (mine == null || alarm == Long.MAX_VALUE) {
            return;
        }
        if (now() < alarm) {
            wake(alarm - now(), this::ring); // its clock is slow
            return;
        }
        alarm = Long.MAX_VALUE;
        mine.due(now());
    }

    // What the cells tell

    void granted(SimCell cell, LockNotice.Granted told, Ask of) {
        Held grant = new Held(cell, told.handle(), told.token());
        Agent mine = agent;
        if (mine != null && nodes != null && of.life() == life && !aborted && !ending) {
            mine.unfinished(true);
        }
        if (nodes != null) {
            nodes.look();
        }
        if (mine == null || of.life() != life || !mine.granted(of.name(), told.request(), told.token(), now())) {
            giveBack(grant);
            advance();
            return;
        }
        requests.remove(of.name());
        held.put(of.name(), grant);
        if (nodes != null) {
            nodes.answers(of.name());
        }
        advance();
        askSpares();
        decided();
    }

    void waits(LockNotice.Waiting told, Ask of) {
        Agent mine = agent;
        if (mine != null && of.life() == life) {
            if (nodes != null && told.request() == requests.getOrDefault(of.name(), 0L)) {
                nodes.answers(of.name());
            }
            mine.waits(of.name(), told.request(), now());
            advance();
        }
    }

    /** The request is over. */
    void over(long request, Ask of) {
        Agent mine = agent;
        if (mine != null && of.life() == life && requests.remove(of.name(), request)) {
            if (nodes != null) {
                mine.unfinished(true);
            }
            mine.gone(of.name(), request);
            advance();
            decided();
        }
    }

    /** A grant is over, by no word of this user. */
    void lost(LockNotice.Ended told, Ask of) {
        Agent mine = agent;
        Held grant = held.get(of.name());
        if (mine == null || grant == null || grant.token() != told.token()) {
            return;
        }
        model.circles.loses();
        held.remove(of.name());
        this.told.remove(of.name());
        if (nodes != null && !aborted && nodes.isOfTold(of.name()) && nodes.isWhole()) {
            mine.released(of.name());
            askSpares();
            return;
        }
        if (!mine.lostUnreported(of.name(), told.token(), mode(of.name()), now()) && !ending) {
            model.losses++;
            close(true);
        }
    }

    void probed(LockName name, long token, long ahead, Probe probe) {
        Agent mine = agent;
        Probe arrived = AgentDefect.arrives(model.defect, self, token == 0, probe);
        if (mine == null || arrived == null) {
            return;
        }
        mine.probed(name, token, ahead, arrived, now());
        boolean gaveWay = arrived.kind() == Probe.Kind.SURRENDERED || arrived.kind() == Probe.Kind.ABORTED;
        if (gaveWay && model.defect == AgentDefect.ALL_GIVE_WAY && token != 0) {
            model.circles.said(this, AgentDefect.turned(arrived, self, round));
        }
        decided();
    }

    @Override
    public String toString() {
        return node + "." + index + (agent == null ? "" : " " + Agent.shown(self)) + " has " + held.keySet() + " wants "
                + requests;
    }
}
