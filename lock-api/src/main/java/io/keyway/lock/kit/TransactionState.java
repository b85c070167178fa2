// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Lease;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.TransactionReport;
import io.keyway.lock.kit.agent.Agent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What a transaction holds and waits for, to read; changes nothing. Guarded by the transaction's lock. */
final class TransactionState implements TransactionWaiters.Locks {
    private final Map<LockName, TransactionSlot> slots;
    private final Agent agent;
    private final Wishes wishes;
    private final TransactionParts parts;

    TransactionState(Map<LockName, TransactionSlot> slots, Agent agent, Wishes wishes, TransactionParts parts) {
        this.slots = slots;
        this.agent = agent;
        this.wishes = wishes;
        this.parts = parts;
    }

    /** In which mode the user wants that lock or has it; null if it does not. */
    @Nullable
    LockMode known(LockName lock) {
        LockMode atNodes = parts.locks().mode(lock);
        return atNodes != null ? atNodes : wishes.mode(lock);
    }

    /** In which mode that name, as a level if names are of trees, may be relied on; null if in none. */
    @Nullable
    LockMode heldIn(LockName level) {
        TransactionSlot slot = slots.get(level);
        return slot != null && slot.isHeld() ? slot.mode() : null;
    }

    /** Whether there is a lease of that name, believed or not. */
    boolean hasLease(LockName level) {
        TransactionSlot slot = slots.get(level);
        return slot != null && slot.lease != null;
    }

    /** Whether something goes on with that name after which it is seen what it needs. */
    boolean isPending(LockName level) {
        TransactionSlot slot = slots.get(level);
        return slot != null
                && (slot.pending != null || slot.weakening != null || (slot.lease != null && !slot.isHeld()));
    }

    /** Whether that lock was asked for, in a mode in which its user may not have been told that it is held. */
    boolean waits(LockName lock) {
        return parts.locks().has(lock) ? !parts.locks().told(lock) : wishes.waits(lock);
    }

    @Override
    public boolean isComplete() {
        return agent.isComplete();
    }

    @Override
    public boolean isWanted(LockRequest request) {
        return Wishes.covers(known(request.name()), request.mode());
    }

    @Override
    public boolean isHeld(LockRequest request) {
        LockName lock = request.name();
        return parts.locks().has(lock) ? parts.locks().isHeld(lock) : wishes.isHeld(lock, request.mode(), this::heldIn);
    }

    @Override
    public void tell(LockRequest request) {
        LockName lock = request.name();
        if (parts.locks().has(lock)) {
            parts.locks().tell(lock);
            parts.heldOf(lock).forEach(part -> tell(part, request.mode()));
        } else {
            tell(lock, request.mode());
        }
    }

    private void tell(LockName name, LockMode mode) {
        wishes.tell(name, mode).forEach(agent::report);
    }

    /** All that was asked for is held, and the user may know. */
    void tellAll() {
        parts.locks().tell();
        wishes.tell();
    }

    /** @throws IllegalStateException if the user cannot know that this lock is held */
    void ensureIsTold(LockName lock) {
        if (parts.locks().has(lock) ? !parts.locks().told(lock) : wishes.told(lock) == null) {
            throw new IllegalStateException(
                    known(lock) == null ? lock + " is not held" : "the transaction waits; await all before " + lock);
        }
    }

    /**
     * A lease that is not believed of those that a lock needs which is reported as held; null if there is none. Of a
     * lock over nodes that was seen at too few of them, one that may be believed again.
     */
    @Nullable
    HeldLease lost(Predicate<LockName> which) {
        HeldLease again = null;
        LockName broken = parts.locks().broken();
        for (Map.Entry<LockName, TransactionSlot> each : slots.entrySet()) {
            LockName name = each.getKey();
            boolean asked = which.test(name);
            if (asked && isLost(name, each.getValue())) {
                return each.getValue().lease;
            } else if (asked && broken != null && again == null && isOf(name, broken)) {
                again = each.getValue().lease;
            }
        }
        return again;
    }

    /** As {@link #lost}, of that lock alone, which is reported as held. */
    boolean isGone(LockName lock) {
        return parts.locks().has(lock)
                ? !parts.locks().isHeld(lock)
                : !wishes.isHeld(lock, Objects.requireNonNull(wishes.told(lock)), this::heldIn);
    }

    /** Whether a grant is not believed which a lock needs that is told to be held. */
    private boolean isLost(LockName name, TransactionSlot slot) {
        return slot.lease != null && !slot.isHeld() && !parts.canSpare(wishes.over(name));
    }

    /** The token of the grant of that name, which is there. */
    long token(LockName name) {
        TransactionSlot slot = Objects.requireNonNull(slots.get(name));
        return Objects.requireNonNull(slot.lease).token();
    }

    /** The tokens of that lock, which is held, by the nodes that gave them; by none if it is not over nodes. */
    Map<String, Long> tokens(LockName lock) {
        if (!parts.locks().has(lock)) {
            return Map.of("", token(lock));
        }
        Map<String, Long> tokens = new LinkedHashMap<>();
        parts.locks().held(lock).forEach((node, part) -> tokens.put(node, token(part)));
        return tokens;
    }

