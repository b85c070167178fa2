// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUrl;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import io.keyway.lock.Scope;
import io.keyway.lock.kit.Kit;
import io.keyway.lock.kit.Settings;
import io.keyway.lock.peer.engine.NativeEngine;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.session.SessionTarget;
import io.keyway.lock.spi.NodeParts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The shipping transactions of shipping clients over the shipping machines: {@code LockTransaction} as its users have
 * it, with several threads in each. {@link TransactionUser} is one transaction after the other, and judges what it is
 * told.
 */
final class TransactionModel implements Model {
    private static final LockUrl ONE_MEMBER = LockUrl.parse("lock:native:mem://simulated");
    private static final LockUrl SEVERAL = LockUrl.parse("lock:native:agent://m0:1,m1:1,m2:1/simulated");

    /** What names are; the third has locks that cannot be had, since another client has the name in the other kind. */
    enum Names {
        FLAT,
        TREES,
        MIXED,
        /** Each lock at a majority of all members, or at all of them. */
        OVER_NODES
    }

    final SimWorld world;
    final Names names;
    /** Whether nothing is ever broken, so that nothing may be lost. */
    final boolean calm;
    /** Whether leases are broken by administrators. */
    final boolean breaks;

    /** How often each thing was seen. */
    final Map<String, Integer> seen = new TreeMap<>();

    /** What a user found when a call returned. */
    @Nullable
    Throwable broken;

    /** Of locks over nodes that are taken alone, the highest token that was given, and all that were. */
    final Map<LockName, Long> tokens = new HashMap<>();

    final Set<String> given = new HashSet<>();

    private final SessionSettings sessions;
    private final LockSettings settings;
    private final @Nullable SimRuntime[] runtimes;
    private final @Nullable LockClient[] clients;
    private final TransactionUser[][] users;
    private final @Nullable NodesLockUser[] alone;

    TransactionModel(SimWorld world, Names names, boolean calm, boolean breaks) {
        this.world = world;
        this.names = names;
        this.calm = calm;
        this.breaks = breaks;
        Options options = world.options();
        Draws draws = new Draws(options.seed(), 8);
        this.sessions = Sessions.settings(LeaseKeys.ALGORITHM, options.maxTtl());
        this.settings = new LockSettings(
                draws.chance(500), draws.logarithmic(100 * Nanos.MILLI, 8 * Nanos.SECOND), 100, false, 100, false);
        this.runtimes = new SimRuntime[world.clients() + 1];
        this.clients = new LockClient[world.clients() + 1];
        this.users = new TransactionUser[world.clients() + 1][options.users()];
        this.alone = new NodesLockUser[world.clients() + 1];
    }

    /** The nodes of that lock, if locks are over nodes. */
    NodeSet nodes(LockName lock) {
        return NodeSet.of(lock.value().endsWith("1") ? NodeRule.ALL : NodeRule.MAJORITY, ids());
    }

    private List<String> ids() {
        List<String> ids = new ArrayList<>();
        for (int m = 0; m < world.memberNodes(); m++) {
            ids.add("m" + m + ":1");
        }
        return ids;
    }

    void saw(String what) {
        seen.merge(what, 1, Integer::sum);
    }

    List<TransactionUser> users() {
        List<TransactionUser> all = new ArrayList<>();
        for (int client = 1; client < users.length; client++) {
            if (world.node(client).alive()) {
                all.addAll(Arrays.asList(users[client]));
            }
        }
        return all;
    }

    @Override
    public void start(SimNode node) {
        if (node.isMember()) {
            node.disk().start(0, world.options().maxTtl());
            MemberSessions layer = new MemberSessions(
                    sessions,
                    Membership.single("m"),
                    Sessions.incarnation(node, 0),
                    node.disk().startEpoch(),
                    node.quarantineUntil(),
                    Horizon.NONE);
            node.open(0, new Cell(new LeaseAlgorithm(settings).memberMachines(name -> true), layer), null);
            return;
        }
        for (int m = 0; m < world.memberNodes(); m++) {
            ClientSession layer = new ClientSession(
                    sessions, Sessions.incarnation(node, m), SessionTarget.ONLY_MEMBER, List.of(), 0, 0);
            node.open(m, new Cell(new LeaseAlgorithm(settings).clientMachines(), layer), world.member(m));
        }
        open(node);
    }

    private void open(SimNode node) {
        LeaseAlgorithm algorithm = new LeaseAlgorithm(settings);
        Duration ttl = Duration.ofNanos(world.options().maxTtl() / 2);
        Duration timeout = Duration.ofNanos(requestTimeout());
        LockUrl url = names == Names.OVER_NODES ? SEVERAL : ONE_MEMBER;
        SimRuntime[] made = new SimRuntime[1];
        NativeEngine engine = new NativeEngine(
                node.toString(),
                algorithm,
                timeout,
                algorithm.features(url),
                algorithm.guarantees(Scope.JVM, ttl.multipliedBy(2)),
                listener -> {
                    made[0] = new SimRuntime(world, node, command -> cell(node, command), listener);
                    return made[0];
                });
        runtimes[node.index()] = made[0];
        clients[node.index()] = Kit.open(
                new Settings(
                        url,
                        ClientOptions.defaults().withEventExecutor(made[0]),
                        made[0],
                        node.toString(),
                        ttl,
                        timeout,
                        ttl,
                        ttl,
                        false),
                engine);
        for (int i = 0; i < users[node.index()].length; i++) {
            users[node.index()][i] = new TransactionUser(this, node, i, clients[node.index()]);
        }
        alone[node.index()] = new NodesLockUser(this, node, clients[node.index()]);
    }

