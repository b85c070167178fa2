// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.simulator.Holdings.Word;
import io.keyway.lock.simulator.LeaseUser.Hold;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The users of the lease service, one machine for each: they ask as an engine would, hold, look whether they still
 * hold, give up, release, break each other's locks, and forget nothing but what the plan tells them to.
 *
 * <p><b>States</b> of a user. <i>Idle</i>: nothing of the plan is under way. <i>Asking</i>: it has asked and may lose
 * patience. <i>Holding</i>: it looks now and then whether it still believes, and may want another mode.
 * <i>Releasing</i>: it waits to hear that its release is done. <i>Stopping</i>: it has lost the lock and will say when
 * it has stopped.
 *
 * <p><b>Inputs</b> are the acts of the plan, which wait while one is under way, its own wake-ups, and what the cells
 * tell ({@link LeaseAnswers}).
 *
 * <p><b>Invariants.</b> A wake-up counts only in the step in which it was set. What is drawn belongs to the operation,
 * so that it stays the same when others are taken out of the plan. The oracles hear of each hold that it began, and
 * once how it ended.
 */
final class LeaseUsers {
    /** What only users can see. */
    enum UserGoal implements CoverageGoal {
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

    static final int GIVE_UP = 1;
    static final int RELEASE = 2;
    private static final int LOOK = 3;
    private static final int NEXT = 4;
    static final int STOP = 5;
    static final int CHANGE = 6;
    private static final long LONGEST_HOLD_AFTER_FAULTS = 20 * Nanos.MILLI;

    private final SimWorld world;
    private final List<LeaseOracle> oracles;
    private final LeaseModel.Kit kit;
    private final LeaseUser[][] users;
    private final Holdings holdings;
    private final Supplier<Seats> seats;
    private final Owner[] owners;
    private final Key[] keys;
    private final Claims claims;
    private final ModeChanges changes;
    private final List<GrantWatch> watches = new ArrayList<>();
    /** Requests that were given up and not answered yet, of each client. */
    private final List<Set<Long>> givenUp = new ArrayList<>();

    private final LeaseAnswers answers;

    private long requests;

    /** @param stopBeforeRevoked users of broken locks say when they have stopped, for their clients wait for that */
    LeaseUsers(
            SimWorld world,
            Holdings holdings,
            Supplier<Seats> seats,
            List<LeaseOracle> oracles,
            boolean stopBeforeRevoked,
            LeaseModel.Kit kit) {
        this.kit = kit;
        this.world = world;
        this.holdings = holdings;
        this.seats = seats;
        this.oracles = oracles;
        this.users = new LeaseUser[world.clients() + 1][world.options().users()];
        this.owners = new Owner[world.clients() + 1];
        this.keys = new Key[world.options().names()];
        this.claims = new Claims(world.options());
        this.changes = new ModeChanges(world, this, holdings, oracles, owners);
        this.answers = new LeaseAnswers(world, this, holdings, oracles, changes, stopBeforeRevoked, kit);
        for (int name = 0; name < keys.length; name++) {
            keys[name] = claims.areSemaphores()
                    ? LockKeys.semaphore(kit.algorithm(), "n" + name)
                    : LockKeys.lock(kit.algorithm(), "n" + name);
        }
        for (int i = 0; i < users.length; i++) {
            givenUp.add(new HashSet<>());
        }
        for (int i = 1; i < users.length; i++) {
            owners[i] = new Owner("client" + i, Map.of());
            for (int u = 0; u < users[i].length; u++) {
                users[i][u] = new LeaseUser(world.node(i), u);
            }
        }
    }

    /** What is safe in this world, and what is not. */
    LeaseModel.Kit kit() {
        return kit;
    }

    Set<Long> givenUp(SimNode client) {
        return givenUp.get(client.index());
    }

    /** What the cells tell goes there. */
    LeaseAnswers answers() {
        return answers;
    }

    /** The users of that client. */
    LeaseUser[] of(SimNode client) {
        return users[client.index()];
    }

