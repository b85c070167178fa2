// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.Deadlock;
import io.keyway.lock.DeadlockException;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.TransactionReport;
import io.keyway.lock.kit.agent.Agent;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Probe;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TreeModes;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A transaction: its {@link Agent}, which decides, and the requests and leases that it decides about. Each request is a
 * {@link PendingAcquire} and each lock a {@link HeldLease}, as of any other lock.
 *
 * <p>A lock of a tree is the grants of all its levels: {@link Wishes} knows which of them is next, and agent and slots
 * know levels alone. All is held, and may be reported, only when no wish has a level left. A level that is needed in
 * a weaker mode than before counts as held in that one alone from then on: its {@link Weakening} is nobody's wait. A
 * lock over nodes is as many parts as {@link NodeLocks} asks for, each a flat lock or one of a tree.
 *
 * <p><b>States</b> ({@link TransactionFate}): open; aborted, to resolve a deadlock; having lost a lock; and closed.
 *
 * <p><b>Invariants.</b> The agent knows of each request and grant of the slots, and of no other. Only an open
 * transaction asks. What is told to be held is held by leases that are believed, all of them, when it is told. A lease
 * that no slot has any more has been given back, or is by its end. Whoever waits for all locks is told once: that all
 * are held, or why not.
 *
 * <p>Agent and locks are guarded by one lock. What is to be done is written down under it and done after it is free, in
 * order: engines may call back.
 */
final class TransactionView implements LockTransaction, TransactionSteps {

    private final ClientContext client;
    private final LockOptions lockDefaults;
    private final Probe.Agent self;
    private final Agent agent;
    /** What was asked for, if names are trees; null if they are flat. */
    private final @Nullable Wishes wishes;

    private final Weakenings weakenings;
    /** What it has at nodes of locks over several. */
    private final TransactionParts parts;

    private final TransactionState state;

    private final ReentrantLock guard = new ReentrantLock();
    private final Queue<Runnable> effects = new ArrayDeque<>();
    private final Map<LockName, TransactionSlot> slots = new LinkedHashMap<>();
    private final TransactionWaiters waiters;
    private final CompletableFuture<LeaseLoss> lost;
    private final TransactionFate fate = new TransactionFate();
    private TransactionOptions asked;
    private ResolvedOptions options;
    private final TransactionEffects ofAgent;

    TransactionView(ClientContext client, TransactionOptions options, LockOptions lockDefaults) {
        this.client = client;
        this.lockDefaults = lockDefaults;
        this.asked = options;
        this.options = client.resolve(lockDefaults.overlaidBy(options.lockOptions()));
        this.self = client.transactions().next();
        this.ofAgent = new TransactionEffects(this, client);
        this.agent = new Agent(self, client.name(), options.age(), options.onDeadlock(), ofAgent);
        agent.behave(options.onDeadlock(), options.priority(), options.age(), 0);
        this.weakenings = new Weakenings(this, client, agent);
        this.wishes = options.tree() || client.engine().locksTrees() ? new Wishes() : null;
        this.parts = new TransactionParts(this, this::state, client, wishes);
        this.state = new TransactionState(slots, agent, wishes, parts);
        this.lost = ClockedFuture.on(client.time());
        this.waiters = new TransactionWaiters(client.time());
        Wishes.refuseToKeep(wishes, lockDefaults.overlaidBy(options.lockOptions()));
    }

    @Override
    public String id() {
        return Agent.shown(self);
    }

    @Override
    public void then(Runnable effect) {
        effects.add(effect);
    }

    @Override
    public @Nullable TransactionSlot slot(LockName name) {
        return slots.get(name);
    }

    /** Whether nothing is begun any more; guarded. */
    boolean isOver() {
        return fate.isClosed() || client.closed();
    }

    @Override
    public boolean isClosed() {
        return fate.isClosed();
    }

