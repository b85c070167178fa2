// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.Deadlock;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.TransactionOptions.OnDeadlock;
import io.keyway.lock.kit.WishesTwin;
import io.keyway.lock.kit.agent.Agent;
import io.keyway.lock.kit.agent.AgentEffects;
import io.keyway.lock.kit.agent.AgentTwin;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.RpcFrame;
import io.keyway.lock.simulator.AgentDefect;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Probe;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A client of a world of transactions: its cell and its agent, as they ship, and between the two what the kit's
 * transaction does. It does not change but in the turn that makes it.
 */
final class AgentLocal implements AgentEffects, CallDriver {
    /** The clock of all: it stands still. */
    static final long NOW = 1_000L * Scope.TTL;

    private final AgentScope scope;
    final int client;
    final Cell cell;
    final Probe.Agent self;
    Agent agent;
    /** By lock: the request that waits, the token that is held, whether its user was told; 0 if not. */
    final long[] requests;

    final long[] tokens;
    /** In which mode. */
    final LockMode[] held;
    /** A bit for each lock; in a tree, for each of its user's wishes. */
    int told;

    int asked;
    boolean aborted;
    boolean done;
    /** A search was put off; one is to follow some day. */
    boolean puts;

    boolean waits;
    private long numbers;
    long round;

    // Of the turn that makes it, and no part of what it is
    private final ArrayDeque<Runnable> effects = new ArrayDeque<>();
    final List<RpcFrame> sent = new ArrayList<>(1);

    @Nullable
    String broken;
    /** A lock that it gives up, -1 if none; by which round; and whether it does so by its request. */
    int gaveUp = -1;

    long gaveUpBy;
    boolean byRequest;
    /** The edges of the circle in which it gives way, in no order, as one number; 0 if it does not. */
    int circle;
    /** How many are on it, and whether one of them waits behind a request. */
    int circleOf;

    boolean behindARequest;

    AgentLocal(AgentScope scope, int client, Cell cell) {
        this.scope = scope;
        this.client = client;
        this.cell = cell;
        this.self = new Probe.Agent(client + 1, client + 1);
        this.agent = new Agent(self, "c", 0, OnDeadlock.SURRENDER, this);
        this.requests = new long[scope.locks];
        this.tokens = new long[scope.locks];
        this.held = new LockMode[scope.locks];
    }

    /** An equal one that may change. */
    AgentLocal copy() {
        AgentLocal next = new AgentLocal(scope, client, cell.copy());
        next.agent = AgentTwin.of(agent, next);
        System.arraycopy(requests, 0, next.requests, 0, requests.length);
        System.arraycopy(tokens, 0, next.tokens, 0, tokens.length);
        System.arraycopy(held, 0, next.held, 0, held.length);
        next.told = told;
        next.asked = asked;
        next.aborted = aborted;
        next.done = done;
        next.puts = puts;
        next.waits = waits;
        next.numbers = numbers;
        next.round = round;
        return next;
    }

    long print() {
        StateEncoder out = new StateEncoder(NOW, Scope.TTL);
        cell.encode(out);
        out.put(client)
                .put(told)
                .put(asked)
                .put(aborted)
                .put(done)
                .put(puts)
                .put(waits)
                .put(numbers)
                .put(round);
        for (int lock = 0; lock < requests.length; lock++) {
            out.put(requests[lock]).put(tokens[lock]);
        }
        out.value(AgentTwin.state(agent, NOW));
        return out.fingerprint();
    }

    private LockName name(int lock) {
        return scope.name(lock);
    }

    private int lock(LockName name) {
        return scope.lock(name);
    }

    private int lock(LockNotice notice) {
        return lock(LockKeys.named(notice.key().id()).name());
    }

    private Key key(int lock) {
        return scope.key(lock);
    }

    /** In which mode it waits for that lock, which it does. */
    LockMode wanted(int lock) {
        return Objects.requireNonNull(agent.mode(name(lock)));
    }

    /** The locks of its tree that are of that mask. */
    List<LockRequest> wishes(int mask) {
        List<LockRequest> wishes = new ArrayList<>();
        for (int i = 0; i < user().wishes().size(); i++) {
            if ((mask & (1 << i)) != 0) {
                wishes.add(user().wishes().get(i));
            }
        }
        return wishes;
    }

    /** Asks for the next levels of its tree. */
    private void advance() {
        if (user().wishes().isEmpty() || done || aborted) {
            return;
        }
        WishesTwin wishes = new WishesTwin(wishes(asked));
        for (LockRequest each : wishes.next(level -> held[lock(level)], level -> requests[lock(level)] != 0)) {
            long id = nextRequest();
            agent.asked(each.name(), each.mode(), id, NOW);
            ask(each.name(), each.mode(), id);
        }
        agent.unfinished(wishes.lacks(level -> held[lock(level)]) || asksMore());
    }

