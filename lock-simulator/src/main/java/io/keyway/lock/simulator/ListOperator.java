// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.election.ElectionCall.ChangeMembers;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import java.util.List;

/**
 * Adds and removes members while the cluster works, where there is a spare one: it tells some member what it wants, and
 * says it again for some seconds, whether it comes to be so or not.
 */
final class ListOperator {
    private static final int MOST = 4;
    private static final long AGAIN = Nanos.SECOND / 2;

    private final SimWorld world;
    private final List<String> ids;
    private final Key election;
    private final Draws draws;
    private final int first;
    private final int changes;

    /** @param election the machine of each member that elects */
    ListOperator(SimWorld world, List<String> ids, Key election) {
        this.world = world;
        this.ids = ids;
        this.election = election;
        this.draws = new Draws(world.options().seed(), 19);
        this.first = ids.size() - world.options().spares();
        this.changes = world.options().spares() > 0 ? 1 + draws.below(MOST) : 0;
    }

    /** The members that begin. */
    List<String> first() {
        return ids.subList(0, first);
    }

    /** That member has started for the first time. */
    void started(SimNode node) {
        if (node.slot() != 0) {
            return;
        }
        for (int i = 0; i < changes; i++) {
            long at = draws.below(world.options().faultPhase());
            // Who was not there at first is wanted first.
            boolean add = draws.chance(500) || i == 0;
            ChangeMembers wish = new ChangeMembers(ids.get(i == 0 ? first : draws.below(ids.size())), add);
            SimNode by = world.member(draws.below(ids.size()));
            int times = 1 + draws.below(20);
            for (int again = 0; again < times; again++) {
                Runnable says = () -> say(by, wish);
                world.wake(node, at + again * AGAIN, 0, says);
            }
        }
    }

    /** What that fault says is wanted of the member from now on. */
    void tells(SimNode member, Fault fault) {
        String other = ids.get(-fault.peer());
        ChangeMembers wish = new ChangeMembers(other, fault.amount() == 1);
        for (long after = 0; after < fault.nanos(); after += AGAIN) {
            Runnable says = () -> say(member, wish);
            world.wake(member, after, 0, says);
        }
    }

    /** Who stands still hears nothing, and is told again. */
    private void say(SimNode member, ChangeMembers wish) {
        if (member.alive() && !member.paused() && !member.cells().isEmpty()) {
            member.input(new Input.Command(election, wish));
        }
    }
}
