// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.SessionFrame.Data;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.simulator.CountingMachines.Answered;
import io.keyway.lock.simulator.CountingMachines.Done;
import io.keyway.lock.simulator.CountingMachines.Ended;
import io.keyway.lock.simulator.CountingMachines.Heard;
import io.keyway.lock.simulator.CountingMachines.Held;
import io.keyway.lock.simulator.CountingMachines.Lost;
import io.keyway.lock.simulator.CountingMachines.Want;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The session machines under {@link CountingMachines}, judged by {@link SessionOracle}; after the faults every question
 * is answered, and no session of a process that ended is left.
 */
final class SessionModel implements Model {
    /** Comes between a link and the member, to break what must be found. */
    interface Meddler {
        void arrived(SimNode member, long link, Data data);
    }

    private final SimWorld world;
    private final Meddler meddler;
    private final SessionSettings settings;
    private final SessionOracle oracle = new SessionOracle();
    private final Wire wire;
    private final DeadClients dead;
    private final List<Map<Long, Act>> asked = new ArrayList<>();
    private long requests;

    SessionModel(SimWorld world) {
        this(world, (member, link, data) -> {});
    }

    SessionModel(SimWorld world, Meddler meddler) {
        this.world = world;
        this.meddler = meddler;
        this.settings =
                Sessions.settings(CountingMachines.ALGORITHM, world.options().maxTtl());
        this.wire = new Wire(world, world.member(0));
        this.dead = MemberRemains.oracle(world, world.member(0), wire, settings.proofTimeout(), () -> "");
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
    public void start(SimNode node) {
        Incarnation self = Sessions.incarnation(node, 0);
        if (node.isMember()) {
            wire.forget();
            node.disk().start(0, 0);
            MemberSessions sessions = new MemberSessions(
                    settings, "m", self, node.disk().startEpoch(), node.quarantineUntil(), Horizon.NONE);
            node.open(0, new Cell(CountingMachines.members(), sessions), null);
        } else {
            asked.get(node.index()).clear();
            Cell cell = new Cell(CountingMachines.clients(), new ClientSession(settings, self, List.of()));
            node.open(0, cell, world.member(0));
        }
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
    public void arrived(SimLink link, int direction, Object frame) {
        wire.arrived(link, direction, frame);
        if (direction == SimLink.TO_MEMBER && frame instanceof Data data) {
            meddler.arrived(link.memberNode, link.atMember, data);
        }
    }

    @Override
    public void notice(SimCell cell, Notice notice) {
        SimNode node = cell.node();
        if (notice instanceof Heard message) {
            oracle.heard(atMember(message.session()), owner(node, message.session()), message.key(), message.index());
        } else if (notice instanceof Answered answer) {
            oracle.answered(answer.session(), answer.key(), answer.index());
            asked(node, answer);
        } else if (notice instanceof Held held) {
            int life = node.incarnation();
            oracle.held(
                    life(node),
                    atMember(held.session()),
                    held.key(),
                    held.token(),
                    () -> node.alive()
                            && node.incarnation() == life
                            && held.belief().holds(node.clock()));
        } else if (notice instanceof Lost lost) {
            oracle.lost(life(node), atMember(lost.session()), lost.key(), lost.token());
        } else if (notice instanceof Ended ended && !world.options().outOfSpec()) {
            oracle.ended(atMember(ended.session()), ended.key(), ended.token());
        }
    }

    private SessionOracle.Session atMember(Peer session) {
        return new SessionOracle.Session(world.node(0).incarnation(), session.session());
    }

    private static SessionOracle.Client life(SimNode node) {
        return new SessionOracle.Client(node.index(), node.incarnation());
    }

    private static SessionOracle.Client owner(SimNode member, Peer session) {
        Incarnation client = ((MemberSessions) member.cell().sessions()).client(session.session());
        if (client == null) {
            throw new Violation("DEAD SESSION", "a message of session " + session.session() + ", which is over");
        }
        return new SessionOracle.Client(Sessions.node(client), Sessions.life(client));
    }

    private void asked(SimNode node, Answered answer) {
        Act act = asked.get(node.index()).remove(answer.request());
        if (act != null && act.verb().equals("hold")) {
            world.wake(node, act.hold(), answer.request(), key(act.name()));
        }
    }

    @Override
    public void ended(SimNode node, boolean crash) {
        asked.get(node.index()).clear();
        if (!node.isMember()) {
            dead.died(node.index(), node.incarnation());
        }
    }

    @Override
    public long session(SimNode client) {
        return Sessions.provable(world, client);
    }

    @Override
    public List<Oracle> oracles() {
        return List.of(node -> {
            if (node.isMember() && !world.options().outOfSpec() && dead.looked()) {
                world.goals().reached(WorldGoal.LOOKED_FOR_THE_DEAD);
            }
        });
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
        StringBuilder text = new StringBuilder();
        MemberSessions sessions = (MemberSessions) world.node(0).cell().sessions();
        int life = world.node(0).incarnation();
        oracle.owners().forEach((session, client) -> {
            boolean over = world.node(client.node()).incarnation() != client.life();
            if (over && session.memberLife() == life && sessions.client(session.number()) != null) {
                text.append(session).append(" of a process that ended; ");
            }
        });
        return text.toString();
    }

    @Override
    public long finishWithin() {
        return 2 * world.options().maxTtl() + 10 * Nanos.SECOND;
    }

    @Override
    public long cleanWithin() {
        return 2 * world.options().maxTtl() + Nanos.SECOND;
    }
}
