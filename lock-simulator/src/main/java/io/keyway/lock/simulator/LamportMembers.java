// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.MemberView.Restored;
import io.keyway.lock.peer.kernel.MemberView.Started;
import io.keyway.lock.peer.lamport.LamportAlgorithm;
import io.keyway.lock.peer.lamport.LamportView;
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
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Three members that keep Lamport's queues, each client attached to one of them for good. */
final class LamportMembers extends FixedMembers {
    private static final List<String> IDS = List.of("a", "b", "c");
    private static final LamportAlgorithm ALGORITHM = new LamportAlgorithm();

    private final Authority[] authorities;
    private final MachineFactory machines;
    private final SessionSettings settings;
    private final ClockWatch.Vectors vectors;
    /** What each member has forced, as bytes; it outlives the member's lives. */
    private final Map<Integer, byte[]> disks = new HashMap<>();
    /** By process, what its clients have heard of. */
    private final Map<Integer, Long> clocks = new HashMap<>();

    LamportMembers(SimWorld world, Authority[] authorities, LeaseUsers users, MachineFactory machines) {
        super(world, users);
        this.authorities = authorities;
        this.machines = machines;
        this.settings =
                Sessions.settings(ALGORITHM.id(), world.options().maxTtl()).among(1, String.join(",", IDS));
        this.vectors = new ClockWatch.Vectors(IDS.size(), what -> {
            throw new Violation("R11", what);
        });
    }

    /** The product's machines. */
    static LeaseModel.Kit kit() {
        return kit(ALGORITHM.memberMachines(all -> true));
    }

    /** The product's, but for those of the members. */
    static LeaseModel.Kit kit(MachineFactory members) {
        return new LeaseModel.Kit(
                (settings, owned) -> members, settings -> ALGORITHM.clientMachines(), true, Set.of(), ALGORITHM.id());
    }

    private SimNode member(SimNode client) {
        return world.member(client.index() % IDS.size());
    }

    @Override
    public void start(SimNode node) {
        if (!node.isMember()) {
            ClientSession session = new ClientSession(
                    settings, Sessions.incarnation(node, 0), SessionTarget.ONLY_MEMBER, List.of(), 0, 0);
            node.talksTo(member(node), 0);
            node.open(0, new Cell(ALGORITHM.clientMachines(), session), member(node));
            return;
        }
        node.disk().start(1 + world.now() / Nanos.SECOND, world.options().maxTtl());
        String id = IDS.get(node.slot());
        Membership membership = new Membership(id, IDS, 0, 1, false, 0, Membership.LARGEST_EPOCH - 1);
        MemberSessions sessions = new MemberSessions(
                settings,
                membership,
                Sessions.incarnation(node, 0),
                node.disk().startEpoch(),
                node.quarantineUntil(),
                Horizon.NONE);
        Cell cell = new Cell(
                authorities[node.slot()].watch().watched(ClockWatch.machines(vectors, node.slot(), machines)),
                sessions.withPeers());
        node.open(0, cell, null);
        RecordCodec records = ALGORITHM.records().orElseThrow();
        byte[] stored = disks.get(node.slot());
        if (stored != null) {
            DurableRecord record = read(records, stored);
            node.input(new Input.Command(records.key(record), new Restored(record)));
        }
        ALGORITHM.startingMachines().forEach(key -> node.input(new Input.Command(key, new Started())));
    }

    private static DurableRecord read(RecordCodec records, byte[] stored) {
        try {
            return records.read(new WireReader(ByteBuffer.wrap(stored)));
        } catch (WireException e) {
            throw new IllegalStateException("a record that was written can be read", e);
        }
    }

    @Override
    public void forced(SimNode member, DurableRecord record) {
        if (!(record instanceof MemberPromise)) {
            ByteBuffer bytes = ByteBuffer.allocate(100);
            ALGORITHM.records().orElseThrow().write(record, new WireWriter(bytes));
            disks.put(member.slot(), Arrays.copyOf(bytes.array(), bytes.position()));
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
        return world.member(IDS.indexOf(to));
    }

    @Override
    public long logicalClock(SimNode client) {
        return clocks.getOrDefault(HeardBefore.process(client.index()), 0L);
    }

    @Override
    public void heardClock(SimNode client, long logicalClock) {
        clocks.merge(HeardBefore.process(client.index()), logicalClock, Math::max);
    }

    @Override
    public boolean wakeful() {
        return true;
    }

    @Override
    public void restarts(SimNode member, Fault fault) {
        if (fault.amount() == 3) {
            world.goals().reached(ClusterGoal.STARTED_WITHOUT_FILE);
            member.disk().wipe();
            disks.remove(member.slot());
            vectors.forgot(member.slot());
        }
    }

    @Override
    public void mute(boolean on) {
        vectors.mute(on);
    }

    @Override
    public int atRest(SimCell cell) {
        if (!cell.node().isMember()) {
            return 0;
        }
        return !(cell.cell().machine(LamportView.process()) instanceof ClockWatch watch)
                        || LamportView.idle(watch.process())
                ? 1
                : 0;
    }
}