    @Override
    public void decide(Runnable decision) {
        List<Runnable> todo;
        guard.lock();
        try {
            decision.run();
            todo = effects.isEmpty() ? List.of() : new ArrayList<>(effects);
            effects.clear();
        } finally {
            guard.unlock();
        }
        todo.forEach(Runnable::run);
    }

    /** What is so now. */
    private <T> T seen(Supplier<T> question) {
        guard.lock();
        try {
            return question.get();
        } finally {
            guard.unlock();
        }
    }

    // Asking

    @Override
    public void lockAsync(Collection<LockRequest> requests) {
        Set<LockName> names = new HashSet<>();
        for (LockRequest each : requests) {
            if (!names.add(each.name())) {
                throw new IllegalArgumentException(each.name() + " is asked for twice; ask once, EXCLUSIVE if either");
            }
        }
        decide(() -> {
            ensureUsable();
            requests.forEach(this::ensureMayAsk);
            requests.forEach(each -> ask(each, true));
            advance();
        });
    }

    private void ensureUsable() {
        fate.ensureUsable(self, client, agent.age());
    }

    private void ensureMayAsk(LockRequest request) {
        LockName name = request.name();
        parts.ensureMayAsk(request, !parts.locks().has(name) && state.known(name) != null, options.owner());
        boolean waits = wishes == null ? agent.wants(name) : wishes.waits(name);
        if (waits && state.known(name) == LockMode.SHARED && request.mode() == LockMode.EXCLUSIVE) {
            throw new IllegalStateException(name + " is being waited for SHARED; ask for it EXCLUSIVE at once, or"
                    + " cancel it or await it first");
        }
    }

    /** Returns false if it was asked for before. */
    private boolean ask(LockRequest request, boolean queue) {
        LockMode known = state.known(request.name());
        if (known == LockMode.EXCLUSIVE || known == request.mode()) {
            return false;
        } else if (request.nodes().isPresent()) {
            parts.add(request, request.nodes().get(), options.owner(), queue);
        } else if (wishes != null) {
            wishes.add(request.name(), request.mode(), queue);
        } else {
            ask(request.name(), request.mode(), queue);
        }
        return true;
    }

    @Override
    public void ask(LockName name, LockMode mode, boolean queue) {
        long id = client.nextRequestId();
        agent.asked(name, mode, id, now());
        ask(name, mode, id, queue);
    }

    /** Asks for the next nodes, and the next levels of trees. */
    private void advance() {
        if (!parts.locks().isEmpty() && fate.isOpen()) {
            agent.unfinished(true);
            parts.advance(asked.awaitNodes());
        }
        if (wishes != null && fate.isOpen()) {
            wishes.next(state::heldIn, this::isPending).forEach(each -> ask(each.name(), each.mode(), each.queue()));
        }
        agent.unfinished(lacks());
    }

    /** Whether a node, or a level of trees, is to be asked for, or will be when the change of its mode is over. */
    private boolean lacks() {
        return fate.isOpen() && (parts.locks().lacks() || (wishes != null && wishes.lacks(state::heldIn)));
    }

    /** Whether one grant more may not be all. */
    private boolean mayLack() {
        return wishes != null || !parts.locks().isEmpty();
    }

    private boolean isPending(LockName level) {
        TransactionSlot slot = slots.get(level);
        return slot != null && (slot.pending != null || slot.weakening != null);
    }

    /** Gives back the levels of trees that are needed no more, and asks for those that are next. */
    private void reduce(Wishes needed) {
        giveBackLevels(needed);
        advance();
    }

    @Override
    public void giveBackLevels(Wishes needed) {
        List<LockName> levels = new ArrayList<>(slots.keySet());
        Collections.reverse(levels);
        for (LockName level : levels) {
            TransactionSlot slot = Objects.requireNonNull(slots.get(level));
            HeldLease lease = slot.lease;
            LockMode mode = needed.needed(level);
            if (mode == null || (lease != null && TreeModes.covers(lease.mode(), mode))) {
                withdraw(level, slot);
            }
            Releasable held = slot.held();
            if (mode == null && lease != null && held != null) {
                drop(level, lease);
                effects.add(held::releaseAsync);
            } else if (mode != null) {
                weaken(level, slot, mode);
            }
        }
    }

