// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.session.SessionTarget;
import io.keyway.lock.spi.NodeParts;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Transactions over the lease service: each client has users whose agents decide, each name belongs to one of the
 * members, which know nothing of each other, as in a cluster whose list never changes.
 */
final class AgentModel implements Model {
    final SimWorld world;
    final CircleOracle circles = new CircleOracle(this);
    final RaisedTokens tokens;

    /** What is broken in each agent; null if nothing is. */
    final @Nullable AgentDefect defect;

    int completed;
    /** How often a node was passed over. */
    int passedOver;

    /** How often a part was asked for of a lock that was held without it. */
    int sparesAsked;

    int gaveUp;
    int losses;
    int surrenders;
    /** Of those, of a place in a queue. */
    int places;

    int aborts;

    private final boolean calm;
    private final SessionSettings sessions;
    private final LockSettings settings;
    private final List<LockName> locks = new ArrayList<>();
    private final List<LockName> names = new ArrayList<>();
    /** Of each lock; empty if each is at one member. */
    private final List<NodeSet> sets = new ArrayList<>();

    private final AgentUser[][] users;
    private long numbers;
    private boolean changed;

    /** Over nodes, the locks by those rules in turn; if there are none, each lock at one member. */
    AgentModel(SimWorld world, @Nullable AgentDefect defect, boolean calm, List<NodeRule> rules) {
        this.world = world;
        this.calm = calm;
        this.defect = defect;
        Options options = world.options();
        Draws draws = new Draws(options.seed(), 8);
        this.sessions = Sessions.settings(LeaseKeys.ALGORITHM, options.maxTtl());
        this.settings = new LockSettings(
                draws.chance(700), draws.logarithmic(100 * Nanos.MILLI, 8 * Nanos.SECOND), 100, false, 100, false);
        for (int i = 0; i < options.names(); i++) {
            locks.add(LockName.of("n" + i));
        }
        List<String> nodes = new ArrayList<>();
        for (int m = 0; !rules.isEmpty() && m < world.memberNodes(); m++) {
            nodes.add("m" + m + ":1");
        }
        for (LockName lock : locks) {
            if (!rules.isEmpty()) {
                sets.add(NodeSet.of(rules.get(sets.size() % rules.size()), nodes));
            }
            nodes.forEach(node -> names.add(NodeParts.part(lock, node)));
        }
        if (rules.isEmpty()) {
            names.addAll(locks);
        }
        this.tokens = new RaisedTokens(this, options.seed());
        this.users = new AgentUser[world.clients() + 1][options.users()];
        for (int client = 1; client < users.length; client++) {
            fill(world.node(client));
        }
    }

    private void fill(SimNode client) {
        for (int i = 0; i < users[client.index()].length; i++) {
            users[client.index()][i] = new AgentUser(this, client, i);
        }
    }

    /** Whether nothing is ever broken in this world. */
    boolean isCalm() {
        return calm;
    }

    long nextNumber() {
        return ++numbers;
    }

    /** What users ask for: names, or locks over nodes whose parts are the names. */
    List<LockName> locks() {
        return locks;
    }

    /**
     * So many surrenders for each open transaction may follow each other before one is done. One may have to give up
     * each name once, for each phase of ranks; over nodes a lock has a name at each.
     */
    int mostInARow() {
        return 3 * Math.max(5, names.size());
    }

    boolean isOverNodes() {
        return !sets.isEmpty();
    }

    /** The nodes of that lock. */
    NodeSet set(LockName lock) {
        return sets.get(locks.indexOf(lock));
    }

    List<LockName> names() {
        return names;
    }

    Key key(LockName name) {
        return LockKeys.lock(LeaseKeys.ALGORITHM, name.toString());
    }

    SimNode member(LockName name) {
        return world.member(names.indexOf(name) % world.memberNodes());
    }

    /** The cell of that client through which it talks to the member of that name. */
    SimCell cell(SimNode client, LockName name) {
        SimCell cell = client.find(member(name).slot());
        if (cell == null) {
            throw new IllegalStateException(client + " has no cell for " + name);
        }
        return cell;
    }

    Owner owner(SimNode client) {
        return new Owner(client.toString(), Map.of());
    }

