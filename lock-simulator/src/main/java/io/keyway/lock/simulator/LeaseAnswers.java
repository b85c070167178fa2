// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.WelcomeInfo;
import io.keyway.lock.simulator.LeaseUser.Hold;
import io.keyway.lock.spi.Answer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the cells tell the users of the lease service. Each answer is judged, which has to come once and to be
 * somebody's (R9, R18), and moves the user who waits for it.
 */
final class LeaseAnswers {
    private final SimWorld world;
    private final LeaseUsers users;
    private final Holdings holdings;
    private final List<LeaseOracle> oracles;
    private final ModeChanges changes;
    private final boolean stopBeforeRevoked;
    private final LeaseModel.Kit kit;
    /** What confirms the return of grants that came for a request that was given up, of each client. */
    private final List<Set<LockNotice.ReleaseDone>> returned = new ArrayList<>();

    /** @param stopBeforeRevoked users of broken locks say when they have stopped, for their clients wait for that */
    LeaseAnswers(
            SimWorld world,
            LeaseUsers users,
            Holdings holdings,
            List<LeaseOracle> oracles,
            ModeChanges changes,
            boolean stopBeforeRevoked,
            LeaseModel.Kit kit) {
        this.world = world;
        this.users = users;
        this.holdings = holdings;
        this.oracles = oracles;
        this.changes = changes;
        this.stopBeforeRevoked = stopBeforeRevoked;
        this.kit = kit;
        for (int i = 0; i <= world.clients(); i++) {
            returned.add(new HashSet<>());
        }
    }

    /** The process is gone. */
    void ended(SimNode node) {
        returned.get(node.index()).clear();
    }

    /** @param cell null if it is said of the cluster, and not by one of the client's cells */
    void notice(SimNode node, @Nullable SimCell cell, Notice told) {
        if (!(told instanceof LockNotice notice)) {
            return;
        }
        if (world.tracer() != null) {
            world.trace(node, text(notice));
        }
        if (cell != null && notice instanceof LockNotice.Waiting waiting && waiting.ahead() >= 0) {
            waits(cell, waiting.request());
        } else if (cell == null || !ofGrant(cell, notice)) {
            ofRequest(node, notice);
        }
    }

    private void waits(SimCell cell, long request) {
        ClientSession session = (ClientSession) cell.cell().sessions();
        WelcomeInfo welcome = session.lastWelcome();
        for (LeaseOracle oracle : oracles) {
            if (welcome != null) {
                oracle.waits(
                        request,
                        Sessions.life(welcome.incarnation()),
                        session.session().session());
            }
        }
    }

    private boolean ofGrant(SimCell cell, LockNotice notice) {
        if (notice instanceof LockNotice.Granted granted) {
            granted(cell, granted);
        } else if (notice instanceof LockNotice.Ended ended) {
            ended(cell, ended);
        } else if (notice instanceof LockNotice.ReleaseDone done) {
            released(cell, done);
        } else if (notice instanceof LockNotice.Closed closed) {
            holdings.closed(cell, closed.handle());
        } else {
            return false;
        }
        return true;
    }

    private void ofRequest(SimNode node, LockNotice notice) {
        Set<Long> open = users.givenUp(node);
        if (notice instanceof LockNotice.Withdrawn withdrawn) {
            if (!open.remove(withdrawn.request())) {
                throw new Violation("R18", "request " + withdrawn.request() + " was withdrawn by nobody");
            }
            world.goals().reached(LeaseUsers.UserGoal.WITHDRAWN);
        } else if (changes.isOver(node, notice)) {
            return;
        } else if (notice instanceof LockNotice.Refused refused) {
            over(node, refused.user(), refused.request(), LeaseUsers.UserGoal.REFUSED);
        } else if (notice instanceof LockNotice.Failed failed) {
            over(node, failed.user() == null ? asker(node, failed.request()) : failed.user(), failed.request(), null);
        } else if (notice instanceof LockNotice.Misdirected wrong) {
            over(node, asker(node, wrong.request()), wrong.request(), null);
        } else if (notice instanceof LockNotice.Told answer) {
            told(node, answer.answer().request());
        }
    }

    private static String text(LockNotice notice) {
        return notice instanceof LockNotice.Closed closed
                ? "Closed " + closed.key().id()
                : String.valueOf(notice).replaceAll(", handle=[^,]*", "");
    }

    private void granted(SimCell cell, LockNotice.Granted granted) {
        holdings.open(cell, granted.handle());
        LeaseUser user = (LeaseUser) granted.user();
        SimNode node = cell.node();
        if (changes.granted(cell, user, granted)) {
            return;
        }
        if (users.givenUp(node).remove(granted.request())) {
            // It was granted before the withdrawal came, and goes back by its token.
            returned.get(node.index()).add(returned(granted.key(), granted.token()));
            Runnable giveBack = () -> users.send(cell, granted.key(), new LockCall.Release(granted.token(), true));
            world.wake(node, 1, 0, giveBack);
            return;
        }
        if (user == null || user.request != granted.request()) {
            throw new Violation("R18", "granted to nobody: " + granted.request());
        }
        user.request = 0;
        users.got(user, cell, granted.handle(), granted.token());
    }