    private boolean asksMore() {
        return !user().steps() && Integer.bitCount(asked) < user().locks();
    }

    private AgentScope.User user() {
        return scope.users.get(client);
    }

    // What its user does

    /** Whether its user may ask for another lock now. */
    boolean mayAsk() {
        return !done && !aborted && Integer.bitCount(asked) < user().locks() && (!user().steps() || asked == told);
    }

    /** Whether its user has all, or was aborted, and ends the transaction some day. */
    boolean mayEnd() {
        return !done && (aborted || (Integer.bitCount(asked) == user().locks() && told == asked));
    }

    boolean mayGiveUp() {
        return !done && !aborted && asked != 0 && told != asked;
    }

    /** For that lock; in a tree, for that one of its wishes. */
    void ask(int lock) {
        asked |= 1 << lock;
        // What is granted to who asks for more is not all.
        agent.unfinished(true);
        if (user().wishes().isEmpty()) {
            long id = nextRequest();
            agent.asked(name(lock), LockMode.EXCLUSIVE, id, NOW);
            ask(name(lock), LockMode.EXCLUSIVE, id);
            agent.unfinished(asksMore());
        }
        advance();
        settle();
    }

    /** All is given back, and what waits is given up. */
    void end() {
        agent.end();
        withdraw();
        for (int lock = 0; lock < tokens.length; lock++) {
            if (tokens[lock] != 0) {
                giveBack(lock, tokens[lock]);
                tokens[lock] = 0;
                held[lock] = null;
            }
        }
        told = 0;
        done = true;
        puts = false;
        waits = false;
        settle();
    }

    private void giveBack(int lock, long token) {
        effects.add(() -> cell.input(new Input.Command(key(lock), new LockCall.Release(token)), this));
    }

    private void withdraw() {
        for (int lock = 0; lock < requests.length; lock++) {
            if (requests[lock] != 0) {
                int of = lock;
                long request = requests[lock];
                effects.add(() -> cell.input(new Input.Command(key(of), new LockCall.Withdraw(request)), this));
                requests[lock] = 0;
            }
        }
    }

    /** Time passes for its agent: what was put off is done, or it searches again. */
    void fire() {
        AgentTwin.older(agent, AgentTwin.SHORTEST);
        puts = false;
        agent.due(NOW);
        settle();
    }

    void input(Input input) {
        cell.input(input, this);
        settle();
    }

    private void settle() {
        for (Runnable each = effects.poll(); each != null; each = effects.poll()) {
            each.run();
        }
        cell.flush(this);
        for (Runnable each = effects.poll(); each != null; each = effects.poll()) {
            each.run();
            cell.flush(this);
        }
        if (!done && !aborted && agent.isComplete() && !user().wishes().isEmpty()) {
            told = asked;
        } else if (!done && !aborted && agent.isComplete()) {
            told = 0;
            for (int lock = 0; lock < tokens.length; lock++) {
                told |= tokens[lock] != 0 ? 1 << lock : 0;
            }
        }
    }

    // What its agent wants

    @Override
    public long nextRequest() {
        return ++numbers;
    }

    @Override
    public void ask(LockName name, LockMode mode, long request) {
        requests[lock(name)] = request;
        long converts = tokens[lock(name)];
        effects.add(() -> cell.input(
                new Input.Command(
                        key(lock(name)),
                        new LockCall.Acquire(
                                request,
                                mode,
                                1,
                                1,
                                1,
                                Scope.TTL,
                                new Owner("c", Map.of()),
                                true,
                                true,
                                Scope.TTL,
                                0,
                                0,
                                converts,
                                LockMessage.Acquire.IN_THE_QUEUE,
                                null)),
                this));
        agent.sent(name, request, NOW);
    }

    @Override
    public void release(LockName name, long token) {
        int lock = lock(name);
        if (isTold(lock) || tokens[lock] != token) {
            breaks("R10: honest: client " + client + " gives up " + name + ", of which its user was told");
        }
        if (scope.defect == AgentDefect.SURRENDERED_COUNTS_AS_HELD) {
            // The agent asks for it again; of that nothing is sent, and it counts as granted.
            giveBack(lock, token);
            long next = numbers + 1;
            effects.add(() -> {
                requests[lock] = 0;
                agent.granted(name, next, token, NOW);
            });
            return;
        }
        tokens[lock] = 0;
        held[lock] = null;
        giveBack(lock, token);
    }

    /** Whether its user was told of that lock, or of one below that level. */
    private boolean isTold(int lock) {
        if (user().wishes().isEmpty()) {
            return (told & (1 << lock)) != 0;
        }
        return wishes(told).stream().anyMatch(each -> (each.name() + "/").startsWith(name(lock) + "/"));
    }

