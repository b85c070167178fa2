// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.home.HomeView;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.queue.LockManagerView;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.RpcMember;
import io.keyway.lock.simulator.picture.Run.Bar;
import io.keyway.lock.simulator.picture.Run.Hold;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A member: its cell, and what it has granted. */
final class MemberLocal extends Local {
    /**
     * A grant that stands.
     *
     * @param capacity what its user said of the permits
     */
    record Grant(int client, long token, long hi, LockMode mode, int permits, int capacity) {
        boolean goesWith(Grant other) {
            return mode == other.mode && mode != LockMode.EXCLUSIVE;
        }
    }

    static final Grant[] NONE = {};

    final Scope scope;
    final int member;
    Grant[] grants = NONE;
    /** By client, whether its session may be ended. */
    int forgettable;
    /** What its next life finds: of each machine the last one. Replaced, never changed. */
    private Map<Key, DurableRecord> records = Map.of();

    MemberLocal(Scope scope, int member, Cell cell, long now) {
        super(cell, now);
        this.scope = scope;
        this.member = member;
    }

    @Override
    MemberLocal at(Cell of, long time) {
        MemberLocal same = new MemberLocal(scope, member, of, time);
        same.records = records;
        return same;
    }

    /** Its next life: what it has forced, and nothing else. */
    MemberLocal restarted(Cell fresh) {
        return at(fresh, now);
    }

    Map<Key, DurableRecord> records() {
        return records;
    }

    @Override
    void forced(DurableRecord record) {
        Key key = scope.algorithm.records().orElseThrow().key(record);
        Map<Key, DurableRecord> more = new LinkedHashMap<>(records);
        more.put(key, record);
        records = more;
    }

    /** Whose session that is. */
    static int client(Scope scope, long session) {
        return (RpcMember.number(session) - 1) % scope.clients();
    }

    @Override
    void encode(StateEncoder out) {
        out.put(-1 - member).put(records.size());
        scope.algorithm.startingMachines().forEach(key -> out.value(records.get(key)));
    }

    @Override
    void encodeNameless(StateEncoder out) {}

    @Override
    void look() {
        RpcMember sessions = (RpcMember) cell.sessions();
        for (int number = 1; number < Links.SESSIONS; number++) {
            long session = RpcMember.session(number);
            if (sessions.mayForget(session, now)) {
                forgettable |= 1 << client(scope, session);
            }
        }
        Machine manager = cell.machine(scope.key());
        boolean one = manager != null && HomeView.isManager(manager);
        int count = manager == null ? 0 : one ? HomeView.grants(manager) : LockManagerView.grants(manager);
        grants = count == 0 ? NONE : new Grant[count];
        for (int i = 0; i < count; i++) {
            grants[i] = one ? attached(manager, i) : lease(manager, i);
        }
    }

    private Grant attached(Machine manager, int place) {
        long token = HomeView.token(manager, place);
        int client = client(scope, HomeView.session(manager, place).session());
        return new Grant(client, token, token, HomeView.mode(manager, place), 1, 1);
    }

    private Grant lease(Machine manager, int place) {
        int client = client(scope, LockManagerView.session(manager, place).session());
        int user = (int) LockManagerView.request(manager, place) - 1;
        return new Grant(
                client,
                LockManagerView.token(manager, place),
                LockManagerView.hi(manager, place),
                LockManagerView.mode(manager, place),
                LockManagerView.permits(manager, place),
                scope.asks.get(client).get(user).capacity());
    }

    /** Why what it has granted cannot stand together, if that is new; null if it can. */
    String conflict(MemberLocal before) {
        for (int i = 0; i < grants.length; i++) {
            long permits = 0;
            for (int j = 0; j < grants.length; j++) {
                if (j < i && !grants[i].goesWith(grants[j])) {
                    return "R1: " + grants[j] + " and " + grants[i] + " stand together";
                }
                permits += grants[j].token() <= grants[i].token() ? grants[j].permits() : 0; // in their order
            }
            if (grants[i].mode() == LockMode.PERMITS && permits > grants[i].capacity() && !before.has(grants[i])) {
                return "R12: " + permits + " permits are out with " + grants[i];
            }
        }
        return null;
    }

    private boolean has(Grant grant) {
        for (Grant each : grants) {
            if (each.token() == grant.token()) {
                return true;
            }
        }
        return false;
    }

    @Override
    String inWords() {
        return grants.length == 0 ? "nothing is granted" : "granted: " + Arrays.toString(grants);
    }

    @Override
    List<Bar> bars(int process, String lock) {
        List<Bar> bars = new ArrayList<>();
        for (Grant grant : grants) {
            String whose = " to client " + grant.client();
            bars.add(TrailRun.bar(process, Hold.AUTHORITY, lock, grant.token(), grant.mode(), whose));
        }
        return bars;
    }

    @Override
    void told(Notice notice, Turns.Step step) {
        if (notice instanceof LockNotice.Alarm alarm) {
            step.breaks("alarm: " + alarm.text());
        }
    }
}
