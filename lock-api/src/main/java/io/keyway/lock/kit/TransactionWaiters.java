// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Those who wait in a transaction: for locks that they name, or for all that was asked for. After each step each wait
 * is compared with what is held, and gets one answer: that it has what it waits for, or why it will not have it.
 *
 * <p>The failure of a request ends the waits that name its lock. If there are none it is kept, until a wait for all
 * ends with it that began after the request: one that began before may know nothing of it. It is forgotten when the
 * lock is asked for once more, or is held; a try that gets nothing does not make it forgotten.
 *
 * <p>Guarded by the transaction's lock, except the waits themselves; tasks are done when that lock is free.
 */
final class TransactionWaiters {
    /** What the transaction has. */
    interface Locks {
        /** Whether nothing that was asked for, and has not failed, is missing. */
        boolean isComplete();

        /** Whether that was asked for in this mode or a stronger one, and not given up. */
        boolean isWanted(LockRequest request);

        /** Whether that is held now, in this mode or a stronger one. */
        boolean isHeld(LockRequest request);

        /** The user learns that this is held. */
        void tell(LockRequest request);
    }

    /** How one stops to wait. */
    interface Leaving {
        /** As {@link TransactionWaiters#remove}. */
        boolean remove(Wait wait);
    }

    /** One who waits. */
    static final class Wait {
        /** What it waits for; null for all that was asked for. */
        final @Nullable List<LockRequest> requests;
        /**
         * Those locks that it gives up if it does not get all, as far as nobody else wants them; null if what it asked
         * for stays asked for.
         */
        final @Nullable List<LockName> tries;

        /** Whether it has asked for anything that was not asked for before. */
        boolean asks;

        final long since;
        final CompletableFuture<Boolean> outcome = new CompletableFuture<>();

        /** {@code since}: when, among all that happens to the transaction. */
        Wait(@Nullable List<LockRequest> requests, @Nullable List<LockName> tries, long since) {
            this.requests = requests;
            this.tries = tries;
            this.since = since;
        }
    }

    /** Why a lock cannot be had that was asked for in that mode, and when it was. */
    private record Failure(LockName name, LockMode mode, long asked, Throwable why) {}

    private final TimeSource time;
    private final List<Wait> all = new ArrayList<>();
    /** Of this step: those who wait for these locks have not heard of them yet. */
    private final List<Failure> fresh = new ArrayList<>();

    private final List<Failure> untold = new ArrayList<>();

    TransactionWaiters(TimeSource time) {
        this.time = time;
    }

    /** One more waits. */
    void add(Wait wait) {
        all.add(wait);
    }

    /** It does not wait any more, whatever it was told; false if it was told. */
    boolean remove(Wait wait) {
        return all.removeIf(each -> each == wait);
    }

    /** In which mode somebody waits for that lock; null if nobody does. */
    @Nullable
    LockMode waitsFor(LockName name) {
        LockMode mode = null;
        for (Wait wait : all) {
            for (LockRequest each : wait.requests == null ? List.<LockRequest>of() : wait.requests) {
                mode = each.name().equals(name) && !Wishes.covers(mode, each.mode()) ? each.mode() : mode;
            }
        }
        return mode;
    }

    /** A lock cannot be had. */
    void failed(Wishes.GivenUp lock, Throwable why) {
        Throwable known = Failures.lockException(why);
        fresh.add(new Failure(lock.name(), lock.mode(), lock.asked(), known == null ? why : known));
    }

    /** That lock is asked for once more, or is held: what became of it before is of no interest. */
    void asked(LockName name, LockMode mode) {
        untold.removeIf(failure -> failure.name().equals(name) && Wishes.covers(mode, failure.mode()));
    }

    /** Why locks cannot be had whose user has not been told; null if there are none. */
    @Nullable
    Throwable untold() {
        return one(untold);
    }

    private static @Nullable Throwable one(Iterable<Failure> failures) {
        Throwable first = null;
        for (Failure each : failures) {
            Throwable why = each.why();
            if (first == null) {
                first = why;
            } else if (first != why && !Arrays.asList(first.getSuppressed()).contains(why)) {
                first.addSuppressed(why);
            }
        }
        return first;
    }

    /** Tells those who have what they wait for, or will not have it. Returns the locks that these give up. */
    List<LockName> settle(Locks locks, Consumer<Runnable> then) {
        List<LockName> givenUp = all.isEmpty() ? List.of() : new ArrayList<>();
        settle(true, fresh, locks, then, givenUp);
        untold.addAll(fresh);
        fresh.clear();
        settle(false, untold, locks, then, givenUp);
        return givenUp;
    }

