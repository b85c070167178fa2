// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import io.keyway.lock.peer.kernel.Algorithm;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.lease.LeaseClients;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.lease.LeaseMembers;
import io.keyway.lock.peer.lease.LeaseSettings;
import io.keyway.lock.peer.lease.Tokens;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.MemberRecord;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.SessionSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** The lease service with its sessions and users, and all oracles over it. */
final class LeaseModel implements Model {
    /**
     * The machines to run: the product's, or an unsafe variant of them.
     *
     * @param quarantine false: a member that starts anew grants at once
     */
    record Kit(
            Function<LeaseSettings, Algorithm> members,
            Function<LeaseSettings, Algorithm> clients,
            boolean quarantine) {
        static final Kit PRODUCT = new Kit(LeaseMembers::new, LeaseClients::new, true);
    }

    private final SimWorld world;
    private final Kit kit;
    private final SessionSettings sessions;
    private final LeaseSettings settings;
    private final Wire wire;
    private final ExpiryBounds bounds;
    private final GrantWatch watch;
    private final DeadClients dead;
    private int name;
    private final LeaseUsers users;
    private final long counters;
    private final boolean keepsHorizon;
    private final long ahead;

    LeaseModel(SimWorld world, Kit kit) {
        this.world = world;
        this.kit = kit;
        Options options = world.options();
        Draws draws = new Draws(options.seed(), 8);
        this.sessions = Sessions.settings(LeaseKeys.ALGORITHM, options.maxTtl());
        this.settings = new LeaseSettings(
                draws.chance(800),
                draws.logarithmic(100 * Nanos.MILLI, 8 * Nanos.SECOND),
                draws.chance(200) ? 1 : 100,
                draws.chance(200),
                draws.chance(100) ? 2 : 100,
                new Draws(options.seed(), 9).chance(200));
        this.counters = draws.chance(50) ? Tokens.MAX_COUNTER - draws.below(3 * Tokens.RANGE) : 0;
        this.keepsHorizon = kit.quarantine() && draws.chance(400);
        this.ahead = draws.logarithmic(10 * Nanos.MILLI, options.maxTtl());
        this.wire = new Wire(world);
        this.bounds = new ExpiryBounds(wire);
        FirstComeFirstServed order = new FirstComeFirstServed(wire);
        List<LeaseOracle> oracles = new ArrayList<>();
        this.users = new LeaseUsers(world, oracles, settings.stopsBeforeRevoked());
        boolean timed = !options.outOfSpec();
        oracles.add(new AuthorityExclusion(timed ? users : null));
        oracles.add(new TokenOrder());
        oracles.add(new OneEnd());
        if (timed) {
            oracles.add(new BeliefExclusion());
            oracles.add(new ReactionWindow(0.01));
            oracles.add(bounds);
            oracles.add(new LostDeadline(wire));
            oracles.add(order);
        }
        this.watch = new GrantWatch(world, oracles, order);
        users.watch(watch);
        this.dead = MemberRemains.oracle(world, wire, sessions.proofTimeout(), this::orphan);
    }

    @Override
    public Cell member(SimNode node) {
        wire.forget();
        MemberSessions layer = new MemberSessions(
                sessions, "m", Sessions.incarnation(node), node.startEpoch(), until(node), horizon(node));
        ((MemberView) layer).raiseFloor(counters);
        return new Cell(watch.watched(kit.members().apply(settings)), layer);
    }

    /** When a member that starts may grant: at the horizon that it forced, if it keeps one; otherwise when no lease that it forgot can be left. */
    private long until(SimNode node) {
        if (!kit.quarantine()) {
            return node.clock();
        }
        if (keepsHorizon && forced(node) - node.clock() > 0) {
            world.goals().reached(WorldGoal.STARTED_BY_HORIZON);
        }
        return keepsHorizon ? Math.max(node.clock(), forced(node)) : node.quarantineUntil();
    }

    private Horizon horizon(SimNode node) {
        return keepsHorizon ? new Horizon(forced(node), ahead) : Horizon.NONE;
    }

    private static long forced(SimNode node) {
        return node.forcedRecord() instanceof MemberRecord record ? record.horizon() : node.clock();
    }

    @Override
    public Cell client(SimNode node) {
        return new Cell(
                kit.clients().apply(settings), new ClientSession(sessions, Sessions.incarnation(node), List.of()));
    }

    @Override
    public void act(SimNode node, Act act) {
        users.act(node, act);
    }

    @Override
    public void wake(SimNode node, long number, Object what) {
        users.wake(node, number, what);
    }

    @Override
    public void notice(SimNode node, Notice notice) {
        if (!node.isMember()) {
            users.notice(node, notice);
        }
    }

    @Override
    public void sent(SimLink link, int direction, Object frame) {
        wire.sent(link, direction, frame);
    }

    @Override
    public void arrived(SimLink link, int direction, Object frame) {
        wire.arrived(link, direction, frame);
    }

    @Override
    public void mute(boolean on) {
        watch.mute(on);
    }

    @Override
    public long epoch(Object record) {
        return Sessions.epoch(record);
    }

    @Override
    public void ended(SimNode node, boolean crash) {
        if (node.isMember()) {
            watch.forget();
        } else {
            users.ended(node);
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
            if (!node.isMember()) {
                users.looked(node);
            } else if (!world.options().outOfSpec()) {
                bounds.looked();
                if (dead.looked()) {
                    world.goals().reached(WorldGoal.LOOKED_FOR_THE_DEAD);
                }
            }
        });
    }

    /** Looks at one name, each time at the next one. */
    private String orphan() {
        name = name + 1 < world.options().names() ? name + 1 : 0;
        return watch.orphan(users.key(name));
    }

    @Override
    public String waiting() {
        return users.waiting();
    }

    @Override
    public String leftOver() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < world.size(); i++) {
            Cell cell = world.node(i).cell();
            if (cell.residents() > 0) {
                text.append(world.node(i))
                        .append(" keeps ")
                        .append(cell.residents())
                        .append(" machines; ");
            }
        }
        if (!((MemberView) world.node(0).cell().sessions()).grants().isEmpty()) {
            text.append("the member's sessions keep grants");
        }
        return text.toString();
    }

    @Override
    public long finishWithin() {
        return 6 * world.options().maxTtl() + 15 * Nanos.SECOND;
    }

    @Override
    public long cleanWithin() {
        return settings.cacheFor() + 3 * world.options().maxTtl() + 5 * Nanos.SECOND;
    }
}
