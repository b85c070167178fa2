// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.queue.LockManagerView;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.MemberSessions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Looks into each manager of one member after each of its steps, and tells the oracles what was granted and what ended.
 */
final class GrantWatch {
    /** A timer may be that late. */
    private static final long LATE = 500 * Nanos.MILLI;

    private final SimWorld world;
    private final SimNode member;
    private final List<LeaseOracle> oracles;
    private final FirstComeFirstServed order;
    private final Map<Key, List<Grant>> standing = new HashMap<>();
    /** The grants of one step. */
    private final List<Grant> fresh = new ArrayList<>();
    /** Requests, by their numbers, which no two clients share. */
    private final Map<Long, LockMessage.Acquire> asked = new HashMap<>();

    private final Map<Key, Integer> recalled = new HashMap<>();
    private long asks;
    private boolean mute;
    /** The present step is about what a former life granted. */
    private boolean reasserted;

    GrantWatch(SimWorld world, SimNode member, List<LeaseOracle> oracles, FirstComeFirstServed order) {
        this.world = world;
        this.member = member;
        this.oracles = oracles;
        this.order = order;
    }

    /** The same algorithm, with its managers watched. */
    MachineFactory watched(MachineFactory managers) {
        return new MachineFactory() {
            @Override
            public Machine create(Key key) {
                Machine machine = managers.create(key);
                return ManagerView.isOne(machine) ? new Watched(key, machine) : machine;
            }
        };
    }

    /**
     * The first token of a grant that stands; 0 if none does.
     *
     * @param which of them, counted from the oldest
     */
    long token(Key key, long which) {
        List<Grant> grants = standing.get(key);
        return grants == null || grants.isEmpty()
                ? 0
                : grants.get((int) Long.remainderUnsigned(which, grants.size())).token();
    }

    /** A grant or a waiter of that name whose session is over; empty if there is none. */
    String orphan(Key key) {
        Cell cell = member.cell();
        return cell.machine(key) instanceof Watched watched
                ? ManagerView.orphan(watched.manager, (MemberView) cell.sessions(), member.clock() - LATE)
                : "";
    }

    /** Whom that name is granted to and who waits for it, in a line; empty if nobody does. */
    String state(Key key) {
        if (member.listening() == null || !(member.cell().machine(key) instanceof Watched watched)) {
            return "";
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < ManagerView.grants(watched.manager); i++) {
            text.append(text.isEmpty() ? "granted to " : ", ")
                    .append(name(ManagerView.session(watched.manager, i)))
                    .append(" with token ")
                    .append(ManagerView.token(watched.manager, i));
        }
        String before = text.isEmpty() ? "" : "; ";
        for (Peer peer : ManagerView.waiting(watched.manager)) {
            text.append(before.equals(", ") ? before : before + "waiting: ").append(name(peer));
            before = ", ";
        }
        return text.toString();
    }

    private String name(Peer session) {
        Incarnation client = ((MemberSessions) member.cell().sessions()).client(session.session());
        return client == null ? session.toString() : "client" + Sessions.node(client);
    }

    /** What the manager of that name hands over; empty if it does not know all. */
    Optional<List<LockCall.Import>> exports(Key key) {
        return member.cell().machine(key) instanceof Watched watched
                ? LockManagerView.exports(watched.manager, member.clock())
                : Optional.of(List.of());
    }

    /** A copy of a cell makes watched machines too, for names that were at rest; they are none of ours. */
    void mute(boolean on) {
        mute = on;
    }

    /** The member is gone and with it all that it knew. */
    void forget() {
        for (List<Grant> grants : standing.values()) {
            for (Grant grant : grants) {
                ended(grant, Grant.End.FORGOTTEN);
            }
        }
        standing.clear();
        order.forgotten();
    }

    private void ended(Grant grant, Grant.End how) {
        for (LeaseOracle oracle : oracles) {
            oracle.ended(grant, how);
        }
    }

