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
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
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
 * <p>{@link Wishes} has what was asked for, and knows which grants are next; agent and slots know grants alone: flat
 * names, or the levels of trees. A grant that is needed in a weaker mode than before counts as held in that one alone
 * from then on: its {@link Weakening} is nobody's wait. A lock over nodes is as many parts as {@link NodeLocks} asks
 * for, each a wish of its own.
 *
 * <p><b>States</b> ({@link TransactionFate}): open; aborted, to resolve a deadlock; having lost a lock; and closed.
 *
 * <p><b>Invariants.</b> The agent knows of each request and grant of the slots, and of no other. Only an open
 * transaction asks. What is reported as held is held by leases that are believed, all of them, at that moment. A lease
 * that no slot has any more has been given back, or is by its end. Each wait gets one answer: that it has what it
 * waits for, or why not.
 *
 * <p>Agent and locks are guarded by one lock. Each step is a decision: what happened, what is to be asked for next, and
 * who has what it waits for by now. What is to be done is written down and done after the lock is free, in order:
 * engines may call back.
 */
final class TransactionView implements LockTransaction, TransactionSteps {
    private static final Logger LOG = System.getLogger(TransactionView.class.getName());

    private final ClientContext client;
    private final LockOptions lockDefaults;
    private final Probe.Agent self;
    private final Agent agent;
    private final Wishes wishes;

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
    /** Counts what is asked for, and who begins to wait. */
    private long events;

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
        this.wishes = new Wishes(options.tree() || client.engine().locksTrees());
        this.parts = new TransactionParts(this, this::state, client, wishes);
        this.state = new TransactionState(slots, agent, wishes, parts);
        this.lost = ClockedFuture.on(client.time());
        this.waiters = new TransactionWaiters(client.time());
        Wishes.refuseToKeep(lockDefaults.overlaidBy(options.lockOptions()));
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
        List<Runnable> todo = List.of();
        guard.lock();
        try {
            agent.unfinished(true);
            parts.locks().look();
            try {
                decision.run();
            } finally {
                settle();
                todo = effects.isEmpty() ? List.of() : new ArrayList<>(effects);
                effects.clear();
            }
        } finally {
            guard.unlock();
            // Also of a call that is refused: time may have passed, and what that brings is decided in any step.
            todo.forEach(TransactionView::perform);
        }
    }

    private static void perform(Runnable effect) {
        try {
            effect.run();
        } catch (RuntimeException | Error e) {
            LOG.log(Level.ERROR, "A step of a transaction failed; those behind it are done", e);
        }
    }

    /** Asks for what is next, and tells those who have what they wait for. */
    private void settle() {
        List<LockName> givenUp;
        List<Runnable> tells = new ArrayList<>();
        do {
            advance();
            givenUp = waiters.settle(state, tells::add);
            giveUp(givenUp);
        } while (!givenUp.isEmpty());
        // A caller may ask again at once: what it gives up is taken back before that.
        effects.addAll(tells);
        if (fate.isOpen() && agent.isComplete() && waiters.untold() == null) {
            state.tellAll();
        }
        if (fate.isOpen() && !parts.locks().isEmpty()) {
            parts.askSpares();
            wishes.nextSpare(state::heldIn, state::isPending).forEach(this::ask);
            endBroken();
        }
    }

    /** A lock over nodes that was seen at too few of them is lost for each question, whatever is renewed after that. */
    private void endBroken() {
        LockName broken = parts.locks().broken();
        HeldLease gone = broken == null ? null : state.lost(each -> state.isOf(each, broken));
        if (gone != null) {
            effects.add(gone::endAsSeen);
        }
    }

    @Override
    public long ttl() {
        return options.ttl().toNanos();
    }

    @Override
    public boolean waitsInATree() {
        return wishes.ofTrees() && lacks();
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
        List<LockRequest> all = List.copyOf(requests);
        decide(() -> ask(all, true, false));
    }

    /** Returns whether one of them was not asked for before. */
    private boolean ask(List<LockRequest> requests, boolean queue, boolean tries) {
        Set<LockName> names = new HashSet<>();
        for (LockRequest each : requests) {
            if (!names.add(each.name())) {
                throw new IllegalArgumentException(each.name() + " is asked for twice; ask once, EXCLUSIVE if either");
            }
        }
        ensureUsable();
        requests.forEach(each -> ensureMayAsk(each, names));
        if (wishes.ofTrees()) {
            parts.withdrawSpares();
        }
        boolean asks = false;
        for (LockRequest each : requests) {
            asks |= ask(each, queue, tries);
        }
        return asks;
    }

    private void ensureUsable() {
        fate.ensureUsable(self, client, agent.age());
    }

    /** {@code names}: all that are asked for by the call. */
    private void ensureMayAsk(LockRequest request, Set<LockName> names) {
        LockName name = request.name();
        parts.ensureMayAsk(request, names, !parts.locks().has(name) && state.known(name) != null, options.owner());
        boolean raises = request.mode() == LockMode.EXCLUSIVE && state.known(name) == LockMode.SHARED;
        if (raises && state.heldIn(name) == null && !parts.locks().has(name)) {
            throw new IllegalStateException(name + " is being waited for SHARED; ask for it EXCLUSIVE at once, or"
                    + " cancel it or await it first");
        }
    }

    /** Returns false if it was asked for before. */
    private boolean ask(LockRequest request, boolean queue, boolean tries) {
        if (!tries) {
            waiters.asked(request.name(), request.mode());
        }
        if (request.nodes().isEmpty()) {
            return wishes.add(request.name(), request.mode(), queue, tries, ++events);
        }
        boolean fresh = !state.isWanted(request);
        if (fresh) {
            parts.add(request, request.nodes().get(), options.owner(), queue, ++events);
        }
        parts.locks().ask(request.name(), queue, tries);
        return fresh;
    }

    private void ask(Wishes.Level next) {
        long id = client.nextRequestId();
        agent.asked(next.name(), next.mode(), id, now());
        ask(next.name(), next.mode(), id, next.queue());
    }

    @Override
    public void ask(LockName name, LockMode mode, long id) {
        ask(name, mode, id, wishes.queues(name, state.heldIn(name)));
    }

    /** Asks for the next nodes, and the next grants. */
    private void advance() {
        agent.unfinished(true);
        if (fate.isOpen()) {
            if (!parts.locks().isEmpty()) {
                parts.advance(asked.awaitNodes());
            }
            wishes.next(state::heldIn, state::isPending).forEach(this::ask);
        }
        agent.unfinished(lacks());
    }

    /** Whether a node, or a grant, is to be asked for, or will be when the change of its mode is over. */
    private boolean lacks() {
        return fate.isOpen() && (parts.locks().lacks() || wishes.lacks(state::heldIn, parts::isSpare));
    }

    @Override
    public void giveBack() {
        List<LockName> levels = new ArrayList<>(slots.keySet());
        Collections.reverse(levels);
        for (LockName level : levels) {
            TransactionSlot slot = Objects.requireNonNull(slots.get(level));
            HeldLease lease = slot.lease;
            LockMode mode = wishes.needed(level);
            if (mode == null || (lease != null && Wishes.covers(lease.mode(), mode)) || asksForMore(slot, mode)) {
                withdraw(level, slot);
            }
            Releasable held = slot.held();
            if (mode == null && lease != null && held != null) {
                drop(level, lease);
                effects.add(held::sendRelease);
            } else {
                weaken(level, slot);
            }
        }
    }

    /** Whether its request is for more than is needed by now: it would wait for those who are not in the way. */
    private static boolean asksForMore(TransactionSlot slot, LockMode needed) {
        if (slot.pending == null) {
            return false;
        }
        LockMode asked = slot.pending.mode();
        LockMode held = slot.lease == null ? null : slot.lease.mode();
        LockMode enough = held != null && needed.isTree() ? TreeModes.join(held, needed) : needed;
        return !Wishes.covers(enough, asked);
    }

    /** Has a grant in the mode that is needed, if it has a stronger one. */
    private void weaken(LockName level, TransactionSlot slot) {
        LockMode needed = wishes.needed(level);
        if (needed != null && !fate.isClosed()) {
            weakenings.begin(level, slot, needed, options);
        }
    }

    /** That lease is the one of the slot, if it may be in a stronger mode than needed. */
    void keep(LockName name, TransactionSlot slot, HeldLease lease) {
        HeldLease before = slot.lease;
        if (before != null) {
            client.transactions().usesNoMore(name, before.token());
        }
        slot.lease = lease;
        slot.weakening = null;
        agent.renamed(name, lease.token());
        agent.holdsIn(name, lease.mode());
        client.transactions().uses(name, lease.token(), ofAgent);
        effects.add(() -> lease.lost().thenAccept(why -> lost(name, lease, why)));
        weaken(name, slot);
    }

    private void ask(LockName name, LockMode mode, long id, boolean queue) {
        // What does not wait keeps nobody waiting for long, also where a member answers late.
        agent.spare(name, !queue || wishes.isSpare(name), now());
        TransactionSlot slot = slots.computeIfAbsent(name, fresh -> new TransactionSlot());
        Owner owner = parts.owner(name, options.owner());
        HeldLease lease = new HeldLease(client, LockKey.lock(name), mode, 1, options.by(owner));
        lease.ofNodes(parts.areParts(wishes.over(name)));
        HeldLease first = options.limitsHold() ? parts.endsWith(name) : null;
        if (first != null) {
            lease.endsWith(first);
        }
        Request request = new Request(id, lease.key(), mode, 1, 1, options.ttl(), queue, owner, options.holdAtLeast());
        // A node that does not answer is passed over: nobody waits for its answer alone.
        Duration limit = queue || parts.areParts(wishes.over(name)) ? null : client.requestTimeout();
        PendingAcquire pending = new PendingAcquire(client, lease, request, limit, slot.lease);
        pending.onWaiting(() -> decide(() -> agent.waits(name, id, now())));
        HeldLease from = slot.lease;
        if (from != null) {
            pending.onLate(late -> granted(name, id, late, from));
        }
        slot.pending = pending;
        slot.request = id;
        client.transactions().asks(id, ofAgent);
        effects.add(() -> begin(name, id, pending, queue, lease, from));
    }

    private void begin(
            LockName name,
            long request,
            PendingAcquire pending,
            boolean queue,
            HeldLease lease,
            @Nullable HeldLease from) {
        boolean atHand;
        try {
            atHand = from == null && lease.reacquire(1);
        } catch (RuntimeException | Error e) {
            over(name, request, e, queue); // nothing else will ever be heard of it
            return;
        }
        if (atHand) {
            granted(name, request, lease, null);
        } else {
            send(name, request, pending, queue, from);
        }
    }

    private void send(LockName name, long request, PendingAcquire pending, boolean queue, @Nullable HeldLease from) {
        CompletionStage<Optional<Lease>> outcome = pending.outcome();
        // Before it is sent: a grant that comes before the call of the engine is over is to be known at once.
        outcome.whenComplete((result, failure) -> {
            if (failure == null && result.isPresent()) {
                granted(name, request, (HeldLease) result.get(), from);
            } else {
                over(name, request, failure, queue);
            }
        });
        pending.send();
        decide(() -> agent.sent(name, request, now()));
    }

    // What becomes of requests

    /** {@code from}: the lease of which it has changed the mode; null for a grant of its own. */
    private void granted(LockName name, long request, HeldLease lease, @Nullable HeldLease from) {
        decide(() -> {
            client.transactions().asksNoMore(request);
            TransactionSlot slot = slots.get(name);
            if (slot != null && slot.request == request && agent.granted(name, request, lease.token(), now())) {
                slot.pending = null;
                keep(name, slot, lease);
            } else if (slot != null && from != null && slot.lease == from) {
                // That was given up when it was granted: what was held is held in this mode, until it is changed back.
                withdraw(name, slot);
                keep(name, slot, lease);
            } else {
                effects.add(lease::abandon);
            }
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
            boolean reads = slot.lease != null && slot.lease.isBelieved();
            dropRequest(name, slot);
            if (failure == null && queue) {
                // Another reader waits to upgrade: each would wait for the other's read lock. Or the grant has ended.
                if (reads && fate.isOpen()) {
                    abortForUpgrade(name);
                }
                return;
            }
            // Those who wait ask again by a request that waits: what failed was one that did not.
            for (Wishes.GivenUp each : wishes.refused(name, state.heldIn(name), failure != null && queue)) {
                if (parts.isSpare(each.name()) || parts.locks().refused(each.name(), failure)) {
                    continue; // it is asked for again, or another node is
                }
                Wishes.GivenUp lock = failure == null ? each : parts.failed(each);
                if (failure != null) {
                    failed(lock, failure);
                }
            }
            giveBack();
        });
    }

    @Override
    public void failed(Wishes.GivenUp lock, Throwable why) {
        waiters.failed(lock, why);
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
            withdraw(name, slot);
            slot.lease = null;
            slot.weakening = null;
            LockMode needed = wishes.needed(name);
            if (needed != null && !client.closed() && agent.lostUnreported(name, lease.token(), needed, now())) {
                return;
            }
            slots.remove(name);
            agent.released(name);
            List<LockName> over = wishes.over(name);
            if (TransactionParts.isByItsNode(why) && parts.outlast(over, lease, why)) {
                return;
            }
            boolean sound = fate.isSound();
            LeaseLostException loss = parts.loss(over, lease, why);
            fate.lose(loss);
            if (sound) {
                end(client.closed() ? new ClientClosedException(client.name(), name) : loss);
                if (lease.isOfNodes() && why.cause() != LeaseLoss.Cause.CLIENT_CLOSED) {
                    LockName lock = loss.name().orElse(name);
                    effects.add(() -> client.log().lost(LockKey.lock(lock), loss.token(), loss.loss(), now()));
                }
            }
            // This thread may be an engine's, where the lease was over before it was here.
            effects.add(() -> client.events().complete(() -> lost.complete(loss.loss())));
        });
    }

    private void withdraw(LockName name, TransactionSlot slot) {
        PendingAcquire pending = slot.pending;
        if (pending != null) {
            client.transactions().asksNoMore(slot.request);
            dropRequest(name, slot);
            pending.withdraw(effects::add);
        }
    }

    @Override
    public void aborted(Deadlock deadlock) {
        fate.abort(deadlock);
        end(new DeadlockException(deadlock, agent.age()));
    }

    /** Nothing is waited for any more. */
    private void end(Throwable why) {
        for (LockName name : List.copyOf(slots.keySet())) {
            withdraw(name, Objects.requireNonNull(slots.get(name)));
        }
        agent.end();
        wishes.end();
        effects.add(waiters.failed(why));
    }

    // Waiting

    /** Asks for those, and waits for them; {@code tries}: and gives up what it asked for, if it does not get all. */
    TransactionWaiters.Wait begin(List<LockRequest> requests, boolean queue, boolean tries) {
        TransactionWaiters.Wait[] wait = new TransactionWaiters.Wait[1];
        decide(() -> {
            boolean asks = ask(requests, queue, tries);
            List<LockName> names = requests.stream().map(LockRequest::name).toList();
            wait[0] = new TransactionWaiters.Wait(requests, tries ? names : null, ++events);
            wait[0].asks = asks;
            waiters.add(wait[0]);
        });
        return wait[0];
    }

    /** Without a limit for null. */
    private boolean await(TransactionWaiters.Wait wait, @Nullable Duration limit) throws InterruptedException {
        boolean held = waiters.await(wait, limit, this::leaves);
        if (held) {
            // What this thread is about to return; others may have asked for more.
            ensureHeld(() -> {
                ensureUsable();
                return state.lost(agent::isReported);
            });
        }
        return held;
    }

    boolean leaves(TransactionWaiters.Wait wait) {
        boolean[] left = new boolean[1];
        decide(() -> {
            left[0] = waiters.remove(wait);
            if (left[0] && wait.tries != null) {
                giveUp(wait.tries);
            }
        });
        return left[0];
    }

    /** Who tried to get these does not wait for them any more. */
    private void giveUp(List<LockName> tried) {
        boolean less = false;
        for (LockName each : tried) {
            LockMode others = waiters.waitsFor(each);
            less |= parts.locks().has(each) ? parts.locks().leave(each, others != null) : wishes.leave(each, others);
        }
        if (less) {
            giveBack();
        }
    }

    @Override
    public void lockAll(Collection<LockRequest> requests) throws InterruptedException {
        lockAll(List.copyOf(requests), null);
    }

    /** As above, for that time at most; without a limit for null. False if not all is held then: it goes on. */
    boolean lockAll(List<LockRequest> requests, @Nullable Duration limit) throws InterruptedException {
        return await(begin(requests, true, false), limit);
    }

    TransactionWaiters.Wait waitForAll() {
        TransactionWaiters.Wait[] wait = new TransactionWaiters.Wait[1];
        decide(() -> {
            ensureUsable();
            wait[0] = new TransactionWaiters.Wait(null, null, ++events);
            waiters.add(wait[0]);
        });
        return wait[0];
    }

    @Override
    public void awaitAll() throws InterruptedException {
        await(waitForAll(), null);
    }

    @Override
    public boolean awaitAll(Duration limit) throws InterruptedException {
        return await(waitForAll(), limit);
    }

    @Override
    public boolean tryLock(String name, LockMode mode, Duration wait) throws InterruptedException {
        return tryAll(List.of(new LockRequest(LockName.of(name), mode)), wait);
    }

    /** As {@link #tryLock}, of several names, each once. */
    boolean tryAll(List<LockRequest> requests, Duration limit) throws InterruptedException {
        boolean queue = limit.compareTo(Duration.ZERO) > 0;
        TransactionWaiters.Wait wait = begin(requests, queue, true);
        if (queue) {
            return await(wait, limit);
        }
        // What does not wait is answered, or given up, within the request timeout; the locks of others may take longer.
        return await(wait, wait.asks ? client.requestTimeout().plusSeconds(1) : Duration.ZERO);
    }

    /** Nobody waits for that lock any more; what its user knows of stays. */
    private boolean giveUp(LockName lock) {
        if (!parts.locks().has(lock)) {
            return wishes.giveUp(lock);
        }
        boolean waited = !parts.locks().told(lock);
        if (waited) {
            parts.locks().remove(lock);
        }
        return waited;
    }

    @Override
    public boolean cancel(String name) {
        LockName lock = LockName.of(name);
        boolean[] waited = new boolean[1];
        decide(() -> {
            parts.ensureIsNoPart(lock);
            boolean open = fate.isOpen();
            waited[0] = giveUp(lock) && open;
            if (!fate.isClosed()) {
                giveBack();
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
            LockName at = wishes.queued(lock, level -> {
                TransactionSlot asked = slots.get(level);
                return asked != null && asked.pending != null;
            });
            TransactionSlot slot = slots.get(at);
            PendingAcquire pending = slot == null ? null : slot.pending;
            boolean known = state.known(lock) != null;
            if (!known || (slot != null && pending != null && slot.lease != null)) {
                throw new IllegalStateException(
                        lock + (known ? " is being upgraded; cancel that first" : " is neither held nor waited for"));
            }
            if (slot == null) {
                return; // it waits until a level above has changed its mode, and is in no queue yet
            }
            if (pending == null) {
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
        boolean[] changed = new boolean[1];
        while (!changed[0]) {
            // The user's function runs in the user's thread and under no lock of ours.
            TransactionOptions known = seen(() -> asked);
            TransactionOptions before = options();
            TransactionOptions next = change.apply(before);
            decide(() -> {
                changed[0] = asked == known && agent.age() == before.age();
                if (changed[0]) {
                    behave(next);
                }
            });
        }
    }

    private void behave(TransactionOptions next) {
        if (next.tree() != asked.tree()) {
            throw new IllegalArgumentException("whether names are paths of a tree cannot be changed in the"
                    + " transaction " + id() + "; begin another one");
        }
        LockOptions all = lockDefaults.overlaidBy(next.lockOptions());
        Wishes.refuseToKeep(all);
        options = client.resolve(all);
        asked = next;
        agent.behave(next.onDeadlock(), next.priority(), next.age(), now());
    }

    // What is held

    @Override
    public ReleaseOutcome unlock(String name) {
        LockName lock = LockName.of(name);
        List<Releasable> held = new ArrayList<>();
        int[] needed = {1};
        decide(() -> {
            parts.ensureIsNoPart(lock);
            boolean known = state.known(lock) != null;
            List<LockName> names =
                    parts.namesOf(lock).stream().filter(state::hasLease).toList();
            if (state.waits(lock) || !known || names.isEmpty()) {
                boolean waits = known && state.waits(lock);
                throw new IllegalStateException(
                        lock + (waits ? " is being waited for; cancel that first" : " is not held"));
            }
            names.forEach(wishes::ensureNoneBelow);
            // What becomes of a lock over nodes that is held, those say that have granted it until now; what is left
            // of one that is not says nothing.
            boolean atNodes = parts.locks().has(lock);
            List<LockName> counted = !atNodes ? names : parts.locks().isHeld(lock) ? parts.heldOf(lock) : List.of();
            needed[0] = atNodes ? parts.locks().set(lock).needed() : names.size();
            parts.namesOf(lock).forEach(wishes::remove);
            parts.forget(lock);
            for (LockName each : names) {
                TransactionSlot slot = Objects.requireNonNull(slots.get(each));
                Releasable all = Objects.requireNonNull(slot.held());
                if (counted.contains(each)) {
                    held.add(all);
                } else {
                    effects.add(all::sendRelease);
                }
                drop(each, Objects.requireNonNull(slot.lease));
            }
            giveBack();
        });
        return new Releases(held, needed[0]).release(client.time());
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
            state.ensureIsTold(lock);
            return state.token(parts.locks().has(lock) ? parts.fencing(lock) : lock);
        });
    }

    @Override
    public Map<String, Long> tokens(String name) {
        LockName lock = LockName.of(name);
        return seen(() -> {
            state.ensureIsTold(lock);
            return state.tokens(lock);
        });
    }

    @Override
    public void ensureHeld() {
        ensureHeld(() -> {
            ensureUsable();
            Throwable failure = waiters.untold();
            if (failure != null) {
                throw Failures.rethrow(failure);
            }
            if (!agent.isComplete()) {
                throw new IllegalStateException("the transaction waits for " + agent.wanted() + "; await all first");
            }
            return state.lost(name -> true);
        });
    }

    @Override
    public void ensureHeld(String name) {
        LockName lock = LockName.of(name);
        ensureHeld(() -> {
            fate.ensureOpen(self, client);
            state.ensureIsTold(lock);
            return state.isGone(lock) ? fate.ensureNotLost(state.lost(each -> state.isOf(each, lock))) : null;
        });
    }

    /** Asks which lease is not believed, and has that say why. */
    private void ensureHeld(Supplier<@Nullable HeldLease> lost) {
        HeldLease lease = seen(lost);
        if (lease == null) {
            return;
        }
        lease.endAsSeen();
        LeaseLoss how = lease.loss();
        if (how != null) {
            throw seen(() -> parts.loss(wishes.over(lease.name()), lease, how));
        }
        lease.ensureHeld();
    }

    @Override
    public Status status() {
        return seen(() -> {
            Status over = fate.status();
            if (over != null) {
                return over;
            } else if (state.lost(agent::isReported) != null) {
                return Status.LOST;
            } else if (waiters.untold() != null) {
                return Status.FAILED;
            } else if (!agent.isComplete()) {
                return Status.WAITING;
            }
            return slots.isEmpty() ? Status.NO_LOCKS : Status.HELD;
        });
    }

    /** The grants that it has and believes, flat ones or of levels, and their modes. */
    Map<LockName, LockMode> believed() {
        return seen(state::believed);
    }

    /** The token of that grant, which it has. */
    long grantToken(LockName level) {
        return seen(() -> state.token(level));
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

    @Override
    public boolean passOver(LockName name) {
        return parts.passOver(name, wishes.over(name));
    }

    @Override
    public Agent agent() {
        return agent;
    }

    private TransactionState state() {
        return state;
    }

    @Override
    public void close() {
        List<Releases> all = end();
        if (all.size() > 1) {
            all.forEach(Releases::send);
        }
        all.forEach(each -> each.close(client.time()));
    }

    /** As {@link #close}, without waiting for the answers. */
    void closeAsync() {
        end().forEach(Releases::send);
    }

    /** As {@link #closeAsync}, of a transaction that has one lock over nodes alone: what became of that. */
    CompletionStage<ReleaseOutcome> release() {
        List<Releases> all = end();
        all.forEach(Releases::send);
        // That of the parts is the first, those of the levels above come after it; of what is lost there is none.
        return (all.isEmpty() ? new Releases(List.of(), 1) : all.get(0)).releaseAsync(client.time());
    }

    private List<Releases> end() {
        List<Releases> held = new ArrayList<>();
        decide(() -> {
            if (fate.isClosed()) {
                return;
            }
            fate.close();
            effects.add(ofAgent::cancelAlarm);
            effects.add(parts::cancelAlarm);
            end(new IllegalStateException("the transaction " + id() + " was closed while it waited"));
            boolean sound = fate.isSound();
            held.addAll(state.releases(lock -> {
                if (sound) {
                    lostUnseen(lock);
                }
            }));
            slots.forEach((name, slot) -> {
                if (slot.lease != null) {
                    client.transactions().usesNoMore(name, slot.lease.token());
                }
            });
            wishes.clear();
            slots.clear();
        });
        return held;
    }

    // For locks of trees that are no transaction's

    /** As {@link #tryAll}, without a thread: tells whether all is held. */
    CompletionStage<Boolean> begin(List<LockRequest> requests, boolean queue) {
        decide(parts::asksNoSpares);
        return begin(requests, queue, true).outcome;
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
            if (!fate.isOpen() || lacks()) {
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

    /** Its leases of that lock over nodes, if it has that and lacks nothing: its caller closes it. None if it does. */
    List<HeldLease> partsOf(LockName lock) {
        List<HeldLease> leases = new ArrayList<>();
        decide(() -> {
            if (fate.isOpen() && !lacks() && parts.locks().isHeld(lock)) {
                leases.addAll(state.leases(lock));
            }
        });
        return leases;
    }

    /** That lock over nodes, which it has, is held under that token from now on, and outlives the loss of nodes. */
    void lasts(LockName lock, long token) {
        decide(() -> parts.lasts(lock, token));
    }

    /** HELD, DOUBTFUL or LOST: how that lock over nodes stands, of which the user was told. */
    Lease.State standing(LockName lock) {
        return seen(() -> fate.isSound() ? state.standing(lock) : Lease.State.LOST);
    }

    /** For so many nanoseconds that lock is believed without renewals. */
    long leftOf(LockName lock) {
        return seen(() -> fate.isSound() ? state.leftOf(lock) : 0L);
    }

    /** How that lock over nodes was lost, which stands as LOST; empty if its transaction was closed before. */
    Optional<LeaseLoss> lossOf(LockName lock) {
        LeaseLostException known = seen(fate::loss);
        if (known != null) {
            return Optional.of(known.loss());
        }
        HeldLease gone = seen(() -> state.lost(each -> state.isOf(each, lock)));
        if (gone == null) {
            return Optional.empty();
        }
        gone.endAsSeen(); // its loss is reported now, if it was not
        LeaseLoss how = gone.loss();
        return Optional.ofNullable(how)
                .map(loss -> seen(() -> parts.loss(wishes.over(gone.name()), gone, loss))
                        .loss());
    }

    /** The nodes of that lock say at its release that it was lost, of which nobody had heard. */
    private void lostUnseen(LockName lock) {
        LOG.log(
                Level.WARNING,
                "{0} has lost the lock {1}: too few of its nodes still held it when its release arrived",
                client.name(),
                lock);
    }

    private long now() {
        return client.time().nanoTime();
    }

    @Override
    public String toString() {
        return "LockTransaction[" + id() + ", " + status() + "]";
    }
}