    /** Has a level of trees in the mode that is needed, if it has a stronger one. */
    private void weaken(LockName level, TransactionSlot slot, LockMode mode) {
        if (!fate.isClosed()) {
            weakenings.begin(level, slot, mode, options);
        }
    }

    /** A level has the lease in the weaker mode; guarded. */
    void weakened(LockName level, TransactionSlot slot, HeldLease lease) {
        keep(level, slot, lease);
        LockMode needed = wishes == null ? null : wishes.needed(level);
        if (needed != null) {
            weaken(level, slot, needed);
        }
        advance();
        tellWaiters();
    }

    /** That lease is the one of the slot. */
    private void keep(LockName name, TransactionSlot slot, HeldLease lease) {
        HeldLease before = slot.lease;
        if (before != null) {
            client.transactions().usesNoMore(name, before.token());
        }
        slot.lease = lease;
        agent.renamed(name, lease.token());
        client.transactions().uses(name, lease.token(), ofAgent);
        effects.add(() -> lease.lost().thenAccept(why -> lost(name, lease, why)));
    }

    @Override
    public void ask(LockName name, LockMode mode, long id, boolean queue) {
        TransactionSlot slot = slots.computeIfAbsent(name, fresh -> new TransactionSlot());
        Owner owner = parts.owner(name, options.owner());
        HeldLease lease = new HeldLease(client, LockKey.lock(name), mode, 1, options.by(owner));
        Request request = new Request(id, lease.key(), mode, 1, 1, options.ttl(), queue, owner, options.holdAtLeast());
        PendingAcquire pending =
                new PendingAcquire(client, lease, request, queue ? null : client.requestTimeout(), slot.lease);
        pending.onWaiting(() -> decide(() -> {
            agent.waits(name, id, now());
            look();
        }));
        slot.pending = pending;
        slot.request = id;
        client.transactions().asks(id, ofAgent);
        boolean fresh = slot.lease == null;
        effects.add(() -> {
            if (!fresh || !reacquire(name, lease, id)) {
                send(name, id, pending, queue);
            }
        });
    }

    private boolean reacquire(LockName name, HeldLease lease, long request) {
        boolean granted = lease.reacquire(1);
        if (granted) {
            granted(name, request, lease);
        }
        return granted;
    }

    private void send(LockName name, long request, PendingAcquire pending, boolean queue) {
        CompletionStage<Optional<Lease>> outcome = pending.send();
        outcome.whenComplete((result, failure) -> {
            if (failure == null && result.isPresent()) {
                granted(name, request, (HeldLease) result.get());
            } else {
                over(name, request, failure, queue);
            }
        });
        decide(() -> agent.sent(name, request, now()));
    }

    // What becomes of requests

    private void granted(LockName name, long request, HeldLease lease) {
        decide(() -> {
            client.transactions().asksNoMore(request);
            TransactionSlot slot = slots.get(name);
            agent.unfinished(mayLack());
            if (slot == null || slot.request != request || !agent.granted(name, request, lease.token(), now())) {
                agent.unfinished(lacks());
                effects.add(lease::abandon);
                return;
            }
            slot.pending = null;
            keep(name, slot, lease);
            LockMode needed = wishes == null ? null : wishes.needed(name);
            if (needed != null) {
                weaken(name, slot, needed);
            }
            advance();
            tellWaiters();
        });
    }