    Claims claims() {
        return claims;
    }

    Seats seats() {
        return seats.get();
    }

    long nextRequest() {
        return ++requests;
    }

    /** What each user of that client does, as {@link Model#states}. */
    Map<String, String> states(SimNode client) {
        Map<String, String> states = new TreeMap<>();
        for (LeaseUser user : users[client.index()]) {
            states.put("user " + user.index, user.state());
        }
        return states;
    }

    /** The machine of the lock with that number. */
    Key key(int name) {
        return keys[name];
    }

    /** The grants of the next member. */
    void watch(GrantWatch authority) {
        watches.add(authority);
    }

    /** The first token of one of the grants of that name that stand; 0 if none does. */
    private long token(Key key, long which) {
        for (int i = 0; i < watches.size(); i++) {
            long token = watches.get(i).token(key, which);
            if (token != 0) {
                return token;
            }
        }
        return 0;
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
        // What is kept for long is of interest where it outlasts its lease.
        return seats.get().maxTtl(user.node) >> (atLeast(user, act) > 0 ? 2 : shift % 3);
    }

    private void begin(LeaseUser user, Act act) {
        user.act = act;
        user.step++;
        if (atLeast(user, act) > 0 || drains(act) || !reuse(user, act)) {
            long patience = drains(act) ? Math.max(act.patience(), seats.get().maxTtl(user.node)) : act.patience();
            if (acquires(act) && patience > 0) {
                wake(user, patience, GIVE_UP);
            }
            ask(user, act);
        }
    }

    /**
     * Some locks are to be held at least for some time, of these most not for long, and then they are served by no
     * cache.
     */
    private long atLeast(LeaseUser user, Act act) {
        if (!acquires(act) || ModeChanges.changes(act) || claims.areSemaphores() || draw(user, 6, 12) != 0) {
            return 0;
        }
        long most = seats.get().maxTtl(user.node);
        return draw(user, 8, 2) == 0 ? most / 2 + draw(user, 7, most / 2) : 1 + draw(user, 7, most / 16);
    }

    /** Of those who drain some wait for a time without readers, most not for long. */
    private long quiet(LeaseUser user, Act act) {
        if (!drains(act)) {
            return LockMessage.Acquire.IN_THE_QUEUE;
        }
        long most = seats.get().maxTtl(user.node);
        return draw(user, 16, 3) == 0 ? 0 : draw(user, 17, draw(user, 18, 4) == 0 ? most : most / 16);
    }

    /** Whether its user is a soft writer. */
    private static boolean drains(Act act) {
        return act.verb().equals("drain");
    }

    private static boolean acquires(Act act) {
        return !act.verb().equals("break")
                && !act.verb().equals("show")
                && !act.verb().equals("list");
    }

    /** Takes a cached lock without a message, if there is one. */
    private boolean reuse(LeaseUser user, Act act) {
        SimNode node = user.node;
        Key key = keys[act.name()];
        List<Word> open = holdings.words(node, key);
        if (open == null || !acquires(act)) {
            return false;
        }
        for (int i = 0; i < open.size(); i++) {
            Word word = open.get(i);
            Claims.Claim claim = claims.of(act, draw(user, 9, Claims.MOST_PERMITS));
            long token = word.grant()
                    .tryReuse(claim.mode(), claim.permits(), ttl(act, user), owners[node.index()], user, node.clock());
            if (token != 0) {
                word.cell().reached(UserGoal.FAST_REUSE);
                if (claim.mode() != LockMode.EXCLUSIVE) {
                    word.cell().reached(claims.areSemaphores() ? PermitGoal.CACHED_PERMIT : ModeGoal.CACHED_READER);
                }
                if (world.tracer() != null) {
                    world.trace(node, "takes cached " + key.id() + " with token " + token);
                }
                got(user, word.cell(), word.grant(), token);
                return true;
            }
        }
        return false;
    }