    List<AgentUser> users() {
        List<AgentUser> all = new ArrayList<>();
        for (int client = 1; client < users.length; client++) {
            if (world.node(client).alive()) {
                all.addAll(List.of(users[client]));
            }
        }
        return all;
    }

    void changed() {
        changed = true;
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
    }

    @Override
    public void restarts(SimNode member, Fault fault) {}

    @Override
    public void act(SimNode node, Act act) {
        if (!world.healed()) {
            users[node.index()][act.user()].begin(act);
            changed = true;
        }
    }

    @Override
    public void wake(SimNode node, long number, Object what) {
        world.counted();
        ((Runnable) what).run();
    }

    @Override
    public void notice(SimCell cell, Notice notice) {
        if (cell.node().isMember() || !(notice instanceof LockNotice said)) {
            return;
        }
        changed = true;
        if (said instanceof LockNotice.Granted granted && granted.user() instanceof AgentUser.Ask of) {
            of.user().granted(cell, granted, of);
        } else if (said instanceof LockNotice.Waiting waiting && waiting.user() instanceof AgentUser.Ask of) {
            of.user().waits(waiting, of);
        } else if (said instanceof LockNotice.Refused refused && refused.user() instanceof AgentUser.Ask of) {
            of.user().over(refused.request(), of);
        } else if (said instanceof LockNotice.Failed failed && failed.user() instanceof AgentUser.Ask of) {
            of.user().over(failed.request(), of);
        } else if (said instanceof LockNotice.Ended ended && ended.user() instanceof AgentUser.Ask of) {
            of.user().lost(ended, of);
        } else if (said instanceof LockNotice.Told told) {
            tokens.answered(told.answer());
        } else if (said instanceof LockNotice.Sought sought) {
            sought(cell.node(), sought);
        }
    }

    private void sought(SimNode node, LockNotice.Sought sought) {
        LockName name = LockKeys.named(sought.key().id()).name();
        for (AgentUser user : users[node.index()]) {
            AgentUser.Held grant = user.held.get(name);
            Long request = user.requests.get(name);
            boolean uses = sought.token() != 0 && grant != null && grant.token() == sought.token();
            boolean asks = sought.token() == 0 && request != null && request == sought.ahead();
            if (uses || asks) {
                user.probed(name, sought.token(), sought.ahead(), sought.probe());
            }
        }
    }

    @Override
    public void ended(SimNode node, boolean crash) {
        changed = true;
        if (!node.isMember()) {
            for (AgentUser user : users[node.index()]) {
                user.ended();
            }
            fill(node);
        }
    }

    @Override
    public long session(SimNode client) {
        return 0;
    }

    @Override
    public List<Oracle> oracles() {
        return List.of(node -> {
            if (changed || node.isMember()) {
                changed = false;
                circles.look();
                alone();
            }
            circles.judge();
        });
    }

    /** Where nothing is broken: no two were told that they have one lock over nodes, one of them for itself. */
    private void alone() {
        if (!calm || !isOverNodes()) {
            return;
        }
        for (LockName lock : locks) {
            List<AgentUser> told = new ArrayList<>();
            boolean exclusive = false;
            for (AgentUser user : users()) {
                if (user.nodes != null && user.nodes.isTold(lock)) {
                    told.add(user);
                    exclusive |= user.held.entrySet().stream()
                            .anyMatch(each -> each.getKey().toString().endsWith("/" + lock)
                                    && each.getValue().handle().mode() == LockMode.EXCLUSIVE);
                }
            }
            if (exclusive && told.size() > 1) {
                throw new Violation("R1", told + " were told that they have " + lock);
            }
        }
    }

    @Override
    public String waiting() {
        StringBuilder text = new StringBuilder();
        for (AgentUser user : users()) {
            user.later.clear();
            if (user.act != null) {
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

    /** Over slow links circles take long to be found, and those who give way meet in others. */
    @Override
    public long finishWithin() {
        long slow = 200 * world.options().latency();
        long atOneMember = 12 * world.options().maxTtl() + 20 * Nanos.SECOND + slow;
        return isOverNodes() ? 3 * atOneMember : atOneMember; // nodes are asked one after the other
    }

    @Override
    public long cleanWithin() {
        return settings.cacheFor() + 3 * world.options().maxTtl() + 5 * Nanos.SECOND;
    }
}
