// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Goal;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.lease.CachedGrant;
import io.keyway.lock.peer.lease.EndCause;
import io.keyway.lock.peer.lease.LeaseCall;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.lease.LeaseMessage;
import io.keyway.lock.peer.lease.LeaseNotice;
import io.keyway.lock.peer.lease.LeaseOwner;
import io.keyway.lock.peer.sim.LeaseUser.Hold;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The users of the lease service: they ask as an engine would, hold, look whether they still hold, give up, release, break each other's locks, and forget nothing but what the plan tells them to. */
final class LeaseUsers implements AuthorityExclusion.Believers {
    /** What only users can see. */
    enum UserGoal implements Goal {
        /** A cached lock was taken without a message. */
        FAST_REUSE,
        /** It was put back without a message. */
        FAST_RELEASE,
        LOST,
        REVOKED,
        WITHDRAWN,
        REFUSED,
        /** The user saw the deadline before the cell did. */
        SAW_LAPSE,
        RELEASE_UNKNOWN,
        RELEASED_AFTER_LOSS
    }

    private static final int GIVE_UP = 1;
    private static final int RELEASE = 2;
    private static final int LOOK = 3;
    private static final int NEXT = 4;
    private static final int STOP = 5;
    private static final long LONGEST_HOLD_AFTER_FAULTS = 20 * Nanos.MILLI;

    private final SimWorld world;
    private final List<LeaseOracle> oracles;
    private final boolean stopBeforeRevoked;
    private final LeaseUser[][] users;
    private final List<Map<String, List<CachedGrant>>> words = new ArrayList<>();
    private final List<List<Use>> holds = new ArrayList<>();
    private final LeaseOwner[] owners;
    private final Key[] keys;
    private @Nullable GrantWatch watch;
    private long requests;

    /** @param stopBeforeRevoked users of broken locks say when they have stopped, for their clients wait for that */
    LeaseUsers(SimWorld world, List<LeaseOracle> oracles, boolean stopBeforeRevoked) {
        this.world = world;
        this.oracles = oracles;
        this.stopBeforeRevoked = stopBeforeRevoked;
        this.users = new LeaseUser[world.size()][world.options().users()];
        this.owners = new LeaseOwner[world.size()];
        this.keys = new Key[world.options().names()];
        for (int name = 0; name < keys.length; name++) {
            keys[name] = LeaseKeys.lock("n" + name);
        }
        for (int i = 0; i < world.size(); i++) {
            words.add(new HashMap<>());
            holds.add(new ArrayList<>());
            owners[i] = new LeaseOwner("client" + i, Map.of());
            for (int u = 0; u < users[i].length; u++) {
                users[i][u] = new LeaseUser(world.node(i), u);
            }
        }
    }

    /** The machine of the lock with that number. */
    Key key(int name) {
        return keys[name];
    }

    void watch(GrantWatch authority) {
        watch = authority;
    }

    void act(SimNode node, Act act) {
        if (act.user() >= users[node.index()].length || act.name() >= keys.length || world.healed()) {
            return;
        }
        LeaseUser user = users[node.index()][act.user()];
        if (user.act != null) {
            user.later.addLast(act);
        } else {
            begin(user, act);
        }
    }

    /** Locks of one name are mostly asked for with one ttl, so that the cache serves, and sometimes with another. */
    private long ttl(Act act, LeaseUser user) {
        int shift = user.index == 2 ? act.name() + 1 : act.name();
        return world.options().maxTtl() >> shift % 3;
    }

    private void begin(LeaseUser user, Act act) {
        user.act = act;
        user.step++;
        user.request = ++requests;
        SimNode node = user.node;
        Key key = keys[act.name()];
        long limit = Nanos.SECOND;
        switch (act.verb()) {
            case "break" -> {
                long token = watch == null ? 0 : watch.token(key) + (act.hold() % 3 == 0 ? 1 : 0);
                send(node, key, new LeaseCall.Break(user.request, token, "because", limit));
            }
            case "show" -> send(node, key, new LeaseCall.Show(user.request, limit));
            case "list" -> send(node, LeaseKeys.DIRECTORY, new LeaseCall.ListNames(user.request, "", "", 10, limit));
            default -> acquire(user, act, key);
        }
    }