    private void ask(LeaseUser user, Act act) {
        Key key = keys[act.name()];
        user.request = ++requests;
        long limit = Nanos.SECOND;
        switch (act.verb()) {
            case "break" -> {
                long token = token(key, act.hold()) + (act.hold() % 3 == 0 ? 1 : 0);
                post(user, key, new LockCall.Break(user.request, token, "because", limit));
            }
            case "show" -> post(user, key, new LockCall.Show(user.request, limit));
            case "list" ->
                post(
                        user,
                        LockKeys.directory(kit.algorithm()),
                        new LockCall.ListNames(user.request, "", "", 10, limit));
            default -> {
                long ttl = ttl(act, user);
                Claims.Claim claim = claims.of(act, draw(user, 9, Claims.MOST_PERMITS));
                boolean queue = !act.verb().startsWith("try");
                boolean wantPlace = act.hold() % 4 == 0;
                Owner owner = owners[user.node.index()];
                for (LeaseOracle oracle : oracles) {
                    oracle.asked(user.node.index(), user.request);
                }
                post(
                        user,
                        key,
                        new LockCall.Acquire(
                                user.request,
                                claim.mode(),
                                claim.permits(),
                                claim.capacity(),
                                claim.perResource(),
                                ttl,
                                owner,
                                queue,
                                wantPlace,
                                ttl / 4,
                                atLeast(user, act),
                                0,
                                0,
                                quiet(user, act),
                                user));
            }
        }
    }

    /** To whoever serves the name. */
    private void post(LeaseUser user, Key key, LockCall call) {
        if (world.tracer() != null) {
            world.trace(user.node, call.toString());
        }
        seats.get().post(user.node, new Input.Command(key, call));
    }

    /** To the cell that told of a grant. */
    void send(SimCell cell, Key key, LockCall call) {
        if (world.tracer() != null) {
            world.trace(cell.node(), call.toString());
        }
        Input.Command command = new Input.Command(key, call);
        if (kit.takes(Shortcut.RELEASES_BY_THE_LATEST_LIST)) {
            seats.get().post(cell.node(), command);
        } else {
            cell.input(command);
        }
    }

    /**
     * A number below the bound that belongs to this operation, and stays the same when others are taken out of the
     * plan.
     */
    long draw(LeaseUser user, int purpose, long bound) {
        long own = user.act == null ? 0 : user.act.at();
        return Long.remainderUnsigned(Draws.of(world.options().seed() + purpose, own), bound);
    }

    void wake(LeaseUser user, long nanos, int why) {
        world.wake(user.node, nanos, user.step << 3 | why, user);
    }

    void wake(LeaseUser user, long number) {
        if (number >>> 3 != user.step || user.act == null) {
            return;
        }
        world.counted();
        Act act = user.act;
        Hold hold = user.hold;
        switch ((int) number & 7) {
            case GIVE_UP -> giveUp(user, act);
            case RELEASE -> release(user, act, hold);
            case LOOK -> {
                if (hold != null && !hold.believes() && hold.word.active(hold.token)) {
                    hold.cell.reached(UserGoal.SAW_LAPSE);
                    send(hold.cell, keys[act.name()], new LockCall.Lapse(hold.token));
                }
            }
            case STOP -> stop(user, act);
            case CHANGE -> changes.begin(user, act);
            default -> done(user);
        }
    }

    /** The user goes on at once; whatever comes for the request is no concern of it any more. */
    private void giveUp(LeaseUser user, Act act) {
        if (user.change != 0) {
            changes.giveUp(user, act);
            return;
        }
        if (user.hold != null || user.request == 0) {
            return;
        }
        SimNode node = user.node;
        long request = user.request;
        Set<Long> open = givenUp.get(node.index());
        open.add(request);
        post(user, keys[act.name()], new LockCall.Withdraw(request));
        seats.get().afterwards(node, () -> {
            if (open.contains(request)) {
                throw new Violation("R18", "request " + request + " of " + node + " was withdrawn and waits still");
            }
        });
        idle(user);
    }