    /** Without a grant: refused, failed, or given up. */
    private void over(LockName name, long request, @Nullable Throwable failure, boolean queue) {
        decide(() -> {
            client.transactions().asksNoMore(request);
            TransactionSlot slot = slots.get(name);
            if (slot == null || slot.request != request || slot.pending == null) {
                return;
            }
            HeldLease read = slot.lease;
            agent.unfinished(mayLack());
            List<LockName> of = state.over(name);
            dropRequest(name, slot);
            if (wishes != null) {
                wishes.refused(name, state.heldIn(name), failure != null);
                giveBackLevels(wishes);
            }
            if (failure != null && !(failure instanceof CancellationException)) {
                parts.failed(of);
            }
            advance();
            if (failure instanceof CancellationException || fate.isClosed() || (failure == null && !queue)) {
                tellWaiters();
            } else if (failure != null) {
                effects.add(waiters.requestFailed(failure));
            } else if (read != null && read.isHeld() && !fate.isAborted()) {
                // Another reader waits to upgrade: each would wait for the other's read lock.
                abortForUpgrade(name);
            }
        });
    }

    private void dropRequest(LockName name, TransactionSlot slot) {
        slot.pending = null;
        agent.gone(name, slot.request);
        if (slot.lease == null) {
            slots.remove(name);
        }
    }

    private void abortForUpgrade(LockName name) {
        Deadlock.Waiter own = new Deadlock.Waiter(client.name(), id(), name, Duration.ZERO);
        agent.abortForUpgrade(new Deadlock(List.of(own), name, Deadlock.Way.ABORTED));
    }

    /** A lock was lost, which the user may have been told or not. */
    private void lost(LockName name, HeldLease lease, LeaseLoss why) {
        decide(() -> {
            TransactionSlot slot = slots.get(name);
            if (slot == null || slot.lease != lease || fate.isClosed()) {
                return;
            }
            client.transactions().usesNoMore(name, lease.token());
            boolean wanted = agent.wants(name);
            agent.unfinished(mayLack());
            if (wanted) {
                withdraw(name, slot);
            }
            slot.lease = null;
            slot.weakening = null;
            boolean asksAgain = !client.closed() && agent.lostUnreported(name, lease.token(), now());
            agent.unfinished(lacks());
            if (asksAgain) {
                return;
            }
            slots.remove(name);
            agent.released(name);
            if (parts.outlast(state.over(name))) {
                advance();
                tellWaiters();
                return;
            }
            if (fate.isSound()) {
                LeaseLostException loss = new LeaseLostException(name, lease.token(), why);
                fate.lose(loss);
                withdrawAll();
                agent.end();
                fail(client.closed() ? new ClientClosedException(client.name(), name) : loss);
            }
            effects.add(() -> lost.complete(why));
        });
    }

    private void withdraw(LockName name, TransactionSlot slot) {
        PendingAcquire pending = slot.pending;
        if (pending != null) {
            client.transactions().asksNoMore(slot.request);
            dropRequest(name, slot);
            effects.add(pending::withdraw);
        }
    }

    @Override
    public void aborted(Deadlock deadlock) {
        fate.abort(deadlock);
        withdrawAll();
        fail(new DeadlockException(deadlock, agent.age()));
    }

    private void withdrawAll() {
        for (LockName name : List.copyOf(slots.keySet())) {
            withdraw(name, Objects.requireNonNull(slots.get(name)));
        }
    }

    // Waiting

    private void tellWaiters() {
        if (agent.isComplete() && fate.isSound()) {
            parts.locks().tell();
            if (wishes != null) {
                wishes.tell();
            }
        }
        if (agent.isComplete() && !waiters.isEmpty()) {
            effects.add(waiters.done());
        }
    }

    private void fail(Throwable why) {
        effects.add(waiters.failed(why));
    }

    private CompletableFuture<Boolean> outcome() {
        CompletableFuture<Boolean> outcome = new CompletableFuture<>();
        decide(() -> {
            ensureUsable();
            waiters.add(outcome);
            Throwable failure = waiters.takeUntold();
            if (failure != null) {
                fail(failure);
            }
            tellWaiters();
        });
        return outcome;
    }