    private void send(SimNode node, Key key, LeaseCall call) {
        if (world.tracer() != null) {
            world.trace(node, call.toString());
        }
        node.input(new Input.Command(key, call));
    }

    private void acquire(LeaseUser user, Act act, Key key) {
        SimNode node = user.node;
        long ttl = ttl(act, user);
        List<CachedGrant> open = words.get(node.index()).get(key.id());
        for (int i = 0; open != null && i < open.size(); i++) {
            CachedGrant word = open.get(i);
            long token = word.tryReuse(LockMode.EXCLUSIVE, 1, ttl, owners[node.index()], user, node.clock());
            if (token != 0) {
                node.reached(UserGoal.FAST_REUSE);
                if (world.tracer() != null) {
                    world.trace(node, "takes cached " + key.id() + " with token " + token);
                }
                got(user, word, token);
                return;
            }
        }
        boolean queue = act.verb().equals("lock");
        send(
                node,
                key,
                new LeaseCall.Acquire(
                        user.request,
                        LockMode.EXCLUSIVE,
                        1,
                        1,
                        ttl,
                        owners[node.index()],
                        queue,
                        act.hold() % 4 == 0,
                        ttl / 4,
                        user));
        if (user.request != 0 && act.patience() > 0) {
            wake(user, act.patience(), GIVE_UP);
        }
    }

    /** A number below the bound that belongs to this operation, and stays the same when others are taken out of the plan. */
    private long draw(LeaseUser user, int purpose, long bound) {
        long own = user.act == null ? 0 : user.act.at();
        return Long.remainderUnsigned(Draws.of(world.options().seed() + purpose, own), bound);
    }

    private void wake(LeaseUser user, long nanos, int why) {
        world.wake(user.node, nanos, user.step << 3 | why, user);
    }

    void wake(SimNode node, long number, Object what) {
        if (!(what instanceof LeaseUser user) || number >>> 3 != user.step || user.act == null) {
            return;
        }
        world.counted();
        Act act = user.act;
        Hold hold = user.hold;
        switch ((int) number & 7) {
            case GIVE_UP -> {
                if (hold == null) {
                    send(node, keys[act.name()], new LeaseCall.Withdraw(user.request));
                }
            }
            case RELEASE -> release(user, act, hold);
            case LOOK -> {
                if (hold != null && !hold.believes() && hold.word.active(hold.token)) {
                    node.reached(UserGoal.SAW_LAPSE);
                    send(node, keys[act.name()], new LeaseCall.Lapse(hold.token));
                }
            }
            case STOP -> stop(user, act);
            default -> done(user);
        }
    }

    private void release(LeaseUser user, Act act, @Nullable Hold hold) {
        if (hold == null) {
            done(user);
            return;
        }
        SimNode node = user.node;
        if (hold.word.tryRelease(hold.token, node.clock())) {
            node.reached(UserGoal.FAST_RELEASE);
            if (world.tracer() != null) {
                world.trace(node, "puts " + hold.name + " back into the cache");
            }
            finished(hold, Use.Finish.RELEASED);
            user.hold = null;
            done(user);
            return;
        }
        user.releasing = hold.token;
        holds.get(node.index()).remove(hold);
        for (LeaseOracle oracle : oracles) {
            oracle.releasing(hold);
        }
        send(node, keys[act.name()], new LeaseCall.Release(hold.token));
    }

    /** The user's operation is over; the next one begins a moment later, outside of the cell's turn. */
    private void idle(LeaseUser user) {
        user.releasing = 0;
        user.request = 0;
        user.step++;
        wake(user, 1 + draw(user, 1, Nanos.MILLI), NEXT);
    }

    private void done(LeaseUser user) {
        user.act = null;
        user.step++;
        Act next = user.later.pollFirst();
        if (next != null && !world.healed()) {
            begin(user, next);
        }
    }