    private void before(Key key, Peer from, Message message) {
        if (mute) {
            return;
        }
        if (message instanceof LockMessage.Acquire acquire) {
            asked.put(acquire.request(), acquire);
            Incarnation client = client(from);
            long since = member.clock() - Math.max(0, acquire.waited());
            order.asked(new FirstComeFirstServed.Ask(
                    key.id(),
                    from.session(),
                    Sessions.node(client),
                    Sessions.life(client),
                    acquire.request(),
                    acquire.ttl(),
                    since,
                    asks++,
                    !acquire.noWait(),
                    acquire.mode(),
                    acquire.permits(),
                    acquire.capacity(),
                    acquire.converts(),
                    acquire.isSoft()));
            for (LeaseOracle oracle : oracles) {
                oracle.came(key.id(), acquire);
            }
        } else if (message instanceof LockMessage.Withdraw withdraw) {
            order.withdrawn(key.id(), from.session(), withdraw.request());
        } else if (message instanceof LockMessage.Break request) {
            for (LeaseOracle oracle : oracles) {
                oracle.breaking(key.id(), request.token());
            }
        }
    }

    private void after(Key key, Machine manager, Object cause, Turn turn) {
        if (mute) {
            return;
        }
        compare(key, manager, cause);
        if (LockKeys.isSemaphore(key)) {
            order.unclaimed(key.id(), LockManagerView.unclaimed(manager));
        } else if (LockManagerView.isOne(manager) && !world.options().outOfSpec()) {
            String forgotten = LockManagerView.forgotten(manager, turn);
            if (!forgotten.isEmpty()) {
                throw new Violation("R15", forgotten + " waits for " + key.id() + ", and nobody is in its way");
            }
        }
    }

    private void compare(Key key, Machine manager, Object cause) {
        List<Grant> before = standing.get(key);
        int now = ManagerView.grants(manager);
        if (before == null && now == 0) {
            return;
        }
        if (before == null) {
            before = new ArrayList<>(1);
            standing.put(key, before);
        }
        fresh.clear();
        for (int i = 0; i < now; i++) {
            if (!known(before, ManagerView.token(manager, i))) {
                fresh.add(grant(key, manager, i));
            }
        }
        if (fresh.size() > 1) {
            fresh.sort(Comparator.comparingLong(Grant::token));
        }
        for (int i = before.size() - 1; i >= 0; i--) {
            Grant grant = before.get(i);
            if (!stands(manager, grant.token())) {
                before.remove(i);
                recalled(key, grant, cause);
                ended(grant, changed(grant) ? Grant.End.CONVERTED : Grant.End.by(cause, world, member, grant));
            }
        }
        for (int i = 0; i < fresh.size(); i++) {
            Grant grant = fresh.get(i);
            before.add(grant);
            for (LeaseOracle oracle : oracles) {
                oracle.granted(grant);
            }
        }
    }

    private void givenBack(Key key, Peer from, Message message) {
        if (mute) {
            return;
        }
        if (message instanceof LockMessage.Release release) {
            for (LeaseOracle oracle : oracles) {
                oracle.released(key.id(), member.index(), from.session(), release.token());
            }
        } else if (message instanceof LockMessage.Withdraw withdraw) {
            for (LeaseOracle oracle : oracles) {
                oracle.withdrawn(key.id(), member.index(), from.session(), withdraw.request());
            }
        }
    }

    /** Counts the readers who gave their locks back one after another, for somebody who was granted nothing yet. */
    private void recalled(Key key, Grant grant, Object cause) {
        if (grant.mode() != LockMode.SHARED) {
            return;
        }
        int readers = cause instanceof LockMessage.Accepted ? recalled.getOrDefault(key, 0) + 1 : 0;
        recalled.put(key, readers);
        if (readers == 2) {
            world.goals().reached(ModeGoal.READERS_RECALLED);
        }
    }

    /** Whether what came in this step is that grant in another mode. */
    private boolean changed(Grant old) {
        for (int i = 0; i < fresh.size(); i++) {
            if (fresh.get(i).from() == old.token()) {
                return true;
            }
        }
        return false;
    }

