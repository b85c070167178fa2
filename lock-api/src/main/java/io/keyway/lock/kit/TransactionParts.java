// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Feature;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.spi.NodeParts;
import io.keyway.lock.spi.Owner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a transaction's locks over nodes, as {@link NodeLocks} decides about them: it sees the transaction's
 * slots and asks, and looks from time to time which nodes are silent. Guarded by the transaction's lock, but for the
 * alarm.
 */
final class TransactionParts implements NodeLocks.Parts {
    /** After this time without an answer another node is asked too; or a quarter of the request timeout, if shorter. */
    private static final long MOMENT = 500_000_000L;

    private final TransactionSteps transaction;
    private final Supplier<TransactionState> states;
    private final ClientContext client;
    private final Wishes wishes;

    private final NodeLocks locks = new NodeLocks(this);
    private final AgentAlarm alarm;
    /** When the parts of held locks may be asked for that these are held without. */
    private final Map<LockName, Long> sparesFrom = new HashMap<>();
    /** Since when the locks are held that calls have returned. */
    private final Map<LockName, Long> since = new HashMap<>();
    /** Of what is asked for now: whether all that need it can go on without it. */
    private final Map<LockName, Boolean> spares = new LinkedHashMap<>();

    /** Whether they are, as soon as the locks are held. */
    private boolean asksSpares = true;

    /** {@code states} has the transaction's state, which is made of these. */
    TransactionParts(
            TransactionSteps transaction, Supplier<TransactionState> states, ClientContext client, Wishes wishes) {
        this.transaction = transaction;
        this.states = states;
        this.client = client;
        this.wishes = wishes;
        this.alarm = new AgentAlarm(client.alarms(), this::look);
    }

    NodeLocks locks() {
        return locks;
    }

    /** Refuses what cannot be asked for, what is a part of a lock, and a lock of which a part is one of its own. */
    void ensureMayAsk(LockRequest request, Set<LockName> names, boolean hasWithout, Owner plain) {
        if (request.nodes().isPresent()) {
            client.require(Feature.NODE_SETS);
            NodeParts.saying(plain, request.nodes().get());
        }
        ensureIsNoPart(request.name());
        locks.ensureMayAsk(request, hasWithout);
        if (request.nodes().isPresent() && !locks.has(request.name())) {
            request.nodes()
                    .get()
                    .nodes()
                    .forEach(node -> ensureIsNoLock(NodeParts.part(request.name(), node), names, request));
        }
    }

    private void ensureIsNoLock(LockName part, Set<LockName> names, LockRequest request) {
        if (wishes.mode(part) != null || names.contains(part)) {
            throw new IllegalStateException(part + " is in this transaction as a lock of its own, and " + request.name()
                    + " needs it as what it has at that node; unlock " + part + " first, or cancel it");
        }
    }

    /** @throws IllegalStateException if the transaction has it as a part of another lock */
    void ensureIsNoPart(LockName name) {
        LockName lock = locks.lockOf(name);
        if (lock != null) {
            throw new IllegalStateException(name + " is what " + lock + " has at one node; name " + lock);
        }
    }

    /** A lock that may be asked for, and is not wanted, is. */
    void add(LockRequest request, NodeSet set, Owner plain, boolean queue, long now) {
        locks.add(request.name(), request.mode(), set, NodeParts.saying(plain, set), queue, now);
    }

    /** Asks for what is next. */
    void advance(boolean awaitNodes) {
        locks.advance(awaitNodes);
        locks.spare();
        long now = client.time().nanoTime();
        spares.forEach((level, spare) -> transaction.agent().spare(level, spare, now));
        spares.clear();
        if (locks.lacks()) {
            alarm.setBy(now + moment() / 2).ifPresent(transaction::then);
        }
    }

    /** The transaction holds a lock for somebody who says later that it lasts, if at all. */
    void asksNoSpares() {
        asksSpares = false;
    }

    /** That lock, which is held, lasts, under that token. */
    void lasts(LockName lock, long token) {
        asksSpares = true;
        if (locks.has(lock)) {
            locks.under(lock, token);
        }
    }

    /** Asks for parts that locks are held without, so that they outlive the loss of others; and counts on those. */
    void askSpares() {
        sparesFrom.keySet().removeIf(part -> locks.lockOf(part) == null);
        since.keySet().retainAll(locks.names());
        locks.askSpares();
        for (LockName lock : locks.names()) {
            if (locks.told(lock)) {
                since.computeIfAbsent(
                        lock,
                        told -> states.get().leases(lock).stream()
                                .mapToLong(HeldLease::since)
                                .max()
                                .orElseGet(client.time()::nanoTime));
                heldOf(lock).forEach(part -> wishes.levels(part).forEach(transaction.agent()::report));
            }
        }
    }