    private void got(LeaseUser user, CachedGrant word, long token) {
        Act act = user.act;
        if (act == null) {
            return;
        }
        Hold hold = new Hold(word.key().id(), user.node, token, word);
        user.hold = hold;
        user.step++;
        holds.get(user.node.index()).add(hold);
        for (LeaseOracle oracle : oracles) {
            oracle.began(hold);
        }
        long time = world.healed() ? Math.min(act.hold(), LONGEST_HOLD_AFTER_FAULTS) : act.hold();
        wake(user, time, RELEASE);
        if (time > word.ttl() / 2) {
            wake(user, draw(user, 4, time), LOOK);
            wake(user, draw(user, 5, time), LOOK);
        }
    }

    private void finished(Use use, Use.Finish how) {
        holds.get(use.client).remove(use);
        for (LeaseOracle oracle : oracles) {
            oracle.finished(use, how);
        }
    }

    void notice(SimNode node, Notice told) {
        if (!(told instanceof LeaseNotice notice)) {
            return;
        }
        if (world.tracer() != null) {
            world.trace(node, text(notice));
        }
        if (notice instanceof LeaseNotice.Granted granted) {
            granted(node, granted);
        } else if (notice instanceof LeaseNotice.Refused refused) {
            over(refused.user(), refused.request(), UserGoal.REFUSED);
        } else if (notice instanceof LeaseNotice.Withdrawn withdrawn) {
            over(withdrawn.user(), withdrawn.request(), UserGoal.WITHDRAWN);
        } else if (notice instanceof LeaseNotice.Failed failed) {
            over(failed.user() == null ? asker(node, failed.request()) : failed.user(), failed.request(), null);
        } else if (notice instanceof LeaseNotice.Told answer) {
            told(node, answer);
        } else if (notice instanceof LeaseNotice.Ended ended) {
            ended(ended);
        } else if (notice instanceof LeaseNotice.ReleaseDone done) {
            released(node, done);
        } else if (notice instanceof LeaseNotice.Closed closed) {
            List<CachedGrant> open = words.get(node.index()).get(closed.key().id());
            if (open != null) {
                open.remove(closed.word());
            }
        }
    }

    private static String text(LeaseNotice notice) {
        return notice instanceof LeaseNotice.Closed closed
                ? "Closed " + closed.key().id()
                : String.valueOf(notice).replaceAll(", word=[^,]*", "");
    }

    private void granted(SimNode node, LeaseNotice.Granted granted) {
        List<CachedGrant> open =
                words.get(node.index()).computeIfAbsent(granted.key().id(), fresh -> new ArrayList<>(1));
        if (!open.contains(granted.word())) {
            open.add(granted.word());
        }
        LeaseUser user = (LeaseUser) granted.user();
        if (user == null || user.request != granted.request()) {
            throw new Violation("R18", "granted to nobody: " + granted.request());
        }
        user.request = 0;
        got(user, granted.word(), granted.token());
    }

    private void over(@Nullable Object who, long request, @Nullable UserGoal goal) {
        if (who instanceof LeaseUser user && user.request == request) {
            if (goal != null) {
                user.node.reached(goal);
            }
            idle(user);
        } else {
            throw new Violation("R18", "a second answer to request " + request);
        }
    }

    private @Nullable LeaseUser asker(SimNode node, long request) {
        for (LeaseUser user : users[node.index()]) {
            if (user.request == request) {
                return user;
            }
        }
        return null;
    }

    private void told(SimNode node, LeaseNotice.Told answer) {
        for (LeaseUser user : users[node.index()]) {
            if (user.request != 0 && request(answer) == user.request) {
                idle(user);
                return;
            }
        }
    }

    private static long request(LeaseNotice.Told told) {
        LeaseMessage answer = told.answer();
        if (answer instanceof LeaseMessage.Answer broken) {
            return broken.request();
        }
        if (answer instanceof LeaseMessage.Status status) {
            return status.request();
        }
        return answer instanceof LeaseMessage.Page page ? page.request() : 0;
    }

