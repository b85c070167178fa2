// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.MemberView.Restored;
import io.keyway.lock.peer.kernel.MemberView.Started;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.service.LockKeys;
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
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Some members that talk to each other, and clients with one session each: attached to one of them for good, unless the
 * algorithm says otherwise.
 */
abstract class AttachedMembers extends FixedMembers {
    /** Of as many members as there may be. */
    static final List<String> IDS = List.of("a", "b", "c", "d", "e", "f");

    /** The amount of a crash by which the file is lost. */
    static final int LOST = 3;

    private final Algorithm algorithm;
    private final Authority[] authorities;
    private final MachineFactory machines;
    private final SessionSettings settings;
    /** What each member has forced, as bytes; it outlives the member's lives. */
    private final Map<Integer, Map<Key, byte[]>> disks = new HashMap<>();

    private final List<String> ids;

    AttachedMembers(
            SimWorld world, Algorithm algorithm, Authority[] authorities, LeaseUsers users, MachineFactory machines) {
        super(world, users);
        this.algorithm = algorithm;
        this.authorities = authorities;
        this.machines = machines;
        this.ids = IDS.subList(0, world.memberNodes());
        this.settings =
                Sessions.settings(algorithm.id(), world.options().maxTtl()).among(1, String.join(",", ids));
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

    /** Whether its members elect leaders: who does not hear that the cluster has never run has forgotten its votes. */
    private boolean elects() {
        return algorithm.isElastic();
    }

    /** The members that there are at first. */
    List<String> listed() {
        return ids;
    }

    /** The ids of all nodes that are members at some time. */
    List<String> ids() {
        return ids;
    }

    /** Until when a member is silent of which nobody knows what it granted. */
    private long unknown(SimNode node) {
        long whole = node.clock() + SessionSettings.quarantine(world.options().maxTtl());
        return node.incarnation() == 1 ? whole : node.quarantineUntil();
    }

    /** The machines of that member, those watched that an oracle wants to see. */
    abstract MachineFactory watched(int member, MachineFactory members);

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
        node.disk().start(1 + world.now() / Nanos.SECOND, world.options().maxTtl());
        String id = ids.get(node.slot());
        List<String> listed = listed();
        boolean isFirstUse = node.incarnation() == 1 && listed.contains(id) && (confirmedWithin() > 0 || elects());
        Membership membership = new Membership(id, listed, 0, 1, false, 0, Membership.LARGEST_EPOCH - 1);
        MemberSessions sessions = new MemberSessions(
                settings,
                membership,
                Sessions.incarnation(node, 0),
                node.disk().startEpoch(),
                isFirstUse ? Turn.NEVER : listed.contains(id) ? node.quarantineUntil() : unknown(node),
                Horizon.NONE);
        sessions.withPeers(algorithm.isElastic());
        if (algorithm.serving() == Algorithm.Serving.BY_LEADER) {
            sessions.underLeader();
        }
        Cell cell = new Cell(authorities[node.slot()].watch().watched(watched(node.slot(), machines)), sessions);
        node.open(0, cell, null);
        if (isFirstUse && confirmedWithin() == 0) {
            node.input(new Input.Confirmed(node.clock(), 0, true));
        }
        RecordCodec records = algorithm.records().orElseThrow();
        for (byte[] stored : disks.getOrDefault(node.slot(), Map.of()).values()) {
            DurableRecord record = read(records, stored);
            node.input(new Input.Command(records.key(record), new Restored(record)));
        }
        algorithm.startingMachines().forEach(key -> node.input(new Input.Command(key, new Started())));
        if (isFirstUse && confirmedWithin() > 0) {
            Runnable confirmed = () -> confirmed(node);
            long after = new Draws(world.options().seed(), 17 + node.slot()).below(confirmedWithin());
            world.wake(node, after, 0, confirmed);
        }
    }

    private void startClient(SimNode node) {
        boolean moves = algorithm.serving() == Algorithm.Serving.BY_LEADER
                || world.options().spares() > 0;
        ClientSession session = new ClientSession(
                settings,
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

    /** All have said that they run with the list; if each is in its first life, that nothing was ever granted. */
    private void confirmed(SimNode node) {
        if (!node.alive() || node.incarnation() != 1) {
            return;
        }
        boolean first = true;
        for (int slot = 0; slot < ids.size(); slot++) {
            first &= world.member(slot).incarnation() == 1;
        }
        long quarantine = first ? 0 : SessionSettings.quarantine(world.options().maxTtl());
        node.input(new Input.Confirmed(node.clock() + quarantine, 0, first));
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
        if (!(record instanceof MemberPromise)) {
            WireWriter bytes = new WireWriter(1_000);
            RecordCodec records = algorithm.records().orElseThrow();
            records.write(record, bytes);
            disks.computeIfAbsent(member.slot(), slot -> new LinkedHashMap<>())
                    .put(records.key(record), bytes.toBytes());
        }
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
        if (fault.amount() == LOST) {
            world.goals().reached(ClusterGoal.STARTED_WITHOUT_FILE);
            member.disk().wipe();
            disks.remove(member.slot());
            forgot(member.slot());
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