    /** The releases of all that it has, of trees from the leaves up; {@code onLost} as of {@link Releases}. */
    List<Releases> releases(Consumer<LockName> onLost) {
        List<Releases> all = new ArrayList<>();
        Set<LockName> done = new HashSet<>();
        for (LockName lock : parts.locks().names()) {
            List<Releasable> held = new ArrayList<>();
            for (LockName part : parts.locks().parts(lock)) {
                Releasable own = releasable(part);
                if (own != null && done.add(part)) {
                    held.add(own);
                }
            }
            if (!held.isEmpty()) {
                int needed = parts.locks().set(lock).needed();
                all.add(
                        parts.locks().told(lock)
                                ? new Releases(held, needed, () -> onLost.accept(lock))
                                : new Releases(held, Math.min(held.size(), needed)));
            }
        }
        List<LockName> others = new ArrayList<>(slots.keySet());
        Collections.reverse(others);
        for (LockName name : others) {
            Releasable own = releasable(name);
            if (own != null && done.add(name)) {
                // For the levels above a part nobody waits: the node of it may be the one that is away.
                boolean above = !wishes.over(name).isEmpty()
                        && wishes.over(name).stream().noneMatch(name::equals)
                        && wishes.over(name).stream()
                                .allMatch(part -> parts.locks().lockOf(part) != null);
                all.add(new Releases(List.of(own), above ? 0 : 1));
            }
        }
        return all;
    }

    private @Nullable Releasable releasable(LockName name) {
        TransactionSlot slot = slots.get(name);
        return slot == null || slot.lease == null ? null : slot.held();
    }

    Map<LockName, LockMode> believed() {
        Map<LockName, LockMode> believed = new LinkedHashMap<>();
        slots.forEach((name, slot) -> {
            LockMode mode = heldIn(name);
            if (mode != null) {
                believed.put(name, mode);
            }
        });
        return believed;
    }

    List<TransactionReport.Held> held() {
        List<TransactionReport.Held> held = new ArrayList<>();
        slots.forEach((name, slot) -> {
            if (slot.lease != null) {
                held.add(new TransactionReport.Held(name, slot.lease.mode(), slot.lease.token()));
            }
        });
        return held;
    }

    List<TransactionReport.Wait> waits(long now) {
        List<TransactionReport.Wait> waits = new ArrayList<>();
        for (LockName name : agent.wanted()) {
            if (wishes.isSpare(name)) {
                continue; // nobody waits for it
            }
            Duration waited = Duration.ofNanos(Math.max(0, now - agent.wantedSince(name)));
            waits.add(new TransactionReport.Wait(
                    name, Objects.requireNonNull(agent.mode(name)), waited, Optional.empty()));
        }
        return waits;
    }

    /**
     * A request of which nothing is known: one that is needed, or if none is, since too few nodes answer, one that is
     * not. Null if there is none.
     */
    @Nullable
    PendingAcquire unanswered() {
        PendingAcquire ofSpares = null;
        boolean needs = false;
        for (Map.Entry<LockName, TransactionSlot> each : slots.entrySet()) {
            PendingAcquire pending = each.getValue().pending;
            if (pending == null) {
                continue;
            }
            boolean spare = agent.isSpare(each.getKey());
            needs |= !spare;
            if (!pending.isAnswered()) {
                if (!spare) {
                    return pending;
                }
                ofSpares = pending;
            }
        }
        return needs ? null : ofSpares;
    }

    // Parts of locks over nodes

    boolean isPartHeld(LockName part) {
        return asksPart(part)
                && lacking(part) == null
                && slots.entrySet().stream()
                        .allMatch(each -> !wishes.over(each.getKey()).contains(part)
                                || each.getValue().isHeld());
    }

    /** Whether it is asked for, or held. */
    boolean asksPart(LockName part) {
        return wishes.mode(part) != null;
    }

    /** Whether it is held, and none of its grants is in doubt. */
    private boolean isPartSure(LockName part) {
        return isPartHeld(part)
                && wishes.levels(part).stream()
                        .allMatch(level ->
                                Objects.requireNonNull(slots.get(level)).isSure());
    }

    /** For so long that part is believed without renewals. */
    private long left(LockName part) {
        return !isPartHeld(part)
                ? 0
                : wishes.levels(part).stream()
                        .mapToLong(level ->
                                Objects.requireNonNull(slots.get(level)).left())
                        .min()
                        .orElse(0);
    }

    /** How that lock over nodes stands, of which the user was told. */
    Lease.State standing(LockName lock) {
        if (!parts.locks().has(lock) || !parts.locks().isHeld(lock)) {
            return Lease.State.LOST;
        }
        long sure = parts.locks().parts(lock).stream().filter(this::isPartSure).count();
        return sure >= parts.locks().set(lock).needed() ? Lease.State.HELD : Lease.State.DOUBTFUL;
    }

    /** For so long that lock over nodes, of which the user was told, is believed without renewals. */
    long leftOf(LockName lock) {
        if (standing(lock) == Lease.State.LOST) {
            return 0;
        }
        List<LockName> all = parts.locks().parts(lock);
        long[] left = all.stream().mapToLong(this::left).sorted().toArray();
        return left[all.size() - parts.locks().set(lock).needed()];
    }

    /** The leases of the parts of that lock over nodes that are held; of trees those of its own name at each node. */
    List<HeldLease> leases(LockName lock) {
        return parts.heldOf(lock).stream()
                .map(part -> Objects.requireNonNull(Objects.requireNonNull(slots.get(part)).lease))
                .toList();
    }

    /** Whether that grant is of that lock, or of a part of it. */
    boolean isOf(LockName name, LockName lock) {
        List<LockName> over = wishes.over(name);
        return over.contains(lock) || over.stream().anyMatch(parts.locks().parts(lock)::contains);
    }

    /** The name in whose queue that part is, or is about to be; null if it has all, or is not asked for. */
    @Nullable
    LockName lacking(LockName part) {
        if (!asksPart(part)) {
            return null;
        }
        return wishes.lacking(part, this::heldIn);
    }

    /** The request by which that part is waited for; null if there is none. */
    @Nullable
    PendingAcquire pendingOf(LockName part) {
        LockName at = lacking(part);
        TransactionSlot slot = at == null ? null : slots.get(at);
        return slot == null ? null : slot.pending;
    }
}