    @Override
    public void awaitAll() throws InterruptedException {
        CompletableFuture<Boolean> outcome = outcome();
        waiters.await(outcome, this::leaves);
        ensureReportedHeld();
    }

    @Override
    public boolean awaitAll(Duration limit) throws InterruptedException {
        CompletableFuture<Boolean> outcome = outcome();
        boolean told = waiters.await(outcome, limit, this::leaves);
        if (told) {
            ensureReportedHeld();
        }
        return told;
    }

    private boolean leaves(CompletableFuture<Boolean> outcome) {
        return seen(() -> waiters.remove(outcome));
    }

    /** What this thread is about to be told; others may have asked for more. */
    private void ensureReportedHeld() {
        guard.lock();
        try {
            ensureUsable();
            state.ensureHeld(agent::isReported);
        } finally {
            guard.unlock();
        }
    }

    @Override
    public boolean tryLock(String name, LockMode mode, Duration wait) throws InterruptedException {
        return tryAll(List.of(new LockRequest(LockName.of(name), mode)), wait);
    }

    /** As {@link #tryLock}, of several names, each once. */
    boolean tryAll(List<LockRequest> requests, Duration wait) throws InterruptedException {
        boolean queue = wait.compareTo(Duration.ZERO) > 0;
        List<LockName> asks = new ArrayList<>(requests.size());
        decide(() -> {
            ensureUsable();
            requests.forEach(this::ensureMayAsk);
            for (LockRequest request : requests) {
                if (ask(request, queue)) {
                    asks.add(request.name());
                }
            }
            advance();
        });
        boolean done = false;
        try {
            // One that does not wait is answered, or given up, within the request timeout.
            done = (queue || !asks.isEmpty())
                    ? awaitAll(queue ? wait : client.requestTimeout().plusSeconds(1))
                    : seen(agent::isComplete);
            done &= areHeld(requests);
            return done;
        } finally {
            if (!done) {
                asks.forEach(this::takeBack);
            }
        }
    }

    /** Whether their user may have been told that these are held. */
    boolean areHeld(List<LockRequest> requests) {
        return seen(() -> state.areTold(requests));
    }

    /** The user has not been told that it is held. */
    private void takeBack(LockName name) {
        decide(() -> {
            if (wishes != null) {
                giveUp(wishes, name);
            } else {
                takeBackFlat(name);
                tellWaiters();
            }
        });
    }

    @Override
    public void takeBackFlat(LockName name) {
        TransactionSlot slot = slots.get(name);
        if (slot != null && slot.pending != null) {
            withdraw(name, slot);
        } else if (slot != null && slot.lease != null && !agent.isReported(name)) {
            HeldLease lease = slot.lease;
            drop(name, lease);
            effects.add(lease::releaseAsync);
        }
    }

    private boolean giveUp(Wishes of, LockName name) {
        boolean waited = of.giveUp(name);
        if (waited && !fate.isClosed()) {
            agent.unfinished(true);
            reduce(of);
            tellWaiters();
        }
        return waited;
    }

    @Override
    public boolean cancel(String name) {
        LockName lock = LockName.of(name);
        boolean[] waited = new boolean[1];
        decide(() -> {
            parts.ensureIsNoPart(lock);
            TransactionSlot slot = slots.get(lock);
            if (parts.locks().has(lock)) {
                waited[0] = !parts.locks().told(lock);
                if (waited[0]) {
                    parts.locks().remove(lock);
                    advance();
                    tellWaiters();
                }
            } else if (wishes != null) {
                waited[0] = giveUp(wishes, lock);
            } else if (slot != null && slot.pending != null) {
                waited[0] = true;
                withdraw(lock, slot);
                tellWaiters();
            }
        });
        return waited[0];
    }