    /** The cell of that client through which it talks to the member of that name. */
    private SimCell cell(SimNode client, Input.Command command) {
        String name = LockKeys.named(command.key().id()).name().value();
        int member =
                NodeParts.node(name).map(ids()::indexOf).orElse(Math.floorMod(name.hashCode(), world.memberNodes()));
        SimCell cell = client.find(world.member(member).slot());
        if (cell == null) {
            throw new IllegalStateException(client + " has no cell for " + name);
        }
        return cell;
    }

    /** Whether the names of locks over nodes are paths, in this world. */
    boolean treesAtNodes() {
        return names == Names.OVER_NODES && world.options().seed() % 7 < 2;
    }

    /** Of its clients, in nanoseconds. */
    long requestTimeout() {
        return world.options().maxTtl();
    }

    /** As the clients of a cluster are. */
    @Override
    public boolean wakeful() {
        return names == Names.OVER_NODES;
    }

    @Override
    public void restarts(SimNode member, Fault fault) {}

    @Override
    public void act(SimNode node, Act act) {
        NodesLockUser one = alone[node.index()];
        if (world.healed()) {
            return;
        }
        if (one != null
                && names == Names.OVER_NODES
                && !treesAtNodes()
                && Math.floorMod(Draws.of(act.at(), 1), 3) == 0) {
            one.begin(act);
        } else {
            users[node.index()][act.user()].begin(act);
        }
    }

    @Override
    public void wake(SimNode node, long number, Object what) {
        world.counted();
        ((Runnable) what).run();
    }

    @Override
    public void notice(SimCell cell, Notice notice) {
        SimRuntime runtime =
                cell.node().isMember() ? null : runtimes[cell.node().index()];
        if (runtime != null) {
            runtime.heard(cell, notice);
        }
    }

    @Override
    public void ended(SimNode node, boolean crash) {
        if (!node.isMember()) {
            for (TransactionUser user : users[node.index()]) {
                user.gone();
            }
            NodesLockUser one = alone[node.index()];
            if (one != null) {
                one.gone();
            }
        }
    }

    @Override
    public long session(SimNode client) {
        return 0;
    }

    @Override
    public List<Oracle> oracles() {
        return List.of(node -> {
            if (broken != null) {
                throw broken instanceof Violation found ? found : new Violation("exception", broken.toString(), broken);
            }
            if (!node.isMember() && node.alive() && !node.paused()) {
                for (TransactionUser user : users[node.index()]) {
                    user.judge();
                }
            }
            List<TransactionUser> all = users();
            for (int i = 0; i < all.size(); i++) {
                for (int j = i + 1; j < all.size(); j++) {
                    all.get(i).ensureBeside(all.get(j));
                }
            }
            ensureAlone(all);
        });
    }

    /** Nobody believes to have what one has who took it alone. */
    private void ensureAlone(List<TransactionUser> others) {
        Map<LockName, NodesLockUser> held = new HashMap<>();
        for (NodesLockUser one : alone) {
            LockName lock = one == null ? null : one.believes();
            NodesLockUser before = lock == null ? null : held.put(lock, Objects.requireNonNull(one));
            if (before != null) {
                throw new Violation("R1", before + ", and " + one);
            }
        }
        held.forEach((lock, one) -> others.stream()
                .filter(other -> other.knowsThatItHas(lock))
                .forEach(other -> {
                    throw new Violation("R1", one + ", and " + other);
                }));
    }

    @Override
    public String waiting() {
        StringBuilder text = new StringBuilder();
        for (NodesLockUser one : alone) {
            if (one != null && one.isBusy()) {
                text.append(one).append("; ");
            }
        }
        for (TransactionUser user : users()) {
            if (user.isBusy()) {
                text.append(user).append("; ");
            }
        }
        return text.toString();
    }

    @Override
    public String leftOver() {
        for (int m = 0; m < world.memberNodes(); m++) {
            if (world.member(m).cell().sessions() instanceof MemberView view
                    && !view.grants().isEmpty()) {
                return "the sessions of " + world.member(m) + " keep grants";
            }
        }
        return "";
    }

    @Override
    public long finishWithin() {
        return 40 * world.options().maxTtl()
                + 60 * Nanos.SECOND
                + 400 * world.options().latency();
    }

    @Override
    public long cleanWithin() {
        return settings.cacheFor() + 6 * world.options().maxTtl() + 5 * Nanos.SECOND;
    }
}
