// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.cluster.ListConfirmation;
import io.keyway.lock.peer.cluster.MemberList;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.member.StoredList;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.MemberPromise;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.session.WelcomeInfo;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** A member of a cluster: what its operator told it, and how its present life comes to open. */
final class SimMember {
    private static final int LISTEN = 1;
    private static final int OPEN = 2;
    private static final int OPENED = 3;
    private static final int FORGOTTEN = 4;

    private final SimWorld world;
    private final SimNode node;
    private final LeaseCells cells;
    private final Cluster cluster;
    private final boolean keepsHorizon;
    private final long ahead;
    private final MemberList first;
    private MemberList list;
    private boolean listed;
    private boolean init;

    private long maxTtl;

    private MemberList running;
    private long runningTtl;
    private long longestTtl;
    /** The file still speaks of longer leases than this life grants. */
    private boolean forgetting;

    private ListConfirmation confirmation;
    private @Nullable MemberPromise promised;
    private boolean fresh;
    private boolean open;
    private long stalls;
    private long since;
    private long askedFor;
    private final @Nullable WelcomeInfo[] greetings;

    /**
     * @param list what the operator starts it with
     * @param listed whether it is one of that list
     * @param init its first start is the first use of the cluster, by the operator's word
     */
    SimMember(
            SimWorld world,
            SimNode node,
            LeaseCells cells,
            Cluster cluster,
            MemberList list,
            boolean listed,
            boolean init) {
        this.world = world;
        this.node = node;
        this.cells = cells;
        this.cluster = cluster;
        this.first = list;
        this.list = list;
        this.listed = listed;
        this.init = init;
        this.running = list;
        this.maxTtl = world.options().maxTtl();
        this.runningTtl = maxTtl;
        this.longestTtl = maxTtl;
        this.confirmation = confirmation(Set.of());
        this.greetings = new WelcomeInfo[world.memberNodes()];
        Draws draws = new Draws(world.options().seed(), 10);
        this.keepsHorizon = draws.chance(400);
        this.ahead = draws.logarithmic(10 * Nanos.MILLI, world.options().maxTtl());
    }

    /** The list that it was given first. */
    MemberList first() {
        return first;
    }

    SimNode node() {
        return node;
    }

    /** True if it is one of its list and has not ended for good. */
    boolean listed() {
        return listed;
    }

    /** The list of its next start. */
    MemberList list() {
        return list;
    }

    /** The list of this life. */
    MemberList running() {
        return running;
    }

    long runningTtl() {
        return runningTtl;
    }

    /** Its next start is to grant shorter leases than those that may be left. */
    boolean shortens() {
        return maxTtl < longestTtl;
    }

    /** Whether its operator said that this life is the first use of the cluster. */
    boolean fresh() {
        return fresh;
    }

    boolean isOpen() {
        return open;
    }

    void give(MemberList next, long ttl) {
        list = next;
        maxTtl = ttl;
        listed = next.members().contains(Cluster.id(node));
    }

    /** Its operator says, wrongly, that its next start is the first use of the cluster. */
    void initAgain() {
        init = true;
    }

    /** It has ended for good, and its data directory is gone. */
    void remove() {
        listed = false;
        init = false;
        node.disk().wipe();
    }

    private ListConfirmation confirmation(Set<String> removed) {
        long quarantine = SessionSettings.quarantine(longestTtl);
        List<String> ids = Cluster.texts(list);
        String self = Cluster.id(node).toString();
        return ids.contains(self)
                ? ListConfirmation.start(self, ids, node.disk().list(), fresh, removed, quarantine, node.clock())
                : ListConfirmation.start(self, List.of(self), node.disk().list(), false, removed, quarantine, 0);
    }

    void start() {
        open = false;
        stalls = 0;
        since = node.clock();
        askedFor = Turn.NEVER;
        running = list;
        fresh = init;
        init = false;
        Arrays.fill(greetings, null);
        Set<String> removed = new TreeSet<>();
        node.disk().list().ifPresent(stored -> removed.addAll(stored.members()));
        Cluster.texts(list).forEach(removed::remove);
        removed.forEach(cluster::endForGood);
        runningTtl = maxTtl;
        boolean forgets = cells.kit().takes(Shortcut.FORGETS_LONGER_LEASES);
        longestTtl = forgets ? maxTtl : Math.max(maxTtl, node.disk().longestTtl());
        forgetting = longestTtl > maxTtl;
        confirmation = confirmation(removed);
        promised = node.disk().maxTtl() == maxTtl ? node.disk().record() : null;
        node.disk().adopt();
        node.disk().start(cluster.wallSeconds(), maxTtl);
        if (changed()) {
            world.wake(node, world.diskLatency(), LISTEN, this);
        } else {
            listen();
        }
    }

