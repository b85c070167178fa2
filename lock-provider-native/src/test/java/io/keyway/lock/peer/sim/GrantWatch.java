// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.queue.LockManagerView;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.MemberSessions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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
    private long asks;
    private boolean mute;

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
                return LockManagerView.isOne(machine) ? new Watched(key, machine) : machine;
            }
        };
    }

    /** The first token of the grant that stands; 0 if none does. */
    long token(Key key) {
        List<Grant> grants = standing.get(key);
        return grants == null || grants.isEmpty() ? 0 : grants.get(0).token();
    }

    /** A grant or a waiter of that name whose session is over; empty if there is none. */
    String orphan(Key key) {
        Cell cell = member.cell();
        return cell.machine(key) instanceof Watched watched
                ? LockManagerView.orphan(watched.manager, (MemberView) cell.sessions(), member.clock() - LATE)
                : "";
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
        if (message instanceof LockMessage.Acquire acquire && !acquire.noWait()) {
            Incarnation client = client(from);
            long asked = member.clock() - Math.max(0, acquire.waited());
            order.asked(new FirstComeFirstServed.Ask(
                    key.id(),
                    from.session(),
                    Sessions.node(client),
                    Sessions.life(client),
                    acquire.request(),
                    acquire.ttl(),
                    asked,
                    asks++));
        } else if (message instanceof LockMessage.Withdraw withdraw) {
            order.withdrawn(key.id(), from.session(), withdraw.request());
        } else if (message instanceof LockMessage.Break request) {
            for (LeaseOracle oracle : oracles) {
                oracle.breaking(key.id(), request.token());
            }
        }
    }

    private void after(Key key, Machine manager, Object cause) {
        if (mute) {
            return;
        }
        List<Grant> before = standing.get(key);
        int now = LockManagerView.grants(manager);
        if (before == null && now == 0) {
            return;
        }
        if (before == null) {
            before = new ArrayList<>(1);
            standing.put(key, before);
        }
        for (int i = before.size() - 1; i >= 0; i--) {
            Grant grant = before.get(i);
            if (!stands(manager, grant.token())) {
                before.remove(i);
                ended(grant, how(cause, grant));
            }
        }
        for (int i = 0; i < now; i++) {
            if (!known(before, LockManagerView.token(manager, i))) {
                Grant grant = grant(key, manager, i);
                before.add(grant);
                for (LeaseOracle oracle : oracles) {
                    oracle.granted(grant);
                }
            }
        }
    }

    private static boolean stands(Machine manager, long token) {
        for (int i = LockManagerView.grants(manager) - 1; i >= 0; i--) {
            if (LockManagerView.token(manager, i) == token) {
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
        Peer session = LockManagerView.session(manager, i);
        Incarnation client = client(session);
        return new Grant(
                key.id(),
                member.index(),
                member.incarnation(),
                session.session(),
                Sessions.node(client),
                Sessions.life(client),
                LockManagerView.request(manager, i),
                LockManagerView.token(manager, i),
                LockManagerView.hi(manager, i),
                LockManagerView.ttl(manager, i),
                LockManagerView.atLeast(manager, i));
    }

    private Incarnation client(Peer session) {
        Incarnation client = ((MemberSessions) member.cell().sessions()).client(session.session());
        if (client == null) {
            throw new Violation("R16", "the lease service deals with session " + session.session() + ", which is over");
        }
        return client;
    }

    private Grant.End how(Object cause, Grant grant) {
        if (cause instanceof LockMessage.Revoked) {
            return Grant.End.BROKEN;
        }
        if (cause instanceof LockMessage.Release
                || cause instanceof LockMessage.Accepted
                || cause instanceof LockMessage.Withdraw) {
            return Grant.End.GIVEN_BACK;
        }
        if (cause instanceof MemberView.Expired) {
            return Grant.End.EXPIRED;
        }
        if (cause instanceof MemberView.SessionEnded) {
            Input input = member.main().lastInput();
            boolean told = input instanceof Input.Died
                    || (input instanceof Input.Arrived arrived && world.net().client(arrived.link()) == grant.client());
            return told ? Grant.End.SESSION_ENDED : Grant.End.SESSION_SILENT;
        }
        return Grant.End.OTHER;
    }

    private final class Watched implements Machine {
        private final Key key;
        private final Machine manager;

        Watched(Key key, Machine manager) {
            this.key = key;
            this.manager = manager;
        }

        @Override
        public void received(Peer from, Message message, Turn turn) {
            before(key, from, message);
            manager.received(from, message, turn);
            after(key, manager, message);
            if (!mute
                    && message instanceof LockMessage.Acquire acquire
                    && !LockManagerView.waits(manager, from, acquire.request())) {
                order.withdrawn(key.id(), from.session(), acquire.request());
            }
        }

        @Override
        public void called(Call call, Turn turn) {
            if (!mute && call instanceof MemberView.SessionEnded ended) {
                order.sessionEnded(key.id(), ended.peer().session());
            }
            manager.called(call, turn);
            after(key, manager, call);
        }

        @Override
        public void due(int slot, Turn turn) {
            manager.due(slot, turn);
            after(key, manager, "a timer");
        }

        @Override
        public void forced(long ticket, Turn turn) {
            manager.forced(ticket, turn);
            after(key, manager, "a record");
        }

        @Override
        public boolean atRest() {
            return manager.atRest();
        }

        @Override
        public void dropped(Turn turn) {
            manager.dropped(turn);
        }

        /** Nobody watches a copy. */
        @Override
        public Machine copy() {
            return manager.copy();
        }

        @Override
        public void rebind(SessionLayer sessions) {
            manager.rebind(sessions);
        }

        @Override
        public void encode(StateEncoder out) {
            manager.encode(out);
        }
    }
}