    private void release(LeaseUser user, Act act, @Nullable Hold hold) {
        if (hold == null) {
            done(user);
            return;
        }
        if (user.releasing != 0 || changes.comesFirst(user)) {
            return;
        }
        if (hold.word.tryRelease(hold.token, hold.node.clock())) {
            hold.cell.reached(UserGoal.FAST_RELEASE);
            if (world.tracer() != null) {
                world.trace(hold.node, "puts " + hold.name + " back into the cache");
            }
            finished(hold, Use.Finish.RELEASED);
            user.hold = null;
            done(user);
            return;
        }
        user.releasing = hold.token;
        user.releasingAt = hold.cell;
        holdings.finished(hold);
        for (LeaseOracle oracle : oracles) {
            oracle.releasing(hold);
        }
        send(hold.cell, keys[act.name()], new LockCall.Release(hold.token));
    }

    /** The user's operation is over; the next one begins a moment later, outside of the cell's turn. */
    void idle(LeaseUser user) {
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

    void got(LeaseUser user, SimCell cell, GrantHandle word, long token) {
        Act act = user.act;
        if (act == null) {
            return;
        }
        Hold hold = new Hold(cell, token, word, claims.of(act, 0).capacity());
        user.hold = hold;
        user.step++;
        holdings.began(hold);
        for (LeaseOracle oracle : oracles) {
            oracle.began(hold);
        }
        long time = world.healed() ? Math.min(act.hold(), LONGEST_HOLD_AFTER_FAULTS) : act.hold();
        wake(user, time, RELEASE);
        if (ModeChanges.changes(act, hold.mode) && !world.healed()) {
            wake(user, draw(user, 10, time), CHANGE);
        }
        if (time > word.ttl() / 2) {
            wake(user, draw(user, 4, time), LOOK);
            wake(user, draw(user, 5, time), LOOK);
        }
    }

    void finished(Use use, Use.Finish how) {
        holdings.finished(use);
        for (LeaseOracle oracle : oracles) {
            oracle.finished(use, how);
        }
    }

    /** Who asked for that change of mode; null if nobody did. */
    @Nullable
    LeaseUser changing(SimNode node, long request) {
        for (LeaseUser user : users[node.index()]) {
            if (user.change == request) {
                return user;
            }
        }
        return null;
    }

    /** The user of a lost lock has stopped, and says so: the lock need not wait longer for it. */
    private void stop(LeaseUser user, Act act) {
        Hold lost = user.lost;
        if (lost == null) {
            return;
        }
        user.lost = null;
        user.releasing = lost.token;
        user.releasingAt = lost.cell;
        for (LeaseOracle oracle : oracles) {
            oracle.releasing(lost);
        }
        send(lost.cell, keys[act.name()], new LockCall.Release(lost.token));
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
        holdings.ended(node);
        givenUp.set(i, new HashSet<>());
        changes.ended(node);
        answers.ended(node);
        for (int u = 0; u < users[i].length; u++) {
            long step = users[i][u].step;
            users[i][u] = new LeaseUser(node, u);
            users[i][u].step = step + 1;
        }
    }

    /** All oracles look at what that client's users hold. */
    void looked(SimNode node) {
        List<Use> looking = holdings.of(node);
        if (looking.isEmpty()) {
            return;
        }
        for (int i = 0; i < oracles.size(); i++) {
            oracles.get(i).looked(node.index(), looking);
        }
    }

    /** Faults are over: nobody begins anything new. */
    String waiting() {
        StringBuilder text = null;
        for (int i = 1; i < users.length; i++) {
            for (LeaseUser user : users[i]) {
                if (!user.later.isEmpty()) {
                    user.later.clear();
                }
                if (user.act != null) {
                    text = text == null ? new StringBuilder() : text;
                    text.append(user).append(user.hold != null ? ", holding; " : "; ");
                }
            }
        }
        return text == null ? changes.waiting() : text.toString();
    }
}
