// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.Tokens;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.simulator.Options.Profile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;

/** The lease service with its sessions and users, and all oracles over it. */
final class LeaseModel implements Model {
    /** What a machine may sleep, and its wall clock be off, without being noticed. */
    private static final long UNSEEN_SLEEP = 55 * Nanos.MILLI;

    /** What makes the managers of a cell, which decides on some of the names. */
    interface Managers {
        MachineFactory create(LockSettings settings, Predicate<String> owned);
    }

    /**
     * The machines to run: the product's, or an unsafe variant of them.
     *
     * @param quarantine false: a member that starts anew grants at once
     * @param shortcuts what else is done unsafely
     * @param algorithm the id of the algorithm
     */
    record Kit(
            Managers members,
            Function<LockSettings, MachineFactory> clients,
            boolean quarantine,
            Set<Shortcut> shortcuts,
            int algorithm) {
        /** Of the lease service. */
        Kit(
                Managers members,
                Function<LockSettings, MachineFactory> clients,
                boolean quarantine,
                Set<Shortcut> shortcuts) {
            this(members, clients, quarantine, shortcuts, LeaseKeys.ALGORITHM);
        }

        static final Kit PRODUCT = new Kit(
                (settings, owned) -> new LeaseAlgorithm(settings).memberMachines(owned),
                settings -> new LeaseAlgorithm(settings).clientMachines(),
                true,
                Set.of());

        /** The product, but for that. */
        static Kit with(Shortcut shortcut) {
            return new Kit(PRODUCT.members(), PRODUCT.clients(), true, Set.of(shortcut));
        }

        boolean takes(Shortcut shortcut) {
            return shortcuts.contains(shortcut);
        }
    }

    private final SimWorld world;
    private final LockSettings settings;
    private final Authority[] authorities;
    private final LeaseUsers users;
    private final Topology topology;

    LeaseModel(SimWorld world, Kit kit) {
        this.world = world;
        Options options = world.options();
        Draws draws = new Draws(options.seed(), 8);
        SessionSettings sessions = Sessions.settings(kit.algorithm(), options.maxTtl());
        this.settings = new LockSettings(
                draws.chance(800),
                draws.logarithmic(100 * Nanos.MILLI, 8 * Nanos.SECOND),
                draws.chance(200) ? 1 : 100,
                draws.chance(200),
                draws.chance(100) ? 2 : 100,
                new Draws(options.seed(), 9).chance(200));
        long counters = draws.chance(50) ? Tokens.MAX_COUNTER - draws.below(3 * Tokens.RANGE) : 0;
        this.authorities = new Authority[world.memberNodes()];
        List<LeaseOracle> oracles = new ArrayList<>();
        Holdings holdings = new Holdings(world);
        this.users = new LeaseUsers(world, holdings, this::seats, oracles, settings.stopsBeforeRevoked(), kit);
        LeaseCells cells = new LeaseCells(kit, options.maxTtl(), settings, counters, authorities);
        boolean network = options.members() > 1;
        this.topology = options.profile().attaches()
                ? attached(kit)
                : network ? new Cluster(world, cells, users) : new OneMember(world, cells, users, authorities);
        boolean timed = !options.outOfSpec();
        if (world.tracer() != null) {
            oracles.add(world.tracer());
        }
        boolean moves = options.profile() == Profile.FAILOVER;
        oracles.add(new AuthorityExclusion(timed ? holdings : null, topology::stands));
        oracles.add(new TokenOrder(moves, options.profile() == Profile.BAKERY));
        oracles.add(new OneEnd());
        oracles.add(new GivenBack());
        if (options.profile() == Profile.PERMITS) {
            oracles.add(new PermitBounds(timed ? holdings : null));
        }
        if (options.profile() == Profile.LAMPORT) {
            oracles.add(new HeardBefore());
        }
        if (timed) {
            oracles.add(new BeliefExclusion());
            oracles.add(new HeldAtLeast(world::now));
            oracles.add(new TimesWithoutReaders(world::now));
            if ((!options.profile().attaches() || moves)
                    && world.lists().findAny().isEmpty()) {
                oracles.add(new HeldOverRestarts());
            }
            oracles.add(new ReactionWindow(0.01, network ? UNSEEN_SLEEP : 0));
            oracles.add(new LostDeadline(new Echoes(world, authorities)));
        }
        for (int m = 0; m < authorities.length; m++) {
            authorities[m] = new Authority(world, world.member(m), users, oracles, sessions.proofTimeout());
            users.watch(authorities[m].watch());
        }
    }

    private Topology attached(Kit kit) {
        MachineFactory members = kit.members().create(settings, all -> true);
        return switch (world.options().profile()) {
            case LAMPORT -> new LamportMembers(world, authorities, users, members);
            case FAILOVER -> new FailoverMembers(world, authorities, users, settings, members);
            default -> new BakeryMembers(world, authorities, users, members);
        };
    }

    private Seats seats() {
        return topology;
    }

