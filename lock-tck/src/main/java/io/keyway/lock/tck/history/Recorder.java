// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockedAction;
import io.keyway.lock.LockedFunction;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.history.RecordingClient.RecordingLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * Writes down what several clients of one JVM do with locks, on one clock, and judges it by the rules that no history
 * may break. Readings are made to rise strictly, so that the order of two events of one instant is that in which they
 * were written. Thread-safe.
 *
 * <p>Whenever a lease is handed out, every other one of its key that has not ended is asked whether it is held, between
 * two questions to the new one: two beliefs at one instant are then seen, however short.
 */
public final class Recorder {
    private final LongSupplier clock;
    private final List<RecordedHold> holds = new ArrayList<>();
    private final List<RecordingLease> open = new ArrayList<>();
    private long last = Long.MIN_VALUE;

    /** A recorder on that clock, which tells nanoseconds. */
    public Recorder(LongSupplier clock) {
        this.clock = clock;
    }

    /** Returns a client that does what the given one does, and is written down under that name. */
    public LockClient record(String who, LockClient client) {
        return RecordingClient.of(this, who, client);
    }

    /**
     * The first breach of a rule, if the history has one.
     *
     * @param fencing whether tokens are to rise
     * @param caching whether clients may keep what they gave back
     */
    public synchronized Optional<Breach> breach(boolean fencing, boolean caching) {
        History history = new History(List.copyOf(holds));
        return history.violations(Rules.of(caching)).stream()
                .filter(violation -> fencing || !violation.rule().startsWith("R5"))
                .findFirst()
                .map(violation -> {
                    String evidence = history.show(violation).strip();
                    return new Breach(
                            violation.rule(),
                            violation.law(),
                            violation.text(),
                            evidence,
                            Timeline.of(history, violation));
                });
    }

    /** The history as text and picture, whether or not it breaks a rule; empty if nothing was asked. */
    public synchronized Optional<Breach> story() {
        if (holds.isEmpty()) {
            return Optional.empty();
        }
        History history = new History(List.copyOf(holds));
        return Optional.of(new Breach("", "", "", history.show(), Timeline.of(history)));
    }

    /** Whether a lease of the lock of that name has expired. */
    public synchronized boolean hasExpired(String name) {
        return holds.stream()
                .filter(hold -> hold.name().equals(name))
                .flatMap(hold -> hold.losses().stream())
                .anyMatch(loss -> loss.cause() == LeaseLoss.Cause.EXPIRED);
    }

    /** Whether the limit of a wait for the lock of that name is over, which was not granted. */
    public synchronized boolean hasWaitedInVain(String name) {
        long now = now();
        return holds.stream().anyMatch(hold -> hold.name().equals(name) && hold.isOverdue(now));
    }

    synchronized long now() {
        last = Math.max(last + 1, clock.getAsLong());
        return last;
    }

    synchronized RecordedHold asked(String who, LockKey key, LockMode mode, int permits, int capacity, Duration limit) {
        String name = key.kind() == LockKey.Kind.LOCK
                ? key.name().value()
                : "semaphore " + key.name().value();
        RecordedHold hold = new RecordedHold(who, name, mode, permits, capacity, now());
        hold.waits(limit);
        holds.add(hold);
        return hold;
    }

    /** A lease was handed out: returns the one that the user sees. */
    Lease granted(RecordedHold hold, Lease lease) {
        RecordingLease recorded = new RecordingLease(this, hold, lease);
        List<RecordingLease> others;
        synchronized (this) {
            hold.granted(lease.token(), lease.ttl(), now());
            open.removeIf(RecordingLease::isOver);
            others = open.stream()
                    .filter(other -> other.hold().name().equals(hold.name()))
                    .toList();
            open.add(recorded);
        }
        recorded.isHeld();
        others.forEach(RecordingLease::isHeld);
        if (!others.isEmpty()) {
            recorded.isHeld();
        }
        lease.lost().whenComplete((loss, failure) -> {
            if (loss != null) {
                lost(hold, loss);
            }
        });
        return recorded.shown();
    }

    /** Work to which a lease is handed, after which the client itself releases it. */
    <T, X extends Exception> LockedFunction<T, X> around(
            RecordedHold hold, UnaryOperator<Lease> granted, LockedFunction<T, X> work) {
        return lease -> {
            Lease shown = granted.apply(lease);
            try {
                return work.apply(shown);
            } finally {
                shown.isHeld();
                releasing(hold);
            }
        };
    }

    /** As {@link #around(RecordedHold, UnaryOperator, LockedFunction)}. */
    <X extends Exception> LockedAction<X> aroundAction(
            RecordedHold hold, UnaryOperator<Lease> granted, LockedAction<X> work) {
        LockedFunction<Boolean, X> recorded = around(hold, granted, lease -> {
            work.run(lease);
            return true;
        });
        return recorded::apply;
    }

    private synchronized void lost(RecordedHold hold, LeaseLoss loss) {
        hold.lost(now(), loss.cause());
    }

    /** What is asked of a lease that is being released says nothing about its life. */
    synchronized void answered(RecordedHold hold, HeldAnswer answer) {
        if (!hold.isReleasing() || (answer.held() && answer.before() < hold.releaseCalledAt())) {
            hold.answered(answer);
        }
    }

    synchronized void releasing(RecordedHold hold) {
        if (!hold.isReleasing()) {
            hold.releaseCalled(now());
        }
    }

    synchronized void released(RecordedHold hold, ReleaseOutcome outcome) {
        if (hold.outcome().isEmpty()) {
            hold.released(outcome);
        }
    }
}