    @Override
    public void askSpare(LockName part, LockMode mode) {
        long now = client.time().nanoTime();
        long ttl = transaction.ttl();
        long from = sparesFrom.computeIfAbsent(part, fresh -> now + Math.min(moment(), ttl / 8));
        if (!asksSpares || client.closed() || transaction.waitsInATree()) {
            return;
        } else if (now - from < 0) {
            // A client that gives the lock back at once has not asked.
            alarm.setBy(from).ifPresent(transaction::then);
            return;
        }
        sparesFrom.put(part, now + ttl / 2);
        wishes.addSpare(part, mode);
    }

    /** More is about to be asked for: what is asked for and can be done without is not, if it could be in the way. */
    void withdrawSpares() {
        for (LockName lock : locks.names()) {
            if (locks.told(lock)) {
                locks.parts(lock).stream()
                        .filter(part -> state(part) != NodeLocks.State.HELD)
                        .forEach(this::takeBack);
            }
        }
    }

    /** The user gives that lock back. */
    void forget(LockName lock) {
        since.remove(lock);
        sparesFrom.keySet().removeAll(locks.parts(lock));
        locks.forget(lock);
    }

    void cancelAlarm() {
        alarm.cancel();
    }

    private void look() {
        transaction.decide(alarm::rang);
    }

    private long moment() {
        return Math.min(MOMENT, client.requestTimeout().toNanos() / 4);
    }

    @Override
    public NodeLocks.State state(LockName part) {
        TransactionState state = states.get();
        if (state.isPartHeld(part)) {
            return NodeLocks.State.HELD;
        }
        PendingAcquire pending = state.pendingOf(part);
        if (pending == null) {
            return state.asksPart(part) ? NodeLocks.State.WAITS : NodeLocks.State.NONE;
        }
        long silent = pending.silentFor();
        return silent >= client.requestTimeout().toNanos()
                ? NodeLocks.State.AWAY
                : silent >= moment() ? NodeLocks.State.SILENT : NodeLocks.State.WAITS;
    }

    @Override
    public void askPart(LockName part, LockMode mode, boolean queue) {
        wishes.add(part, mode, queue, true, 0);
    }

    @Override
    public void takeBack(LockName part) {
        if (wishes.giveUp(part)) {
            transaction.giveBack();
        }
    }

    @Override
    public void spare(LockName part, boolean spare) {
        LockName at = states.get().lacking(part);
        if (at != null) {
            spares.merge(at, spare, Boolean::logicalAnd); // several may need one level of a tree
        }
    }

    /** The lease whose end is that of a grant which is asked for, since it is one more part of what is held by that. */
    @Nullable
    HeldLease endsWith(LockName level) {
        for (LockName part : wishes.isSpare(level) ? wishes.over(level) : List.<LockName>of()) {
            LockName lock = locks.lockOf(part);
            List<HeldLease> held = lock == null ? List.of() : states.get().leases(lock);
            if (!held.isEmpty()) {
                return held.get(0);
            }
        }
        return null;
    }

    /** Whether that is a part of a lock that is held, or was, without it. */
    boolean isSpare(LockName part) {
        LockName lock = locks.lockOf(part);
        return lock != null && locks.told(lock);
    }

    @Override
    public void failed(Wishes.GivenUp given, Throwable why) {
        transaction.failed(given, why);
    }

    @Override
    public void tooFew(Wishes.GivenUp given, NodeSet set, List<LockName> away) {
        LockName lock = given.name();
        List<String> nodes = new ArrayList<>();
        away.forEach(part -> nodes.add(NodeParts.node(part.value()).orElse("")));
        transaction.failed(
                given,
                new LockUnavailableException(
                        lock + " cannot be had at " + set + ": no answer within "
                                + ResolvedOptions.text(client.requestTimeout()) + " from " + String.join(", ", nodes)
                                + ". The request was withdrawn; try again, or have the transaction wait for nodes"
                                + " (withAwaitNodes).",
                        lock,
                        client.server(),
                        null));
    }

    /** As {@link TransactionSteps#passOver}; {@code over} are the locks that need that. */
    boolean passOver(LockName name, List<LockName> over) {
        List<LockName> waiting = new ArrayList<>();
        for (LockName part : over) {
            LockName at = states.get().lacking(part);
            if (at != null && at.equals(name)) {
                waiting.add(part);
            }
        }
        boolean can = !waiting.isEmpty() && waiting.stream().allMatch(locks::canPassOver);
        if (can) {
            waiting.forEach(locks::passOver);
        }
        return can;
    }

