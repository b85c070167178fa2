// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.simulator.LeaseUser.Hold;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Users who change the mode of what they hold, as the façade does it: a reader goes on reading until it may write; a
 * writer gives up before it asks whether it may read. R13: of a change that is granted the old grant is over, without a
 * word about it; one that is not leaves a reader what it has; and none is granted to who holds no more.
 */
final class ModeChanges {
    private final SimWorld world;
    private final LeaseUsers users;
    private final Holdings holdings;
    private final List<LeaseOracle> oracles;
    private final Owner[] owners;
    /** Changes of what ended before they were answered, of each client: they are refused, or withdrawn. */
    private final List<Set<Long>> pointless = new ArrayList<>();

    ModeChanges(SimWorld world, LeaseUsers users, Holdings holdings, List<LeaseOracle> oracles, Owner[] owners) {
        this.world = world;
        this.users = users;
        this.holdings = holdings;
        this.oracles = oracles;
        this.owners = owners;
        for (int i = 0; i <= world.clients(); i++) {
            pointless.add(new HashSet<>());
        }
    }

    /** Whether that operation changes the mode of what it holds. */
    static boolean changes(Act act) {
        return upgrades(act) || act.verb().equals("downgrade");
    }

    /** Whether it still does when it holds in that mode. */
    static boolean changes(Act act, LockMode mode) {
        return mode == (upgrades(act) ? LockMode.SHARED : LockMode.EXCLUSIVE) && changes(act);
    }

    private static boolean upgrades(Act act) {
        return act.verb().endsWith("upgrade");
    }

    private Key key(Act act) {
        return users.key(act.name());
    }

    void begin(LeaseUser user, Act act) {
        Hold hold = user.hold;
        if (hold == null || user.releasing != 0 || user.change != 0 || !hold.believes()) {
            return;
        }
        user.change = users.nextRequest();
        boolean up = upgrades(act);
        if (!up) {
            holdings.finished(hold);
            holdings.shares(hold);
            for (LeaseOracle oracle : oracles) {
                oracle.releasing(hold);
            }
        }
        long patience = up ? act.patience() : world.options().maxTtl();
        if (patience > 0) {
            users.wake(user, patience, LeaseUsers.GIVE_UP);
        }
        users.send(
                hold.cell,
                key(act),
                new LockCall.Acquire(
                        user.change,
                        up ? LockMode.EXCLUSIVE : LockMode.SHARED,
                        1,
                        1,
                        1,
                        hold.ttl,
                        owners[user.node.index()],
                        !act.verb().startsWith("try"),
                        false,
                        hold.ttl / 4,
                        0,
                        0,
                        hold.token,
                        LockMessage.Acquire.IN_THE_QUEUE,
                        user));
    }

    /** Whether a release waits for the change; some do not. */
    boolean comesFirst(LeaseUser user) {
        if (user.change == 0) {
            return false;
        }
        Hold hold = user.hold;
        if (hold == null || hold.mode != LockMode.SHARED || users.draw(user, 11, 4) != 0) {
            return true;
        }
        hold.cell.reached(ModeGoal.RELEASED_WHILE_UPGRADING);
        over(user);
        return false;
    }

    private void over(LeaseUser user) {
        pointless.get(user.node.index()).add(user.change);
        user.change = 0;
    }

    /** What that user held is over. */
    void ended(LeaseUser user) {
        if (user.change != 0) {
            world.goals().reached(ModeGoal.ENDED_WHILE_UPGRADING);
            over(user);
        }
    }

    /** The process is gone. */
    void ended(SimNode node) {
        pointless.get(node.index()).clear();
    }

    void giveUp(LeaseUser user, Act act) {
        Hold hold = user.hold;
        if (hold == null) {
            return;
        }
        long request = user.change;
        Set<Long> open = users.givenUp(user.node);
        open.add(request);
        user.change = 0;
        users.send(hold.cell, key(act), new LockCall.Withdraw(request));
        users.seats().afterwards(user.node, () -> {
            if (open.contains(request)) {
                throw new Violation("R18", "change " + request + " of " + user.node + " was withdrawn and waits still");
            }
        });
        if (upgrades(act)) {
            world.goals().reached(ModeGoal.UPGRADE_WITHDRAWN);
            keeps(user, hold);
        } else if (user.hold != null) {
            giveBack(user, act, hold);
        }
    }

    /** What was given up for nothing goes back. */
    private void giveBack(LeaseUser user, Act act, Hold hold) {
        hold.cell.reached(ModeGoal.DOWNGRADE_GIVEN_UP);
        users.finished(hold, Use.Finish.UNKNOWN);
        user.hold = null;
        user.releasing = hold.token;
        user.releasingAt = hold.cell;
        // It may be the cell's own turn that says so.
        Runnable release = () -> users.send(hold.cell, key(act), new LockCall.Release(hold.token));
        world.wake(user.node, 1, 0, release);
    }

    /** The reader goes on, unless it is told at the same time that its lock is lost. */
    private void keeps(LeaseUser user, Hold hold) {
        users.wake(user, 1 + users.draw(user, 12, hold.ttl / 16), LeaseUsers.RELEASE);
        Runnable look = () -> {
            if (user.hold == hold && user.releasing == 0 && user.change == 0 && hold.word.closed()) {
                throw new Violation("R13", hold + ", and a change of its mode that failed has ended it");
            }
        };
        world.wake(user.node, 1, 0, look);
    }

    /** True if it is the answer to a change of mode. */
    boolean granted(SimCell cell, @Nullable LeaseUser user, LockNotice.Granted granted) {
        if (pointless.get(cell.node().index()).remove(granted.request())) {
            throw new Violation("R13", granted.request() + " changes the mode of what had ended, and is granted");
        }
        if (user == null || user.change == 0 || user.change != granted.request()) {
            return false;
        }
        Hold old = user.hold;
        if (old == null) {
            throw new IllegalStateException("a change of nothing");
        }
        if (!old.word.closed()) {
            throw new Violation("R13", old + ", and its mode has changed");
        }
        cell.reached(old.mode == LockMode.SHARED ? ModeGoal.UPGRADED : ModeGoal.DOWNGRADED);
        user.change = 0;
        users.finished(old, Use.Finish.CONVERTED);
        users.got(user, cell, granted.handle(), granted.token());
        return true;
    }

    /** True if it says that a change of mode is not granted. */
    boolean isOver(SimNode node, LockNotice notice) {
        long request = notice instanceof LockNotice.Refused refused
                ? refused.request()
                : notice instanceof LockNotice.Failed failed
                        ? failed.request()
                        : notice instanceof LockNotice.Misdirected wrong ? wrong.request() : 0;
        if (request == 0) {
            return false;
        }
        if (pointless.get(node.index()).remove(request)) {
            return true;
        }
        LeaseUser user = users.changing(node, request);
        if (user == null || user.act == null) {
            return false;
        }
        Hold hold = user.hold;
        user.change = 0;
        if (hold == null) {
            throw new IllegalStateException("a change of nothing");
        }
        if (upgrades(user.act)) {
            hold.cell.reached(ModeGoal.UPGRADE_REFUSED);
            keeps(user, hold);
        } else {
            giveBack(user, user.act, hold);
        }
        return true;
    }

    /** Changes of what is over that nobody has answered. */
    String waiting() {
        StringBuilder text = new StringBuilder();
        for (int i = 1; i < pointless.size(); i++) {
            if (!pointless.get(i).isEmpty()) {
                text.append("client")
                        .append(i)
                        .append(" never heard of the changes ")
                        .append(pointless.get(i));
            }
        }
        return text.toString();
    }
}
