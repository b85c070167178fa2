// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.lamport.LamportAlgorithm;
import io.keyway.lock.peer.lamport.LamportView;
import java.util.HashMap;
import java.util.Map;

/** Three members that keep Lamport's queues. */
final class LamportMembers extends AttachedMembers {
    private static final LamportAlgorithm ALGORITHM = new LamportAlgorithm();

    private final ClockWatch.Vectors vectors;
    /** By process, what its clients have heard of. */
    private final Map<Integer, Long> clocks = new HashMap<>();

    LamportMembers(SimWorld world, Authority[] authorities, LeaseUsers users, MachineFactory machines) {
        super(world, ALGORITHM, authorities, users, machines);
        this.vectors = new ClockWatch.Vectors(world.memberNodes(), what -> {
            throw new Violation("R11", what);
        });
    }

    /** The product's machines. */
    static LeaseModel.Kit kit() {
        return kit(ALGORITHM.memberMachines(all -> true));
    }

    /** The product's, but for those of the members. */
    static LeaseModel.Kit kit(MachineFactory members) {
        return kit(ALGORITHM, members);
    }

    @Override
    long confirmedWithin() {
        return 0;
    }

    @Override
    MachineFactory watched(int member, MachineFactory members) {
        return ClockWatch.machines(vectors, member, members);
    }

    @Override
    void forgot(int member) {
        vectors.forgot(member);
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
    public void mute(boolean on) {
        vectors.mute(on);
    }

    @Override
    boolean isIdle(Cell member, Key key) {
        return !(member.machine(key) instanceof ClockWatch watch) || LamportView.idle(watch.process());
    }
}