    private boolean changed() {
        return confirmation.changed() && !cells.kit().takes(Shortcut.OPENS_UNCONFIRMED);
    }

    private void listen() {
        String self = Cluster.id(node).toString();
        List<String> ids = Cluster.texts(running);
        Membership membership = new Membership(self, ids, 0, 1, fresh, longestTtl, Membership.LARGEST_EPOCH - 1);
        MemberList deciding = running;
        boolean all = cells.kit().takes(Shortcut.DECIDES_ON_ALL_NAMES);
        long forced = promised == null ? node.clock() : promised.horizon();
        Horizon horizon = keepsHorizon ? new Horizon(forced, ahead) : Horizon.NONE;
        long until = changed() ? Turn.NEVER : fresh ? node.clock() : quarantined();
        node.open(
                        0,
                        cells.member(
                                node,
                                runningTtl,
                                membership,
                                name -> all || deciding.owner(name).toString().equals(self),
                                until,
                                horizon),
                        null)
                .flush();
        for (NodeId other : running.members()) {
            SimNode peer = cluster.node(other);
            if (peer != node) {
                int number = 1 + peer.slot();
                node.open(number, cells.peer(node, runningTtl, number, other.toString(), ids), peer)
                        .flush();
            }
        }
        if (changed()) {
            arm();
        } else {
            open = true;
        }
    }

    /** A file that this member wrote itself says how long leases of its former life last, if it keeps a horizon. */
    private long quarantined() {
        if (!cells.quarantine()) {
            return node.clock();
        }
        MemberPromise record = promised;
        if (!keepsHorizon || record == null) {
            return quarantineUntil();
        }
        world.goals().reached(WorldGoal.STARTED_BY_HORIZON);
        return Math.max(node.clock(), record.horizon());
    }

    /** When no lease of a former life is left. */
    private long quarantineUntil() {
        return node.incarnation() == 1 ? since : since + SessionSettings.quarantine(longestTtl);
    }

    /** Looks what the other members said. */
    @SuppressWarnings("ReferenceEquality") // each word of a member counts once, whatever it says
    void looked() {
        List<SimCell> all = node.cells();
        if (forgetting && !all.isEmpty() && !((MemberSessions) all.get(0).cell().sessions()).quarantined()) {
            forgetting = false;
            world.wake(node, world.diskLatency(), FORGOTTEN, this);
        }
        for (int i = 1; i < all.size(); i++) {
            SimCell cell = all.get(i);
            WelcomeInfo greeting = ((ClientSession) cell.cell().sessions()).lastWelcome();
            int slot = cell.number() - 1;
            if (greeting != null && greeting != greetings[slot]) {
                greetings[slot] = greeting;
                long quarantine = SessionSettings.quarantine(greeting.longestTtl());
                boolean itsFresh = cells.kit().takes(Shortcut.BELIEVES_EACH_FIRST_USE)
                        ? cluster.saysFresh(slot)
                        : greeting.fresh();
                confirmation.confirmed(greeting.node(), itsFresh, greeting.leastEpoch(), quarantine, node.clock());
                arm();
            }
        }
    }

    private void arm() {
        long at = openAt();
        if (!open && at != Turn.NEVER && at != askedFor) {
            askedFor = at;
            world.wake(node, node.realTime(at) - world.now(), OPEN, this);
        }
    }

    private long openAt() {
        long at = confirmation.openAt();
        if (at == Turn.NEVER) {
            return at;
        }
        if (cells.kit().takes(Shortcut.WAITS_FROM_ITS_START) && !confirmation.firstUse()) {
            at = quarantineUntil();
        }
        return at + stalls;
    }

    void stalled(long nanos) {
        stalls += nanos;
    }

    void wake(int why) {
        switch (why) {
            case LISTEN -> {
                node.disk().forced(new StoredList(Cluster.texts(running), false));
                listen();
            }
            case OPEN -> {
                if (!open && openAt() != Turn.NEVER && node.clock() - openAt() >= 0) {
                    open();
                } else {
                    askedFor = Turn.NEVER;
                    arm();
                }
            }
            case FORGOTTEN -> node.disk().opened();
            default -> node.disk().forced(new StoredList(Cluster.texts(running), true));
        }
    }

    private void open() {
        open = true;
        world.goals().reached(confirmation.firstUse() ? ClusterGoal.OPENED_FRESH : ClusterGoal.LIST_OPENED);
        world.trace(node, "opens under " + running);
        node.input(new Input.Confirmed(node.clock(), confirmation.epoch(), confirmation.firstUse()));
        world.wake(node, world.diskLatency(), OPENED, this);
    }
}