    private void over(SimNode node, @Nullable Object who, long request, LeaseUsers.@Nullable UserGoal goal) {
        if (users.givenUp(node).remove(request)) {
            return;
        }
        if (who instanceof LeaseUser user && user.request == request) {
            if (goal != null) {
                world.goals().reached(goal);
            }
            users.idle(user);
        } else {
            throw new Violation("R18", "a second answer to request " + request);
        }
    }

    private static LockNotice.ReleaseDone returned(Key key, long token) {
        return new LockNotice.ReleaseDone(key, token, Answer.DONE);
    }

    private @Nullable LeaseUser asker(SimNode node, long request) {
        for (LeaseUser user : users.of(node)) {
            if (user.request == request) {
                return user;
            }
        }
        return null;
    }

    private void told(SimNode node, long answered) {
        for (LeaseUser user : users.of(node)) {
            if (user.request != 0 && answered == user.request) {
                users.idle(user);
                return;
            }
        }
    }

    private void ended(SimCell cell, LockNotice.Ended ended) {
        LeaseUser user = (LeaseUser) ended.user();
        Hold hold = user == null ? null : user.hold;
        Set<LockNotice.ReleaseDone> goingBack = returned.get(cell.node().index());
        if (goingBack.remove(returned(ended.key(), ended.token()))) {
            // Its request was given up, so that the kit believes nothing, and its return is on its way.
            goingBack.add(new LockNotice.ReleaseDone(ended.key(), ended.token(), Answer.NOT_HELD));
            return;
        }
        if (user == null || hold == null || hold.token != ended.token()) {
            throw new Violation("R9", "the end of token " + ended.token() + " is told, and nobody holds it");
        }
        changes.ended(user);
        boolean lost = ended.cause() == LeaseLoss.Cause.EXPIRED;
        world.goals().reached(lost ? LeaseUsers.UserGoal.LOST : LeaseUsers.UserGoal.REVOKED);
        boolean denied = ended.cause() == LeaseLoss.Cause.DENIED;
        users.finished(hold, lost ? Use.Finish.LOST : denied ? Use.Finish.DENIED : Use.Finish.BROKEN);
        user.hold = null;
        if (user.releasing != 0) {
            return;
        }
        if (lost ? users.draw(user, 2, 2) == 0 : !stopBeforeRevoked) {
            users.idle(user);
            return;
        }
        user.lost = hold;
        user.step++;
        users.wake(user, users.draw(user, 3, hold.ttl / 2), LeaseUsers.STOP);
    }

    private void released(SimCell cell, LockNotice.ReleaseDone done) {
        for (LeaseUser user : users.of(cell.node())) {
            boolean asked = user.releasingAt == cell || kit.takes(Shortcut.RELEASES_BY_THE_LATEST_LIST);
            boolean named = user.act != null && users.key(user.act.name()).equals(done.key());
            if (user.releasing != done.token() || !named || !asked) {
                continue;
            }
            Hold hold = user.hold;
            if (hold != null && done.answer() == Answer.NOT_HELD) {
                throw new Violation("R9", "the release of " + hold + " says that it was not held");
            }
            if (hold != null) {
                boolean unknown = done.answer() == Answer.UNKNOWN;
                if (unknown) {
                    cell.reached(LeaseUsers.UserGoal.RELEASE_UNKNOWN);
                }
                users.finished(hold, unknown ? Use.Finish.UNKNOWN : Use.Finish.RELEASED);
                user.hold = null;
                if (users.claims().areOfAllModes() && !unknown && users.draw(user, 15, 8) == 0) {
                    again(cell, done.key(), done.token());
                }
            } else {
                cell.reached(LeaseUsers.UserGoal.RELEASED_AFTER_LOSS);
            }
            users.idle(user);
            return;
        }
        Set<LockNotice.ReleaseDone> awaited = returned.get(cell.node().index());
        if (!awaited.remove(returned(done.key(), done.token())) && !awaited.remove(done)) {
            throw new Violation("R9", "a second answer to the release of token " + done.token());
        }
    }

    /** A release that comes twice ends nothing. */
    private void again(SimCell cell, Key key, long token) {
        cell.reached(ModeGoal.RELEASED_TWICE);
        returned.get(cell.node().index()).add(new LockNotice.ReleaseDone(key, token, Answer.NOT_HELD));
        Runnable twice = () -> users.send(cell, key, new LockCall.Release(token));
        world.wake(cell.node(), 1, 0, twice);
    }
}
