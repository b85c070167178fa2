// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.cluster.ListConfirmation;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.MemberView.Restored;
import io.keyway.lock.peer.kernel.MemberView.Started;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.member.MemberSettings;
import io.keyway.lock.peer.member.PreviousRun;
import io.keyway.lock.peer.member.StartState;
import io.keyway.lock.peer.queue.GrantTable;
import io.keyway.lock.peer.queue.LockManagerView;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.Promising;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.MemberPromise;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.session.SessionTarget;
import io.keyway.lock.peer.wire.RecordCodec;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import io.keyway.lock.simulator.MemberDirectory.StartGoal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Some members that talk to each other, and clients with one session each: attached to one of them for good, unless the
 * algorithm says otherwise.
 */
abstract class AttachedMembers extends FixedMembers {
    /** Of as many members as there may be. */
    static final List<String> IDS = List.of("a", "b", "c", "d", "e", "f");

    /** The amount of a crash after which the member finds a copy of its directory. */
    static final int RESTORED = 2;
    /** The amount of a crash by which the directory is lost. */
    static final int LOST = 3;
    /** The amount of a crash by which the directory is lost, and the operator says that the cluster never ran. */
    static final int SAID_FRESH = 4;
    /** The amount of a crash after which the member served another algorithm before it starts again. */
    static final int MOVED = 5;
    /** The amount of a crash after which the longest lease of the member is an eighth of what it was. */
    static final int SHORTER = 6;

    private static final long ASK_AGAIN = 100 * Nanos.MILLI;

    private final LeaseModel.Kit taken;
    private final Algorithm algorithm;
    private final Authority[] authorities;
    private final MachineFactory machines;
    /** By the slot of the member. */
    private final List<MemberDirectory> directories = new ArrayList<>();

    private final List<String> ids;
    /** The longest lease that each of them grants. */
    private final long[] maxTtls;
    /** Whose directory says that it has opened. */
    private final Set<Integer> opened = new HashSet<>();
    /** Of whose next life the operator says that it is the first use of the cluster. */
    private final Set<Integer> saidFresh = new HashSet<>();

    AttachedMembers(
            SimWorld world, Algorithm algorithm, Authority[] authorities, LeaseUsers users, MachineFactory machines) {
        super(world, users);
        this.taken = users.kit();
        this.algorithm = algorithm;
        this.authorities = authorities;
        this.machines = machines;
        this.ids = IDS.subList(0, world.memberNodes());
        this.maxTtls = new long[ids.size()];
        for (int slot = 0; slot < ids.size(); slot++) {
            maxTtls[slot] = world.options().maxTtl();
            directories.add(new MemberDirectory(world, world.member(slot), ofDirectory(slot), taken));
        }
    }

    /** Members and clients with another longest lease refuse each other. */
    private SessionSettings settings(int slot) {
        return Sessions.settings(algorithm.id(), maxTtls[slot]).among(1, String.join(",", ids));
    }

    private MemberSettings ofDirectory(int slot) {
        Duration maxTtl = Duration.ofNanos(maxTtls[slot]);
        return new MemberSettings("sim", ids.get(slot), 1, maxTtls[slot], maxTtl, algorithm.id(), "", ids);
    }

    @Override
    public long maxTtl(SimNode client) {
        return maxTtls[member(client).slot()];
    }

    /** That algorithm, but for the machines of its members. */
    static LeaseModel.Kit kit(Algorithm algorithm, MachineFactory members) {
        return new LeaseModel.Kit(
                (settings, owned) -> members, settings -> algorithm.clientMachines(), true, Set.of(), algorithm.id());
    }

    /**
     * In what time the members of a cluster that has never run hear of each other, in nanoseconds; 0 if nobody says so
     * and they open at once.
     */
    abstract long confirmedWithin();

    /** The members that there are at first. */
    List<String> listed() {
        return ids;
    }

    /** The ids of all nodes that are members at some time. */
    List<String> ids() {
        return ids;
    }

    /** The machines of that member, those watched that an oracle wants to see. */
    abstract MachineFactory watched(int member, MachineFactory members);

    /** How many cells each member says that it has; the first of them is played. */
    int shards() {
        return 1;
    }

    /** That member has lost its file. */
    abstract void forgot(int member);

    /** Whether a machine that is always there has nothing to do. */
    abstract boolean isIdle(Cell member, Key key);

    private SimNode member(SimNode client) {
        return world.member(client.index() % ids.size());
    }