    /** What was changed into that token, if it is one that stood until now; its word is its request's. */
    private long from(Key key, Peer session, LockMessage.@Nullable Acquire request, long token) {
        for (Grant stood : standing.getOrDefault(key, List.of())) {
            if (stood.from() == token) {
                return stood.token(); // it changes back
            }
        }
        if (request == null || request.converts() == 0 || token <= request.converts()) {
            return 0;
        }
        Grant old = stood(key, request.converts());
        if (old == null) {
            throw new Violation("R13", request + " is granted, and the grant that it changes did not stand");
        }
        if (old.session() != session.session()) {
            throw new Violation("R13", request + " is granted, and " + old + " is another session's");
        }
        return old.token();
    }

    private @Nullable Grant stood(Key key, long token) {
        for (Grant grant : standing.getOrDefault(key, List.of())) {
            if (grant.covers(token)) {
                return grant;
            }
        }
        return null;
    }

    private static boolean stands(Machine manager, long token) {
        for (int i = ManagerView.grants(manager) - 1; i >= 0; i--) {
            if (ManagerView.token(manager, i) == token) {
                return true;
            }
        }
        return false;
    }

    private static boolean known(List<Grant> grants, long token) {
        for (int i = 0; i < grants.size(); i++) {
            if (grants.get(i).token() == token) {
                return true;
            }
        }
        return false;
    }

    private Grant grant(Key key, Machine manager, int i) {
        Peer session = ManagerView.session(manager, i);
        Incarnation client = client(session);
        long token = ManagerView.token(manager, i);
        LockMessage.Acquire request = asked.get(ManagerView.request(manager, i));
        return new Grant(
                key.id(),
                member.index(),
                member.incarnation(),
                session.session(),
                Sessions.node(client),
                Sessions.life(client),
                ManagerView.request(manager, i),
                token,
                ManagerView.hi(manager, i),
                ManagerView.ttl(manager, i),
                ManagerView.atLeast(manager, i),
                ManagerView.mode(manager, i),
                ManagerView.permits(manager, i),
                request == null || reasserted ? 0 : request.capacity(),
                reasserted ? 0 : from(key, session, request, token));
    }

    private Incarnation client(Peer session) {
        Incarnation client = ((MemberSessions) member.cell().sessions()).client(session.session());
        if (client == null) {
            throw new Violation("R16", "the lease service deals with session " + session.session() + ", which is over");
        }
        return client;
    }

    private final class Watched extends ForwardingMachine {
        private final Key key;
        private final Machine manager;

        Watched(Key key, Machine manager) {
            super(manager);
            this.key = key;
            this.manager = manager;
        }

        @Override
        public void received(Peer from, Message message, Turn turn) {
            if (!mute && LockKeys.isSemaphore(key)) {
                order.answered(key.id(), ask -> ManagerView.waits(manager, new Peer(ask.session()), ask.request()));
            }
            before(key, from, message);
            reasserted = message instanceof LockMessage.Reassert;
            super.received(from, message, turn);
            after(key, manager, message, turn);
            givenBack(key, from, message);
            if (reasserted && !fresh.isEmpty() && !turn.member().quarantined()) {
                world.goals().reached(ModeGoal.TAKEN_OVER);
            }
            reasserted = false;
            if (!mute
                    && message instanceof LockMessage.Acquire acquire
                    && !ManagerView.waits(manager, from, acquire.request())) {
                order.withdrawn(key.id(), from.session(), acquire.request());
            }
            boolean change = message instanceof LockMessage.Acquire acquire && acquire.converts() != 0;
            if (change && !mute && !world.options().outOfSpec()) {
                order.looked(key.id());
            }
        }

        @Override
        public void called(Call call, Turn turn) {
            if (!mute && call instanceof MemberView.SessionEnded ended) {
                order.sessionEnded(key.id(), ended.peer().session());
            }
            super.called(call, turn);
            after(key, manager, call, turn);
        }

        @Override
        public void due(int slot, Turn turn) {
            super.due(slot, turn);
            after(key, manager, "a timer", turn);
        }

        @Override
        public void forced(long ticket, Turn turn) {
            super.forced(ticket, turn);
            after(key, manager, "a record", turn);
        }
    }
}
