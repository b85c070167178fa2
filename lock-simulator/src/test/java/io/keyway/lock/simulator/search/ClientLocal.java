// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.client.LockClientHelper;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.RpcClient;
import io.keyway.lock.simulator.picture.Run.Bar;
import io.keyway.lock.simulator.picture.Run.Hold;
import io.keyway.lock.simulator.search.Scope.Ask;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A client: its cell, its users, and what it believes. */
final class ClientLocal extends Local {
    static final byte FRESH = 0;
    static final byte WAITS = 1;
    static final byte HOLDS = 2;
    static final byte DONE = 3;

    private static final String[] PHASES = {" has not come", " waits", " holds", " is done"};

    final Scope scope;
    private final int client;
    /** What has become of each user. */
    final byte[] phase;
    /** The token that each user was given. */
    final long[] token;
    /** By which each user holds. */
    private final @Nullable GrantHandle[] held;
    /** The latest logical clock that its process was shown. */
    long heard;

    /** By user, whether it is believed to hold. */
    boolean[] believed = {};
    /** How many are believed to write, to read, and how many permits: 4, 4 and 8 bits. */
    int believes;

    ClientLocal(Scope scope, int client, Cell cell, long now) {
        super(cell, now);
        this.scope = scope;
        this.client = client;
        int users = scope.asks.get(client).size();
        phase = new byte[users];
        token = new long[users];
        held = new @Nullable GrantHandle[users];
    }

    @Override
    ClientLocal at(Cell of, long time) {
        ClientLocal next = new ClientLocal(scope, client, of, time);
        System.arraycopy(phase, 0, next.phase, 0, phase.length);
        System.arraycopy(token, 0, next.token, 0, token.length);
        next.heard = heard;
        for (int user = 0; user < held.length; user++) {
            GrantHandle mine = phase[user] == HOLDS ? held[user] : null;
            next.held[user] = mine == null ? null : next.twin(mine, this);
        }
        return next;
    }

    /** The handle of the copied helper; a copy of one that the helper does not know any more. */
    private GrantHandle twin(GrantHandle mine, ClientLocal before) {
        for (GrantHandle handle : handles()) {
            if (handle.token() == mine.token()) {
                return handle;
            }
        }
        GrantHandle copy = mine.copy();
        boolean moves = mine.belief() == before.session().belief(mine.ttl());
        copy.believe(moves ? session().belief(mine.ttl()) : mine.belief());
        return copy;
    }

    private RpcClient session() {
        return (RpcClient) cell.sessions();
    }

    private Ask ask(int user) {
        return scope.asks.get(client).get(user);
    }

    @Override
    void encode(StateEncoder out) {
        out.put(client);
        encodeNameless(out);
    }

    @Override
    void encodeNameless(StateEncoder out) {
        out.put(heard);
        for (int user = 0; user < phase.length; user++) {
            out.put(phase[user]).put(phase[user] == HOLDS ? token[user] : 0);
            GrantHandle handle = held[user];
            out.put(handle != null);
            if (handle != null) {
                handle.encode(out);
            }
        }
    }

    @Override
    void look() {
        believed = new boolean[phase.length];
        for (int user = 0; user < phase.length; user++) {
            GrantHandle handle = held[user];
            if (handle != null && handle.holds(token[user], now)) {
                believed[user] = true;
                Ask ask = ask(user);
                believes += ask.mode() == LockMode.EXCLUSIVE
                        ? 1
                        : ask.mode() == LockMode.SHARED ? 1 << 4 : ask.permits() << 8;
            }
        }
    }

    private List<GrantHandle> handles() {
        Machine helper = cell.machine(scope.key());
        return helper instanceof LockClientHelper of ? of.handles() : List.of();
    }

    boolean wantsLink() {
        return session().wanted();
    }

    boolean isConnected() {
        return session().exists();
    }

    /** Somebody waits. */
    boolean waits() {
        for (byte each : phase) {
            if (each == WAITS) {
                return true;
            }
        }
        return false;
    }

    /** The user who holds; -1 if none does. */
    int holder() {
        for (int user = 0; user < phase.length; user++) {
            if (phase[user] == HOLDS) {
                return user;
            }
        }
        return -1;
    }

    /** The user who may come now; -1 if none may. */
    int next() {
        for (int user = 0; user < phase.length; user++) {
            if (phase[user] == FRESH) {
                byte before = user == 0 ? DONE : phase[user - 1];
                return before == (ask(user).converts() ? HOLDS : DONE) ? user : -1;
            }
        }
        return -1;
    }