    /** Those who name locks, or the others. */
    private void settle(
            boolean named, List<Failure> failures, Locks locks, Consumer<Runnable> then, List<LockName> givenUp) {
        Set<Failure> told = new HashSet<>();
        for (Iterator<Wait> waits = all.iterator(); waits.hasNext(); ) {
            Wait wait = waits.next();
            if ((wait.requests != null) != named) {
                continue;
            }
            List<Failure> failed = failed(wait, failures, locks, told);
            Throwable why = one(failed);
            LockName cancelled = why == null ? cancelled(wait, locks) : null;
            boolean over = why != null || cancelled != null;
            if (!over && !hasAll(wait, locks)) {
                continue;
            }
            waits.remove();
            if (!over && wait.requests != null) {
                for (LockRequest each : wait.requests) {
                    locks.tell(each);
                    asked(each.name(), each.mode());
                }
            } else if (over && wait.tries != null) {
                givenUp.addAll(wait.tries);
            }
            then.accept(() -> tell(wait, why, cancelled));
        }
        failures.removeAll(told);
    }

    private static boolean hasAll(Wait wait, Locks locks) {
        return wait.requests == null
                ? locks.isComplete()
                : wait.requests.stream().allMatch(locks::isHeld);
    }

    /** What this one will not have, and adds to those of which it hears. */
    private static List<Failure> failed(Wait wait, List<Failure> failures, Locks locks, Set<Failure> told) {
        List<LockRequest> requests = wait.requests;
        List<Failure> failed = new ArrayList<>();
        for (Failure failure : failures) {
            boolean its = requests == null
                    || requests.stream().anyMatch(each -> each.name().equals(failure.name()) && !locks.isWanted(each));
            if (its) {
                failed.add(failure);
            }
            if (its && (requests != null || wait.since > failure.asked())) {
                told.add(failure);
            }
        }
        return failed;
    }

    /** The first lock that it waits for and nobody wants any more; null if there is none. */
    private static @Nullable LockName cancelled(Wait wait, Locks locks) {
        for (LockRequest each : wait.requests == null ? List.<LockRequest>of() : wait.requests) {
            if (!locks.isWanted(each)) {
                return each.name();
            }
        }
        return null;
    }

    private static void tell(Wait wait, @Nullable Throwable why, @Nullable LockName cancelled) {
        if (why != null) {
            wait.outcome.completeExceptionally(why);
        } else if (cancelled == null || wait.tries != null) {
            wait.outcome.complete(cancelled == null);
        } else {
            wait.outcome.completeExceptionally(new CancellationException("the request for " + cancelled
                    + " was cancelled, or the lock given back, by another thread while this one waited for it"));
        }
    }

    /** Nothing more comes of it, for that reason. */
    Runnable failed(Throwable why) {
        List<Wait> told = List.copyOf(all);
        all.clear();
        return () -> told.forEach(each -> each.outcome.completeExceptionally(why));
    }

    /**
     * Waits until that one has its answer.
     *
     * @param limit for how long at most; null for no limit
     * @param leaving under the transaction's lock
     * @return its answer; false if the limit is over before
     * @throws InterruptedException if interrupted before it has one
     */
    boolean await(Wait wait, @Nullable Duration limit, Leaving leaving) throws InterruptedException {
        try {
            return limit == null
                    ? time.await(wait.outcome)
                    : time.await(wait.outcome, time.nanoTime() + Waits.nanos(limit));
        } catch (ExecutionException e) {
            throw Failures.rethrow(e.getCause());
        } catch (TimeoutException e) {
            return !leaving.remove(wait) && heard(wait);
        } catch (InterruptedException e) {
            if (leaving.remove(wait)) {
                throw e;
            }
            Thread.currentThread().interrupt();
            return heard(wait);
        } catch (RuntimeException | Error e) {
            // It was cancelled, or this thread cannot wait.
            leaving.remove(wait);
            throw e;
        }
    }

    /** What was told as it left: a failure is told once, so that nobody else would hear it. */
    private static boolean heard(Wait wait) {
        try {
            return Objects.requireNonNull(wait.outcome.join());
        } catch (CompletionException e) {
            throw Failures.rethrow(e.getCause());
        }
    }
}