    private void ended(LeaseNotice.Ended ended) {
        LeaseUser user = (LeaseUser) ended.user();
        Hold hold = user == null ? null : user.hold;
        if (hold == null || hold.token != ended.token()) {
            throw new Violation("R9", "the end of token " + ended.token() + " is told, and nobody holds it");
        }
        boolean lost = ended.cause() == EndCause.EXPIRED;
        user.node.reached(lost ? UserGoal.LOST : UserGoal.REVOKED);
        finished(hold, lost ? Use.Finish.LOST : Use.Finish.REVOKED);
        user.hold = null;
        if (user.releasing != 0) {
            return;
        }
        if (lost ? draw(user, 2, 2) == 0 : !stopBeforeRevoked) {
            idle(user);
            return;
        }
        user.lost = hold;
        user.step++;
        wake(user, draw(user, 3, hold.ttl / 2), STOP);
    }

    /** The user of a lost lock has stopped, and says so: the lock need not wait longer for it. */
    private void stop(LeaseUser user, Act act) {
        Hold lost = user.lost;
        if (lost == null) {
            return;
        }
        user.lost = null;
        user.releasing = lost.token;
        for (LeaseOracle oracle : oracles) {
            oracle.releasing(lost);
        }
        send(user.node, keys[act.name()], new LeaseCall.Release(lost.token));
    }

    private void released(SimNode node, LeaseNotice.ReleaseDone done) {
        for (LeaseUser user : users[node.index()]) {
            if (user.releasing != done.token()) {
                continue;
            }
            Hold hold = user.hold;
            if (hold != null) {
                boolean unknown = done.outcome() == LeaseNotice.Outcome.UNKNOWN;
                if (unknown) {
                    node.reached(UserGoal.RELEASE_UNKNOWN);
                }
                finished(hold, unknown ? Use.Finish.UNKNOWN : Use.Finish.RELEASED);
                user.hold = null;
            } else {
                node.reached(UserGoal.RELEASED_AFTER_LOSS);
            }
            idle(user);
            return;
        }
        throw new Violation("R9", "a second answer to the release of token " + done.token());
    }

    /** The process is gone, and all its users with it. */
    void ended(SimNode node) {
        int i = node.index();
        for (LeaseUser user : users[i]) {
            if (user.hold != null) {
                finished(user.hold, Use.Finish.DIED);
            }
        }
        for (LeaseOracle oracle : oracles) {
            oracle.died(i);
        }
        words.get(i).clear();
        for (int u = 0; u < users[i].length; u++) {
            long step = users[i][u].step;
            users[i][u] = new LeaseUser(node, u);
            users[i][u].step = step + 1;
        }
    }

    /** All oracles look at what that client's users hold. */
    void looked(SimNode node) {
        List<Use> looking = holds.get(node.index());
        if (looking.isEmpty()) {
            return;
        }
        for (int i = 0; i < oracles.size(); i++) {
            oracles.get(i).looked(node.index(), looking);
        }
    }

    @Override
    public @Nullable String otherThan(String name, int client) {
        for (int i = 1; i < words.size(); i++) {
            List<CachedGrant> open = i == client ? null : words.get(i).get(name);
            for (int w = 0; open != null && w < open.size(); w++) {
                CachedGrant word = open.get(w);
                if (!word.closed() && word.deadline() - world.node(i).clock() > 0) {
                    return "client" + i;
                }
            }
        }
        return null;
    }

    /** Faults are over: nobody begins anything new. */
    String waiting() {
        StringBuilder text = null;
        for (LeaseUser[] ofClient : users) {
            for (LeaseUser user : ofClient) {
                if (!user.later.isEmpty()) {
                    user.later.clear();
                }
                if (user.act != null) {
                    text = text == null ? new StringBuilder() : text;
                    text.append(user).append(user.hold != null ? ", holding; " : "; ");
                }
            }
        }
        return text == null ? "" : text.toString();
    }
}