    /** The user who waits; -1 if none does. */
    int waiter() {
        for (int user = 0; user < phase.length; user++) {
            if (phase[user] == WAITS) {
                return user;
            }
        }
        return -1;
    }

    // What users do, on an equal one that may change

    /** As an engine does: the cache first. */
    void ask(int user, Turns.Step step, World world) {
        Ask ask = ask(user);
        Owner owner = new Owner("c", Map.of());
        phase[user] = WAITS;
        if (!ask.converts()) {
            for (GrantHandle handle : handles()) {
                long reused = handle.tryReuse(ask.mode(), ask.permits(), ask.capacity(), Scope.TTL, owner, null, now);
                if (reused != 0) {
                    begins(user, handle, reused, step);
                    return;
                }
            }
        }
        world.input(new Input.Command(
                scope.key(),
                new LockCall.Acquire(
                        user + 1,
                        ask.mode(),
                        ask.permits(),
                        ask.capacity(),
                        ask.capacity(),
                        Scope.TTL,
                        owner,
                        ask.waits(),
                        false,
                        scope.unit(),
                        0,
                        0,
                        ask.converts() ? token[user - 1] : 0,
                        LockMessage.Acquire.IN_THE_QUEUE,
                        null)));
    }

    void release(int user, World world) {
        GrantHandle handle = held[user];
        held[user] = null;
        if (handle == null || !handle.tryRelease(token[user], now)) {
            world.input(new Input.Command(scope.key(), new LockCall.Release(token[user])));
        }
        phase[user] = DONE; // it may have been told meanwhile that it is too late
    }

    void withdraw(int user, World world) {
        world.input(new Input.Command(scope.key(), new LockCall.Withdraw(user + 1)));
    }

    private void begins(int user, GrantHandle handle, long given, Turns.Step step) {
        if (phase[user] != WAITS) {
            step.breaks("R18: client " + client + " is granted token " + given + " for a request that is over");
        }
        phase[user] = HOLDS;
        token[user] = given;
        held[user] = handle;
        if (ask(user).converts()) {
            phase[user - 1] = DONE;
            held[user - 1] = null;
        }
        step.begins(given, ask(user));
    }

    @Override
    void forced(DurableRecord record) {
        throw new IllegalStateException("a client has no disk for " + record);
    }

    @Override
    String inWords() {
        StringBuilder text = new StringBuilder();
        for (int user = 0; user < phase.length; user++) {
            text.append(user == 0 ? "" : ", ")
                    .append("user ")
                    .append(user)
                    .append(PHASES[phase[user]])
                    .append(phase[user] == HOLDS ? " by token " + token[user] : "");
        }
        return text.append(isConnected() ? "" : "; no session").toString();
    }

    @Override
    List<Bar> bars(int process, String lock) {
        List<Bar> bars = new ArrayList<>();
        for (int user = 0; user < believed.length; user++) {
            if (believed[user]) {
                bars.add(TrailRun.bar(
                        process, Hold.BELIEF, lock, token[user], ask(user).mode(), " for user " + user));
            }
        }
        return bars;
    }

    // What they are told

    @Override
    void told(Notice notice, Turns.Step step) {
        if (notice instanceof LockNotice.Granted granted) {
            begins((int) granted.request() - 1, granted.handle(), granted.token(), step);
        } else if (notice instanceof LockNotice.Refused refused) {
            ends(refused.request(), step);
        } else if (notice instanceof LockNotice.Failed failed) {
            ends(failed.request(), step);
        } else if (notice instanceof LockNotice.Withdrawn withdrawn) {
            ends(withdrawn.request(), step);
        } else if (notice instanceof LockNotice.Ended ended) {
            for (int user = 0; user < phase.length; user++) {
                if (token[user] == ended.token() && phase[user] == HOLDS) {
                    phase[user] = DONE;
                    held[user] = null;
                    return;
                }
            }
            step.breaks(
                    "R9: client " + client + " is told the end of token " + ended.token() + ", which no user holds");
        } else if (notice instanceof LockNotice.Alarm alarm) {
            step.breaks("alarm: " + alarm.text());
        }
    }

    private void ends(long request, Turns.Step step) {
        int user = (int) request - 1;
        if (phase[user] != WAITS) {
            step.breaks("R18: client " + client + " gets a second answer to request " + request);
        }
        phase[user] = DONE;
    }
}
