// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.TransactionReport;
import io.keyway.lock.kit.agent.Agent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What a transaction holds and waits for, to read; changes nothing. Guarded by the transaction's lock. */
final class TransactionState {
    private final Map<LockName, TransactionSlot> slots;
    private final Agent agent;
    private final @Nullable Wishes wishes;
    private final TransactionParts parts;

    TransactionState(
            Map<LockName, TransactionSlot> slots, Agent agent, @Nullable Wishes wishes, TransactionParts parts) {
        this.slots = slots;
        this.agent = agent;
        this.wishes = wishes;
        this.parts = parts;
    }

    /** In which mode the user wants that lock or has it; null if it does not. */
    @Nullable
    LockMode known(LockName lock) {
        LockMode atNodes = parts.locks().mode(lock);
        return atNodes != null ? atNodes : wishes == null ? agent.mode(lock) : wishes.mode(lock);
    }

    /** In which mode that name, as a level if names are of trees, may be relied on; null if in none. */
    @Nullable
    LockMode heldIn(LockName level) {
        TransactionSlot slot = slots.get(level);
        return slot == null ? null : slot.mode();
    }

    /** Whether that lock was asked for, in a mode in which its user may not have been told that it is held. */
    boolean waits(LockName lock) {
        TransactionSlot slot = slots.get(lock);
        if (parts.locks().has(lock)) {
            return !parts.locks().told(lock);
        }
        return wishes == null ? slot != null && slot.pending != null : wishes.waits(lock);
    }

    /** The locks that were asked for and need that grant: that one, or those below that level and at it. */
    List<LockName> over(LockName name) {
        return wishes == null ? List.of(name) : wishes.over(name);
    }

    /** Whether the user may have been told that these are held. */
    boolean areTold(List<LockRequest> requests) {
        return requests.stream().allMatch(each -> {
            LockMode held = told(each.name());
            return held == LockMode.EXCLUSIVE || held == each.mode();
        });
    }

    private @Nullable LockMode told(LockName name) {
        if (parts.locks().has(name)) {
            return parts.locks().told(name) ? parts.locks().mode(name) : null;
        }
        return wishes != null ? wishes.told(name) : agent.isReported(name) ? agent.mode(name) : null;
    }

    /** @throws IllegalStateException if that is not one of the locks, or not all is held */
    void ensureIsHeld(LockName lock) {
        boolean known = known(lock) != null;
        boolean has = parts.locks().has(lock) || heldIn(lock) != null;
        if (!known || !has || !agent.isComplete()) {
            throw new IllegalStateException(
                    !known ? lock + " is not held" : "the transaction waits; await all before " + lock);
        }
    }

    /** Returns only if none of those is lost. */
    void ensureHeld(Predicate<LockName> which) {
        slots.forEach((name, slot) -> {
            if (slot.lease != null && which.test(name) && isLost(name, slot)) {
                slot.lease.ensureHeld();
            }
        });
    }

    boolean isAnyLost() {
        return slots.entrySet().stream().anyMatch(each -> isLost(each.getKey(), each.getValue()));
    }

    /** Whether a grant is not believed which a lock needs that is told to be held. */
    private boolean isLost(LockName name, TransactionSlot slot) {
        return slot.lease != null && !slot.isHeld() && !parts.canSpare(over(name));
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
            Duration waited = Duration.ofNanos(Math.max(0, now - agent.wantedSince(name)));
            waits.add(new TransactionReport.Wait(
                    name, Objects.requireNonNull(agent.mode(name)), waited, Optional.empty()));
        }
        return waits;
    }

    /** A request of which nothing is known; null if there is none. */
    @Nullable
    PendingAcquire unanswered() {
        return slots.values().stream()
                .map(slot -> slot.pending)
                .filter(pending -> pending != null && !pending.isAnswered())
                .findFirst()
                .orElse(null);
    }

    // Parts of locks over nodes

    boolean isPartHeld(LockName part) {
        return asksPart(part)
                && lacking(part) == null
                && slots.entrySet().stream()
                        .allMatch(each -> !over(each.getKey()).contains(part)
                                || each.getValue().isHeld());
    }

    /** Whether it is asked for, or held. */
    boolean asksPart(LockName part) {
        return wishes == null ? slots.containsKey(part) : wishes.mode(part) != null;
    }

    /** The name in whose queue that part is, or is about to be; null if it has all, or is not asked for. */
    @Nullable
    LockName lacking(LockName part) {
        if (!asksPart(part)) {
            return null;
        }
        return wishes != null ? wishes.lacking(part, this::heldIn) : heldIn(part) == null ? part : null;
    }

    /** The request by which that part is waited for; null if there is none. */
    @Nullable
    PendingAcquire pendingOf(LockName part) {
        LockName at = lacking(part);
        TransactionSlot slot = at == null ? null : slots.get(at);
        return slot == null ? null : slot.pending;
    }
}