    /** A lock that cannot be had was given up: if it is a part, so is the lock over nodes, which is returned. */
    Wishes.GivenUp failed(Wishes.GivenUp given) {
        LockName lock = locks.lockOf(given.name());
        return lock == null ? given : locks.giveUp(lock);
    }

    /**
     * One grant of them was not renewed, or is gone: whether the locks of which each is a part go on without it. What
     * is waited for is asked for again.
     */
    boolean outlast(List<LockName> ofGrant, HeldLease lease, LeaseLoss why) {
        if (!canSpare(ofGrant)) {
            return false;
        }
        List<LockName> spared = ofGrant.stream().filter(this::isSpare).toList();
        spared.forEach(wishes::remove);
        String goesOn = spared.stream()
                .map(locks::lockOf)
                .filter(Objects::nonNull)
                .distinct()
                .map(lock -> "the lock " + lock + " on by " + heldOf(lock).size() + " of "
                        + locks.set(lock).nodes().size() + " nodes")
                .collect(Collectors.joining(", and "));
        if (!goesOn.isEmpty()) {
            long now = client.time().nanoTime();
            transaction.then(() -> client.log().lostPart(lease.name(), lease.token(), why, goesOn, now));
        }
        transaction.giveBack();
        return true;
    }

    /** Whether they are parts of locks that are held without them, or are waited for and can be asked for again. */
    boolean canSpare(List<LockName> some) {
        return areParts(some) && locks.broken() == null;
    }

    /** Whether all of them are parts of locks over nodes. */
    boolean areParts(List<LockName> some) {
        return !some.isEmpty() && some.stream().allMatch(part -> locks.lockOf(part) != null);
    }

    /** How a grant of those parts was lost: if it is of a lock over nodes, how that was. */
    LeaseLostException loss(List<LockName> ofGrant, HeldLease lease, LeaseLoss how) {
        LockName lock = areParts(ofGrant) ? locks.lockOf(ofGrant.get(0)) : null;
        LockName broken = locks.broken();
        lock = lock != null && broken != null && parts(broken, ofGrant) ? broken : lock;
        if (lock == null) {
            return new LeaseLostException(lease.name(), lease.token(), how);
        }
        long from = since.getOrDefault(lock, lease.since());
        Duration heldFor =
                Duration.ofNanos(Math.max(0, lease.since() + how.heldFor().toNanos() - from));
        String detail = isByItsNode(how) ? "too few of its nodes are left: " + how.detail() : how.detail();
        return new LeaseLostException(
                lock,
                locks.token(lock).orElse(lease.token()),
                new LeaseLoss(how.cause(), heldFor, how.server(), detail));
    }

    private boolean parts(LockName lock, List<LockName> some) {
        return some.stream().anyMatch(locks.parts(lock)::contains);
    }

    /** Whether the others of a lock over nodes may be held on. */
    static boolean isByItsNode(LeaseLoss how) {
        return how.cause() == LeaseLoss.Cause.EXPIRED || how.cause() == LeaseLoss.Cause.DENIED;
    }

    /** The names under which that lock is asked for: its own, or those of its parts. */
    List<LockName> namesOf(LockName lock) {
        return locks.has(lock) ? locks.parts(lock) : List.of(lock);
    }

    /** The parts of that lock that are held. */
    List<LockName> heldOf(LockName lock) {
        return List.copyOf(locks.held(lock).values());
    }

    /** How the owner of that lock, or of that level, is to be written down. */
    Owner owner(LockName name, Owner plain) {
        LockName lock = locks.lockOf(name);
        return lock == null ? plain : locks.owner(lock);
    }

    /** As {@link io.keyway.lock.LockTransaction#token}; of a lock over nodes, all of which is held. */
    LockName fencing(LockName lock) {
        NodeSet set = locks.set(lock);
        if (set.needed() < set.nodes().size() || set.rule() == NodeRule.ANY) {
            // The highest of k tokens need not rise: {1: 100, 2: 5} and then {2: 6, 3: 1}.
            throw new UnsupportedFeatureException(
                    Feature.FENCING,
                    "a lock at " + set + " has no one token that rises, since its holders have different nodes; use"
                            + " tokens(name), a token for each node: it");
        }
        return locks.parts(lock).get(0);
    }
}