    private Authority authority(SimNode member) {
        return authorities[member.slot()];
    }

    @Override
    public void start(SimNode node) {
        if (node.isMember()) {
            authority(node).wire().forget();
        }
        topology.start(node);
    }

    @Override
    public SimNode dials(SimCell cell) {
        return topology.dials(cell);
    }

    @Override
    public SimNode dials(SimCell cell, long link) {
        return topology.dials(cell, link);
    }

    @Override
    public void forced(SimNode member, DurableRecord record) {
        topology.forced(member, record);
    }

    @Override
    public boolean wakeful() {
        return topology.wakeful();
    }

    @Override
    public void stalled(SimNode node, long nanos) {
        topology.stalled(node, nanos);
    }

    @Override
    public void restarts(SimNode member, Fault fault) {
        topology.restarts(member, fault);
    }

    @Override
    public void handsOver(SimNode member) {
        topology.handsOver(member);
    }

    @Override
    public boolean adoptsView(SimNode member) {
        return topology.adoptsView(member);
    }

    @Override
    public void listChange(SimNode member, Fault fault) {
        topology.listChange(member, fault);
    }

    @Override
    public void membersChange(SimNode member, Fault fault) {
        topology.membersChange(member, fault);
    }

    @Override
    public void leavesSeat(SimNode member) {
        topology.leavesSeat(member);
    }

    @Override
    public boolean belongs(SimNode node) {
        return topology.belongs(node);
    }

    @Override
    public void heal() {
        topology.heal();
    }

    @Override
    public void act(SimNode node, Act act) {
        users.act(node, act);
    }

    @Override
    public void wake(SimNode node, long number, Object what) {
        if (what instanceof LeaseUser user) {
            users.wake(user, number);
        } else if (what instanceof Runnable task) {
            task.run();
        } else {
            topology.wake(node, number, what);
        }
    }

    @Override
    public void notice(SimCell cell, Notice notice) {
        if (!cell.node().isMember()) {
            topology.heard(cell, notice);
        }
    }

    /** True if grants may come over that link. */
    private static boolean counts(SimLink link) {
        return link.client.used() && !link.client.node().isMember();
    }

    @Override
    public void sent(SimLink link, int direction, Object frame) {
        if (counts(link)) {
            authority(link.memberNode).wire().sent(link, direction, frame);
        }
    }

    @Override
    public void arrived(SimLink link, int direction, Object frame) {
        if (counts(link)) {
            authority(link.memberNode).wire().arrived(link, direction, frame);
        }
    }

    @Override
    public long logicalClock(SimNode client) {
        return topology.logicalClock(client);
    }

    @Override
    public void heardClock(SimNode client, long logicalClock) {
        topology.heardClock(client, logicalClock);
    }

    @Override
    public void mute(boolean on) {
        topology.mute(on);
        for (Authority authority : authorities) {
            authority.watch().mute(on);
        }
    }

    @Override
    public void ended(SimNode node, boolean crash) {
        if (node.isMember()) {
            authority(node).watch().forget();
        } else {
            users.ended(node);
            for (Authority authority : authorities) {
                authority.died(node);
            }
        }
    }

    @Override
    public long session(SimNode client) {
        return world.options().members() == 1 ? Sessions.provable(world, client) : 0;
    }

    @Override
    public List<Oracle> oracles() {
        return List.of(node -> {
            if (!node.alive()) {
                return;
            }
            topology.looked(node);
            if (!node.isMember()) {
                users.looked(node);
            } else {
                authority(node).looked();
            }
        });
    }

    @Override
    public Map<String, String> states(SimNode node) {
        Map<String, String> states = new TreeMap<>(topology.states(node));
        if (node.isMember()) {
            for (int name = 0; name < world.options().names(); name++) {
                Key key = users.key(name);
                states.put(key.id(), authority(node).watch().state(key));
            }
        } else {
            states.putAll(users.states(node));
        }
        states.values().removeIf(String::isEmpty);
        return states;
    }

    @Override
    public String waiting() {
        return users.waiting();
    }

    @Override
    public String leftOver() {
        StringBuilder text = new StringBuilder();
        for (int slot = 0; slot < world.size(); slot++) {
            for (SimCell each : world.bySlot(slot).cells()) {
                int kept = each.cell().residents() - topology.atRest(each);
                if (kept > 0) {
                    text.append(each).append(" keeps ").append(kept).append(" machines; ");
                }
                if (each.cell().sessions() instanceof MemberView view
                        && !view.grants().isEmpty()) {
                    text.append("the sessions of ").append(each).append(" keep grants; ");
                }
            }
        }
        return text.toString();
    }

    @Override
    public long finishWithin() {
        // Some of those who wait are to be held at least for a ttl.
        return 12 * world.options().maxTtl() + 20 * Nanos.SECOND;
    }

    @Override
    public long cleanWithin() {
        return settings.cacheFor() + 3 * world.options().maxTtl() + 5 * Nanos.SECOND;
    }
}
