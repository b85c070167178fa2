// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.MemberPromise;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.session.SessionTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One member in one cell, and each client with one cell for it. */
final class OneMember extends FixedMembers {
    private final LeaseCells cells;
    private final LeaseUsers users;
    private final boolean keepsHorizon;
    private final long ahead;
    private final Authority[] authorities;
    /** What the last life handed over; null if it did not end in good order. */
    private @Nullable List<Input> handedOver;

    /** @param authorities may still be filled */
    OneMember(SimWorld world, LeaseCells cells, LeaseUsers users, Authority[] authorities) {
        super(world, users);
        this.authorities = authorities;
        this.users = users;
        this.cells = cells;
        Draws draws = new Draws(world.options().seed(), 10);
        this.keepsHorizon = cells.quarantine() && draws.chance(400);
        this.ahead = draws.logarithmic(10 * Nanos.MILLI, world.options().maxTtl());
    }

    @Override
    public void start(SimNode node) {
        if (node.isMember()) {
            node.disk().start(0, world.options().maxTtl());
            Cell cell = cells.member(node, Membership.single("m"), name -> true, until(node), horizon(node));
            SimCell opened = node.open(0, cell, null);
            List<Input> first = handedOver == null ? List.of() : handedOver;
            handedOver = null;
            first.forEach(opened::input);
        } else {
            node.open(0, cells.client(node, 0, SessionTarget.ONLY_MEMBER), world.member(0));
        }
    }

    /**
     * When a member that starts may grant: at the horizon that it forced, if it keeps one; otherwise when no lease that
     * it forgot can be left.
     */
    private long until(SimNode node) {
        if (!cells.quarantine() || handedOver != null) {
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
        MemberPromise record = node.disk().record();
        return record != null ? record.horizon() : node.clock();
    }

    @Override
    public SimNode dials(SimCell cell) {
        return world.member(0);
    }

    @Override
    public void handsOver(SimNode member) {
        boolean knowsAll = !((MemberSessions) member.cell().sessions()).quarantined();
        member.close();
        List<Input> imports = new ArrayList<>();
        for (int name = 0; name < world.options().names() && knowsAll; name++) {
            Key key = users.key(name);
            Optional<List<LockCall.Import>> exports = authorities[0].watch().exports(key);
            knowsAll = exports.isPresent();
            exports.orElse(List.of()).forEach(each -> imports.add(new Input.Command(key, each)));
        }
        handedOver = knowsAll ? imports : null;
    }

    /** Members and clients of one machine sleep together. */
    @Override
    public boolean wakeful() {
        return false;
    }
}