    @Override
    public void start(SimNode node) {
        if (!node.isMember()) {
            startClient(node);
            return;
        }
        int slot = node.slot();
        String id = ids.get(slot);
        List<String> listed = listed();
        MemberDirectory directory = directories.get(slot);
        boolean isFirst = node.incarnation() == 1 && listed.contains(id);
        boolean isFirstUse = (isFirst && (confirmedWithin() > 0 || algorithm.isElastic())) || saidFresh.remove(slot);
        if (isFirst && !isFirstUse) {
            directory.endedBefore();
        }
        StartState found = directory.found(isFirstUse);
        boolean asks = directory.asks(found, algorithm.isElastic());
        PreviousRun previous = directory.begin(found, asks, algorithm.leases());
        long now = node.clock();
        boolean forgets = taken.takes(Shortcut.FORGETS_LONGER_LEASES);
        long most = forgets ? SessionSettings.quarantine(maxTtls[slot]) : Long.MAX_VALUE;
        long waits = now + Math.min(most, previous.waitNanos());
        if (node.incarnation() > 1
                && previous.waitNanos()
                        < SessionSettings.quarantine(world.options().maxTtl())) {
            world.goals()
                    .reached(
                            previous.waitNanos() > 0
                                    ? WorldGoal.STARTED_BY_HORIZON
                                    : StartGoal.STARTED_WITH_NOTHING_TO_WAIT_FOR);
        }
        Membership membership = new Membership(
                id, listed, 0, shards(), isFirstUse, directory.largestTtl(), Membership.LARGEST_EPOCH - 1);
        MemberSessions sessions = new MemberSessions(
                settings(slot),
                membership,
                Sessions.incarnation(node, 0),
                directory.epoch(),
                asks ? Turn.NEVER : waits,
                new Horizon(directory.horizon(), maxTtls[slot] / 2));
        sessions.withPeers(algorithm.isElastic());
        if (algorithm.serving() == Algorithm.Serving.BY_LEADER) {
            sessions.underLeader();
        }
        Cell cell = new Cell(authorities[slot].watch().watched(watched(slot, machines)), sessions);
        node.open(0, cell, null);
        opened.remove(slot);
        previous.carriedOver().imports().forEach(node::input);
        RecordCodec records = algorithm.records().orElseThrow();
        for (byte[] stored : directory.records()) {
            DurableRecord record = read(records, stored);
            node.input(new Input.Command(records.key(record), new Restored(record)));
        }
        algorithm.startingMachines().forEach(key -> node.input(new Input.Command(key, new Started())));
        if (asks) {
            ListConfirmation confirmation = ListConfirmation.start(
                    id,
                    listed,
                    Optional.empty(),
                    isFirstUse,
                    Set.of(),
                    SessionSettings.quarantine(directory.largestTtl()),
                    now);
            long within = Math.max(confirmedWithin(), ASK_AGAIN);
            asksLater(node, confirmation, waits, new Draws(world.options().seed(), 17 + slot).below(within));
        }
    }

    private void asksLater(SimNode node, ListConfirmation confirmation, long waits, long nanos) {
        Runnable asks = () -> asks(node, confirmation, waits);
        world.wake(node, nanos, 0, asks);
    }

    /**
     * Each of the others that hears it says that it runs with the list; and that the cluster was never used before,
     * unless it has met a former life of the member.
     */
    private void asks(SimNode node, ListConfirmation confirmation, long waits) {
        for (String other : confirmation.awaited()) {
            SimNode peer = world.member(ids.indexOf(other));
            if (peer.alive() && !peer.paused() && !world.net().isCut(node, peer)) {
                long quarantine =
                        SessionSettings.quarantine(directories.get(peer.slot()).largestTtl());
                boolean fresh = directories.get(peer.slot()).isFirstUse() && node.incarnation() == 1;
                confirmation.confirmed(other, fresh, 0, quarantine, node.clock());
            }
        }
        long at = confirmation.openAt();
        if (at == Turn.NEVER) {
            asksLater(node, confirmation, waits, ASK_AGAIN);
        } else {
            node.input(new Input.Confirmed(at - waits > 0 ? at : waits, confirmation.epoch(), confirmation.firstUse()));
        }
    }

    private void startClient(SimNode node) {
        boolean moves = algorithm.serving() == Algorithm.Serving.BY_LEADER
                || world.options().spares() > 0;
        ClientSession session = new ClientSession(
                settings(member(node).slot()),
                Sessions.incarnation(node, 0),
                moves ? SessionTarget.LEADER : SessionTarget.ONLY_MEMBER,
                List.of(),
                0,
                0);
        for (int slot = 0; slot < ids.size(); slot++) {
            node.talksTo(world.member(slot), 0);
        }
        node.open(0, new Cell(algorithm.clientMachines(), session), moves ? null : member(node));
    }