    @Override
    public void withdraw(LockName name, long request) {
        int lock = lock(name);
        if (requests[lock] != request) {
            breaks("R10: honest: client " + client + " gives up the place of " + request + " for " + name);
        }
        requests[lock] = 0;
        effects.add(() -> cell.input(new Input.Command(key(lock), new LockCall.Withdraw(request)), this));
    }

    @Override
    public boolean passOver(LockName name) {
        return false;
    }

    @Override
    public void probe(LockName name, long request, Probe probe) {
        boolean own = probe.initiator().equals(self);
        if (own && probe.kind() == Probe.Kind.SEARCH) {
            round = probe.round();
        } else if (own && probe.kind() != Probe.Kind.CONFIRM) {
            givesUp(probe);
        }
        if (own && probe.kind() == Probe.Kind.CONFIRM && scope.defect == AgentDefect.NO_CONFIRMATION) {
            Probe.Edge last = probe.path().get(probe.path().size() - 1);
            agent.probed(
                    last.lock(),
                    last.token(),
                    last.ahead(),
                    probe.on(Probe.Kind.CONFIRM, probe.path().size() - 1),
                    NOW);
            return;
        }
        Probe through = AgentDefect.sent(scope.defect, self, probe);
        if (through != null) {
            effects.add(
                    () -> cell.input(new Input.Command(key(lock(name)), new LockCall.Seek(request, through)), this));
        }
    }

    private void givesUp(Probe probe) {
        gaveUp = lock(probe.path().get(probe.path().size() - 1).lock());
        gaveUpBy = probe.round();
        byRequest = probe.path().get(probe.path().size() - 1).token() == 0;
        circleOf = probe.path().size();
        circle = 1;
        for (Probe.Edge edge : probe.path()) {
            behindARequest |= edge.ahead() != 0;
            circle += Objects.hash(edge.waiter(), edge.lock(), edge.request(), edge.token(), edge.ahead());
        }
    }

    @Override
    public void abort(Deadlock deadlock) {
        int lock = lock(deadlock.gaveUp());
        if (scope.defect == AgentDefect.GIVES_UP_WHAT_IS_REPORTED && tokens[lock] != 0) {
            release(deadlock.gaveUp(), tokens[lock]);
        }
        aborted = true;
        puts = false;
        waits = false;
        withdraw();
    }

    @Override
    public void wakeAt(long nanos) {
        if (nanos - NOW <= AgentTwin.SHORTEST) {
            puts = true;
        } else {
            waits = true;
        }
    }

    private void breaks(String why) {
        broken = broken == null ? why : broken;
    }

    // What its cell tells

    @Override
    public void deliver(Notice notice) {
        if (notice instanceof LockNotice.Granted granted) {
            int lock = lock(granted);
            LockMode mode = granted.handle().mode();
            effects.add(() -> granted(lock, granted.request(), granted.token(), mode));
        } else if (notice instanceof LockNotice.Waiting waiting) {
            int lock = lock(waiting);
            effects.add(() -> agent.waits(name(lock), waiting.request(), NOW));
        } else if (notice instanceof LockNotice.Sought sought) {
            int lock = lock(sought);
            effects.add(() -> sought(lock, sought));
        } else if (notice instanceof LockNotice.Ended || notice instanceof LockNotice.Failed) {
            breaks("nobody dies, and yet: " + notice);
        }
    }

    private void granted(int lock, long request, long token, LockMode mode) {
        boolean tree = !user().wishes().isEmpty();
        if (tree && !done && !aborted) {
            agent.unfinished(true);
        }
        if (done || !agent.granted(name(lock), request, token, NOW)) {
            // A change of mode that was withdrawn, and came all the same, ends the grant.
            tokens[lock] = 0;
            held[lock] = null;
            giveBack(lock, token);
        } else {
            requests[lock] = 0;
            tokens[lock] = token;
            held[lock] = mode;
        }
        advance();
    }

    private void sought(int lock, LockNotice.Sought sought) {
        Probe arrived = AgentDefect.arrives(scope.defect, self, sought.token() == 0, sought.probe());
        if (arrived != null && !done) {
            agent.probed(name(lock), sought.token(), sought.ahead(), arrived, NOW);
        }
    }

    @Override
    public String toString() {
        return "client " + client + " has " + Arrays.toString(tokens) + " wants " + Arrays.toString(requests) + " told "
                + told + (aborted ? " aborted" : "") + (done ? " done" : "");
    }

    // The world of its cell

    @Override
    public long clock() {
        return NOW;
    }

    @Override
    public void transmit(long link, Frame frame) {
        sent.add((RpcFrame) frame);
    }

    @Override
    public void persist(DurableRecord record, long ticket) {}
}
