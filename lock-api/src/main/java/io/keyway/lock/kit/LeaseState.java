// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The life of a lease in one atomic word: PENDING, then HELD or DOUBT, then exactly one end. An {@link EarlyEnd} in the
 * word is PENDING too, a {@link LeaseLoss} means LOST; RELEASING or the future of the outcome means that the owner
 * gives it back; RELEASED, or that future when it is complete, that this is over. An object in the word, instead of
 * fields beside it, makes the end and its reason one step.
 */
abstract class LeaseState {

    private static final VarHandle WORD;

    static {
        try {
            WORD = MethodHandles.lookup().findVarHandle(LeaseState.class, "word", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    enum Phase {
        PENDING,
        HELD,
        DOUBT,
        /** Inside the call that sends the release. */
        RELEASING,
        /** Released, and the answer is DONE. */
        RELEASED,
        /** The word is an object: see the class comment. */
        GIVEN_BACK,
        LOST
    }

    /** What was said of a grant that is being handed out by another thread. */
    record EarlyEnd(LeaseLoss.Cause cause, String detail) {}

    private volatile Object word = Phase.PENDING;

    /** The lease is LOST as of now; called once, by whoever won. */
    abstract void onLost(LeaseLoss loss);

    /** The release is over; called once, by whoever won. */
    abstract void onReleased();

    /** What a release means that the store answered with "not held". */
    abstract LeaseLoss goneBeforeRelease();

    final Phase phase() {
        Object seen = word;
        if (seen instanceof Phase phase) {
            return phase;
        }
        if (seen instanceof EarlyEnd) {
            return Phase.PENDING;
        }
        return seen instanceof LeaseLoss ? Phase.LOST : Phase.GIVEN_BACK;
    }

    /** HELD or DOUBT: the owner may believe, if the clock agrees. */
    final boolean lives() {
        Object seen = word;
        return seen == Phase.HELD || seen == Phase.DOUBT;
    }

    final @Nullable LeaseLoss loss() {
        return word instanceof LeaseLoss loss ? loss : null;
    }

    /** HELD as of now. What was said before is to be said again: the end comes after the beginning. */
    final @Nullable EarlyEnd begin() {
        return WORD.getAndSet(this, Phase.HELD) instanceof EarlyEnd early ? early : null;
    }

    /** Keeps an end for {@link #begin}; false if the lease has begun. */
    final boolean keep(EarlyEnd end) {
        return WORD.compareAndSet(this, Phase.PENDING, end);
    }

    final boolean toDoubt() {
        return WORD.compareAndSet(this, Phase.HELD, Phase.DOUBT);
    }

    final boolean toCertain() {
        return WORD.compareAndSet(this, Phase.DOUBT, Phase.HELD);
    }

    /** Ends a living lease as LOST; false if it has ended already. */
    final boolean lose(LeaseLoss loss) {
        while (true) {
            Object seen = word;
            if (seen != Phase.HELD && seen != Phase.DOUBT) {
                return false;
            }
            if (WORD.compareAndSet(this, seen, loss)) {
                onLost(loss);
                return true;
            }
        }
    }

    /** True for the one caller who is to send the release. */
    final boolean toReleasing() {
        while (true) {
            Object seen = word;
            if (seen != Phase.HELD && seen != Phase.DOUBT) {
                return false;
            }
            if (WORD.compareAndSet(this, seen, Phase.RELEASING)) {
                return true;
            }
        }
    }

    /** Ends the release with {@code answer}. The first answer counts: a later one changes nothing. */
    final ReleaseOutcome conclude(Answer answer) {
        while (true) {
            Object seen = word;
            ReleaseOutcome known = outcomeOf(seen);
            if (known != null) {
                return known;
            }
            Object last = switch (answer) {
                case DONE -> Phase.RELEASED;
                case NOT_HELD -> goneBeforeRelease();
                case UNKNOWN -> CompletableFuture.completedFuture(ReleaseOutcome.UNKNOWN);
            };
            if (!WORD.compareAndSet(this, seen, last)) {
                continue;
            }
            ReleaseOutcome outcome = ReleaseOutcome.UNKNOWN;
            if (last instanceof LeaseLoss loss) {
                outcome = ReleaseOutcome.ALREADY_LOST;
                onLost(loss);
            } else {
                outcome = last == Phase.RELEASED ? ReleaseOutcome.RELEASED : outcome;
                onReleased();
            }
            if (seen instanceof CompletableFuture<?>) {
                future(seen).complete(outcome);
            }
            return outcome;
        }
    }

    /** The outcome, if there is one. */
    final @Nullable ReleaseOutcome outcome() {
        return outcomeOf(word);
    }

    /** The future of the outcome; put into the word by the first who has to wait. */
    final CompletableFuture<ReleaseOutcome> outcomeFuture() {
        while (true) {
            Object seen = word;
            ReleaseOutcome known = outcomeOf(seen);
            if (known != null) {
                return CompletableFuture.completedFuture(known);
            }
            if (seen instanceof CompletableFuture<?>) {
                return future(seen);
            }
            CompletableFuture<ReleaseOutcome> fresh = new CompletableFuture<>();
            if (WORD.compareAndSet(this, seen, fresh)) {
                return fresh;
            }
        }
    }

    /** Waits for the outcome; an interrupt is kept for later, since a release that was sent cannot be taken back. */
    final ReleaseOutcome awaitOutcome(TimeSource time) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return time.await(outcomeFuture());
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    return ReleaseOutcome.UNKNOWN;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static @Nullable ReleaseOutcome outcomeOf(Object seen) {
        if (seen instanceof LeaseLoss) {
            return ReleaseOutcome.ALREADY_LOST;
        }
        if (seen == Phase.RELEASED) {
            return ReleaseOutcome.RELEASED;
        }
        return seen instanceof CompletableFuture<?> ? future(seen).getNow(null) : null;
    }

    @SuppressWarnings("unchecked")
    private static CompletableFuture<ReleaseOutcome> future(Object seen) {
        return (CompletableFuture<ReleaseOutcome>) seen;
    }
}