    @Override
    public void surrender(String name) {
        LockName lock = LockName.of(name);
        decide(() -> {
            ensureUsable();
            parts.ensureIsNoPart(lock);
            if (parts.locks().has(lock)) {
                throw new IllegalStateException(
                        lock + " is a lock over nodes, which is not surrendered; unlock it and" + " ask for it again");
            }
            LockName at = wishes == null ? lock : wishes.queued(lock, this::isPending);
            TransactionSlot slot = slots.get(at);
            PendingAcquire pending = slot == null ? null : slot.pending;
            if (slot == null || state.known(lock) == null || (pending != null && slot.lease != null)) {
                boolean upgraded = slot != null && state.known(lock) != null;
                throw new IllegalStateException(lock
                        + (upgraded ? " is being upgraded; cancel that first" : " is neither held nor waited for"));
            }
            if (pending == null && wishes != null) {
                wishes.untell(lock);
            }
            agent.surrender(at, now());
        });
    }

    @Override
    public TransactionOptions options() {
        return seen(() -> asked.withAge(agent.age()));
    }

    @Override
    public void change(UnaryOperator<TransactionOptions> change) {
        decide(() -> {
            TransactionOptions next = change.apply(asked.withAge(agent.age()));
            if (next.tree() != asked.tree()) {
                throw new IllegalArgumentException("whether names are paths of a tree cannot be changed in the"
                        + " transaction " + id() + "; begin another one");
            }
            LockOptions all = lockDefaults.overlaidBy(next.lockOptions());
            Wishes.refuseToKeep(wishes, all);
            options = client.resolve(all);
            asked = next;
            agent.behave(next.onDeadlock(), next.priority(), next.age(), now());
        });
    }

    // What is held

    @Override
    public ReleaseOutcome unlock(String name) {
        LockName lock = LockName.of(name);
        List<Releasable> held = new ArrayList<>();
        decide(() -> {
            parts.ensureIsNoPart(lock);
            boolean known = state.known(lock) != null;
            List<LockName> names = parts.locks().has(lock) ? parts.heldOf(lock) : List.of(lock);
            if (state.waits(lock) || !known || names.stream().anyMatch(each -> state.heldIn(each) == null)) {
                throw new IllegalStateException(
                        lock + (known ? " is being waited for; cancel that first" : " is not held"));
            }
            if (wishes != null) {
                names.forEach(wishes::ensureNoneBelow);
            }
            parts.locks().forget(lock);
            for (LockName each : names) {
                TransactionSlot slot = Objects.requireNonNull(slots.get(each));
                held.add(Objects.requireNonNull(slot.held()));
                drop(each, Objects.requireNonNull(slot.lease));
            }
            if (wishes != null) {
                names.forEach(wishes::remove);
                agent.unfinished(true);
                reduce(wishes);
            }
        });
        held.stream().skip(1).forEach(Releasable::releaseAsync);
        return held.stream()
                .map(Releasable::release)
                .max(Comparator.naturalOrder())
                .orElseThrow();
    }

    private void drop(LockName name, HeldLease lease) {
        client.transactions().usesNoMore(name, lease.token());
        slots.remove(name);
        agent.released(name);
    }

    @Override
    public long token(String name) {
        LockName lock = LockName.of(name);
        return seen(() -> {
            state.ensureIsHeld(lock);
            return state.token(parts.locks().has(lock) ? parts.fencing(lock) : lock);
        });
    }

    @Override
    public Map<String, Long> tokens(String name) {
        LockName lock = LockName.of(name);
        return seen(() -> {
            state.ensureIsHeld(lock);
            return state.tokens(lock);
        });
    }

    @Override
    public void ensureHeld() {
        guard.lock();
        try {
            ensureUsable();
            if (!agent.isComplete()) {
                throw new IllegalStateException("the transaction waits for " + agent.wanted() + "; await all first");
            }
            state.ensureHeld(name -> true);
        } finally {
            guard.unlock();
        }
    }

