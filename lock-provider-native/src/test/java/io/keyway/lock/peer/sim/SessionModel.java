// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.sim.CountingMachines.Answered;
import io.keyway.lock.peer.sim.CountingMachines.Done;
import io.keyway.lock.peer.sim.CountingMachines.Ended;
import io.keyway.lock.peer.sim.CountingMachines.Heard;
import io.keyway.lock.peer.sim.CountingMachines.Held;
import io.keyway.lock.peer.sim.CountingMachines.Lost;
import io.keyway.lock.peer.sim.CountingMachines.Want;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The session machines under {@link CountingMachines}. Asserted: each message of a session once and in order, both ways; no message of a session after one of its successor; no grant ended by the member
 * while its client believes; after the faults every question is answered.
 */
final class SessionModel implements Model {
    private record Stream(int life, long session, Key key) {}

    private record Grant(int memberLife, Key key, long session, long token) {}

    private record Holding(int client, int life, Belief belief) {}

    private final SimWorld world;
    private final SessionSettings settings;
    private final Map<Stream, Long> heard = new HashMap<>();
    /** By the session's object: two lives of a member may give the same number to two sessions of a client. */
    private final IdentityHashMap<Peer, Map<Key, Long>> answered = new IdentityHashMap<>();

    private final Map<Incarnation, Long> newest = new HashMap<>();
    private final Map<Long, Incarnation> owners = new HashMap<>();
    private final Map<Grant, Holding> holdings = new HashMap<>();
    private final List<Map<Long, Act>> asked = new ArrayList<>();
    private long requests;

    SessionModel(SimWorld world) {
        this.world = world;
        this.settings =
                Sessions.settings(CountingMachines.ALGORITHM, world.options().maxTtl());
        for (int i = 0; i < world.size(); i++) {
            asked.add(new LinkedHashMap<>());
        }
    }

    static List<Act> acts(Options options) {
        Draws draws = new Draws(options.seed(), 6);
        List<Act> acts = new ArrayList<>();
        for (int i = 0; i < options.acts(); i++) {
            long at = draws.below(options.faultPhase());
            int client = (int) draws.between(1, options.clients());
            String verb = draws.chance(600) ? "hold" : "ask";
            acts.add(new Act(
                    at,
                    client,
                    0,
                    verb,
                    draws.below(options.names()),
                    0,
                    draws.logarithmic(Nanos.MILLI, 2 * options.maxTtl())));
        }
        return acts;
    }

    @Override
    public Cell member(SimNode node) {
        MemberSessions sessions = new MemberSessions(
                settings, "m", Sessions.incarnation(node), node.startEpoch(), node.quarantineUntil(), Horizon.NONE);
        return new Cell(CountingMachines.members(), sessions);
    }

    @Override
    public Cell client(SimNode node) {
        asked.get(node.index()).clear();
        return new Cell(CountingMachines.clients(), new ClientSession(settings, Sessions.incarnation(node), List.of()));
    }

    private static Key key(int name) {
        return new Key(CountingMachines.ALGORITHM, "n" + name);
    }

    @Override
    public void act(SimNode node, Act act) {
        long request = ++requests;
        asked.get(node.index()).put(request, act);
        long ttl = act.verb().equals("hold") ? world.options().maxTtl() >> (act.name() + act.hold() % 2) : 0;
        node.input(new Input.Command(key(act.name()), new Want(request, ttl)));
    }

    @Override
    public void wake(SimNode node, long number, Object what) {
        node.input(new Input.Command((Key) what, new Done(number)));
    }

    @Override
    public void notice(SimNode node, Notice notice) {
        if (notice instanceof Heard message) {
            Stream stream = new Stream(node.incarnation(), message.session().session(), message.key());
            inOrder(stream, heard.merge(stream, 1L, Long::sum), message.index());
            newest(node, message.session());
        } else if (notice instanceof Answered answer) {
            Map<Key, Long> stream = answered.computeIfAbsent(answer.session(), fresh -> new HashMap<>());
            inOrder(answer, stream.merge(answer.key(), 1L, Long::sum), answer.index());
            asked(node, answer);
        } else if (notice instanceof Held held) {
            holdings.put(
                    new Grant(
                            world.node(0).incarnation(),
                            held.key(),
                            held.session().session(),
                            held.token()),
                    new Holding(node.index(), node.incarnation(), held.belief()));
        } else if (notice instanceof Lost lost) {
            forget(node, lost);
        } else if (notice instanceof Ended ended) {
            ended(node, ended);
        }
    }

    private static void inOrder(Object stream, long expected, long index) {
        if (index != expected) {
            throw new Violation("ORDER", stream + ": message " + index + " instead of " + expected);
        }
    }

    private void newest(SimNode member, Peer session) {
        MemberSessions sessions = (MemberSessions) member.cell().sessions();
        Incarnation client = sessions.client(session.session());
        if (client == null) {
            throw new Violation("DEAD SESSION", "a message of session " + session.session() + ", which is over");
        }
        Incarnation both = new Incarnation(client.high() * 31 + member.incarnation(), client.low());
        if (newest.getOrDefault(both, 0L) > session.session()) {
            throw new Violation(
                    "DOUBLE SESSION",
                    "a message of session " + session.session() + " after one of session " + newest.get(both));
        }
        newest.put(both, session.session());
        owners.put(((long) member.incarnation() << 32) | session.session(), client);
    }

    private void asked(SimNode node, Answered answer) {
        Act act = asked.get(node.index()).remove(answer.request());
        if (act != null && act.verb().equals("hold")) {
            world.wake(node, act.hold(), answer.request(), key(act.name()));
        }
    }

    private void forget(SimNode node, Lost lost) {
        holdings.entrySet()
                .removeIf(entry -> entry.getKey().session() == lost.session().session()
                        && entry.getKey().token() == lost.token()
                        && entry.getKey().key().equals(lost.key())
                        && entry.getValue().client() == node.index());
    }

    private void ended(SimNode member, Ended ended) {
        if (world.options().outOfSpec()) {
            return;
        }
        Holding holding = holdings.remove(
                new Grant(member.incarnation(), ended.key(), ended.session().session(), ended.token()));
        Incarnation owner =
                owners.get(((long) member.incarnation() << 32) | ended.session().session());
        if (holding == null || owner == null || owner.high() != holding.client()) {
            return;
        }
        SimNode client = world.node(holding.client());
        if (client.alive()
                && client.incarnation() == holding.life()
                && holding.belief().holds(client.clock())) {
            throw new Violation(
                    "EXPIRY",
                    "the member ended " + ended + ", and " + client + " believes for another "
                            + Nanos.text(holding.belief().deadline() - client.clock()));
        }
    }

    @Override
    public long epoch(Object record) {
        return Sessions.epoch(record);
    }

    @Override
    public void ended(SimNode node, boolean crash) {
        asked.get(node.index()).clear();
    }

    @Override
    public long session(SimNode client) {
        return Sessions.provable(world, client);
    }

    @Override
    public List<Oracle> oracles() {
        return List.of();
    }

    @Override
    public String waiting() {
        StringBuilder text = new StringBuilder();
        for (int i = 1; i < asked.size(); i++) {
            if (!asked.get(i).isEmpty()) {
                text.append(" client")
                        .append(i)
                        .append(" for ")
                        .append(asked.get(i).values());
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
        return 2 * world.options().maxTtl() + 10 * Nanos.SECOND;
    }

    @Override
    public long cleanWithin() {
        return 0;
    }
}