    private static DurableRecord read(RecordCodec records, byte[] stored) {
        try {
            return records.read(new WireReader(stored));
        } catch (WireException e) {
            throw new IllegalStateException("a record that was written can be read", e);
        }
    }

    @Override
    public void forced(SimNode member, DurableRecord record) {
        MemberDirectory directory = directories.get(member.slot());
        if (record instanceof MemberPromise promise) {
            directory.promised(promise);
        } else {
            WireWriter bytes = new WireWriter(1_000);
            RecordCodec records = algorithm.records().orElseThrow();
            records.write(record, bytes);
            directory.recorded(records.key(record), bytes.toBytes());
        }
    }

    @Override
    public void looked(SimNode node) {
        if (node.isMember() && !((MemberSessions) node.cell().sessions()).quarantined() && opened.add(node.slot())) {
            directories.get(node.slot()).opened();
        }
    }

    /** What waits for the disk goes out first; then the directory says which grants live, if this life knows of all. */
    @Override
    public void handsOver(SimNode member) {
        MemberSessions sessions = (MemberSessions) member.cell().sessions();
        boolean knowsAll = !sessions.quarantined();
        member.close();
        member.main().drain();
        Optional<List<GrantTable.Entry>> grants = knowsAll ? grants(member) : Optional.empty();
        grants.ifPresent(all -> {
            world.goals().reached(StartGoal.ENDED_IN_ORDER);
            directories.get(member.slot()).ended(all, sessions.lives());
        });
    }

    /** All grants of a member; empty if they do not say everything. */
    private Optional<List<GrantTable.Entry>> grants(SimNode member) {
        List<GrantTable.Entry> table = new ArrayList<>();
        for (Key key : member.cell().keys()) {
            Machine found = member.cell().machine(key);
            if (found == null) {
                continue;
            }
            Machine machine = ForwardingMachine.watched(found);
            boolean isNamed = key.algorithm() == algorithm.id() && LockKeys.isNamed(key);
            Optional<List<LockCall.Import>> exports = LockManagerView.isOne(machine)
                    ? LockManagerView.exports(machine, member.clock())
                    : Optional.empty();
            if ((machine instanceof Promising promising && promising.hasPromised()) || (isNamed && exports.isEmpty())) {
                return Optional.empty();
            }
            exports.orElse(List.of()).forEach(each -> table.add(new GrantTable.Entry(key, GrantTable.NOBODY, each)));
        }
        return Optional.of(table);
    }

    @Override
    public SimNode dials(SimCell cell) {
        return member(cell.node());
    }

    @Override
    public SimNode dials(SimCell cell, long link) {
        if (!cell.node().isMember()) {
            return dials(cell);
        }
        String to = ((MemberSessions) cell.cell().sessions()).peers().dials(link);
        return world.member(ids.indexOf(to));
    }

    @Override
    public boolean wakeful() {
        return true;
    }

    @Override
    public void restarts(SimNode member, Fault fault) {
        MemberDirectory directory = directories.get(member.slot());
        switch ((int) fault.amount()) {
            case RESTORED -> {
                world.goals().reached(ClusterGoal.STARTED_WITH_AN_OLD_FILE);
                directory.restore(fault.nanos());
                forgot(member.slot());
            }
            case LOST, SAID_FRESH -> {
                world.goals().reached(ClusterGoal.STARTED_WITHOUT_FILE);
                directory.lose();
                forgot(member.slot());
                if (fault.amount() == SAID_FRESH) {
                    saidFresh.add(member.slot());
                }
            }
            case MOVED -> {
                world.goals().reached(StartGoal.SERVED_ANOTHER_ALGORITHM);
                directory.moved();
                forgot(member.slot());
            }
            case SHORTER -> {
                maxTtls[member.slot()] = world.options().maxTtl() / 8;
                directory.settings(ofDirectory(member.slot()));
            }
            default -> {}
        }
    }

    @Override
    public int atRest(SimCell cell) {
        Key cluster = LockKeys.cluster(algorithm.id());
        int idle = cell.cell().machine(cluster) == null ? 0 : 1;
        if (cell.node().isMember()) {
            for (Key key : algorithm.startingMachines()) {
                idle += !key.equals(cluster) && isIdle(cell.cell(), key) ? 1 : 0;
            }
        }
        return idle;
    }
}