    @Override
    public Status status() {
        return seen(() -> {
            Status over = fate.status();
            if (over != null || !agent.isComplete()) {
                return over == null ? Status.WAITING : over;
            }
            return state.isAnyLost() ? Status.LOST : slots.isEmpty() ? Status.NO_LOCKS : Status.HELD;
        });
    }

    @Override
    public CompletionStage<LeaseLoss> lost() {
        return ClockedFuture.stage(lost);
    }

    @Override
    public List<Deadlock> deadlocks() {
        return seen(agent::deadlocks);
    }

    @Override
    public TransactionReport explain() throws InterruptedException {
        List<TransactionReport.Held> held = seen(state::held);
        List<TransactionReport.Wait> waits = seen(() -> state.waits(now()));
        return new TransactionReport(id(), status(), held, new AdminView(client).shown(waits), deadlocks());
    }

    // Parts of locks over nodes, for whom decides about them; guarded

    @Override
    public void look() {
        if (!parts.locks().isEmpty()) {
            advance();
            tellWaiters();
        }
    }

    @Override
    public boolean passOver(LockName name) {
        return parts.passOver(name, state.over(name));
    }

    @Override
    public Agent agent() {
        return agent;
    }

    private TransactionState state() {
        return state;
    }

    @Override
    public void partFailed(LockUnavailableException why) {
        effects.add(waiters.requestFailed(why));
    }

    @Override
    public void close() {
        end().forEach(Releasable::close);
    }

    /** As {@link #close}, without waiting for the answers. */
    void closeAsync() {
        end().forEach(Releasable::releaseAsync);
    }

    private List<Releasable> end() {
        List<Releasable> held = new ArrayList<>();
        decide(() -> {
            if (fate.isClosed()) {
                return;
            }
            fate.close();
            effects.add(ofAgent::cancelAlarm);
            effects.add(parts::cancelAlarm);
            withdrawAll();
            agent.end();
            slots.forEach((name, slot) -> {
                Releasable all = slot.held();
                if (slot.lease != null && all != null) {
                    held.add(all);
                    client.transactions().usesNoMore(name, slot.lease.token());
                }
            });
            slots.clear();
            fail(new IllegalStateException("the transaction " + id() + " was closed while it waited"));
        });
        if (wishes != null) {
            Collections.reverse(held); // from the leaves up
        }
        if (held.size() > 1) {
            held.forEach(Releasable::releaseAsync);
        }
        return held;
    }

    // For locks of trees that are no transaction's

    /** Asks for those, each name once, and tells when all is held; true also if one that asked once has ended. */
    CompletionStage<Boolean> begin(List<LockRequest> requests, boolean queue) {
        decide(() -> {
            ensureUsable();
            requests.forEach(each -> ask(each, queue));
            advance();
        });
        return outcome();
    }

    /** Why nothing is known of what it waits for, if that limit is over; null if it is known. */
    @Nullable
    LockUnavailableException silence(Duration limit) {
        PendingAcquire unanswered = seen(state::unanswered);
        return unanswered == null ? null : unanswered.silence(limit);
    }

    /** Ends the transaction. Its leases are the caller's from now on, from the root down: all, or none if it waits. */
    List<Lease> handOver() {
        List<Lease> leases = new ArrayList<>();
        decide(() -> {
            if (!fate.isOpen() || !agent.isComplete()) {
                return;
            }
            fate.close();
            effects.add(ofAgent::cancelAlarm);
            agent.end();
            slots.forEach((name, slot) -> {
                HeldLease lease = Objects.requireNonNull(slot.lease);
                leases.add(lease);
                client.transactions().usesNoMore(name, lease.token());
            });
            slots.clear();
        });
        return leases;
    }

    private long now() {
        return client.time().nanoTime();
    }

    @Override
    public String toString() {
        return "LockTransaction[" + id() + ", " + status() + "]";
    }
}
