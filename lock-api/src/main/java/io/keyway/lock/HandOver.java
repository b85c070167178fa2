// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * The hand-over of a leadership to one candidate.
 *
 * <p>Who hands over takes a second lock, beside that of the election, and says in its metadata who is to lead; then it
 * gives up the lock of the election. Whoever is granted that one looks at the second lock before it leads: if that
 * names another, it steps back and stands again, behind the others. So the one that is named is elected, whatever its
 * place in the queue was. The second lock is given back when the other one leads, or the time is over; if its holder
 * dies, it ends with its ttl. It is a wish: whether two lead at once is decided by the one lock of the election alone.
 */
final class HandOver {
    /** What the name of the second lock has after that of the election. */
    static final String SUFFIX = "~hand-over";

    private static final String TO = "to";
    private static final Duration FIRST_LOOK = Duration.ofMillis(10);
    private static final Duration LAST_LOOK = Duration.ofMillis(200);

    private HandOver() {}

    private static LockName lockOf(ElectionLock election) {
        return LockName.of(election.name() + SUFFIX);
    }

    /** Returns who is to lead by a hand-over that is under way; empty if there is none; it may fail. */
    static CompletionStage<Optional<String>> named(ElectionLock election) {
        return election.services()
                .show(LockKey.lock(lockOf(election)))
                .thenApply(found -> found.flatMap(status -> status.holders().stream()
                        .filter(holder -> holder.kept().isEmpty())
                        .findFirst()
                        .flatMap(holder -> Optional.ofNullable(holder.metadata().get(TO)))));
    }

    /**
     * Hands over; {@code giveUp} ends the leadership and returns how to stand again, or empty if it was lost before.
     */
    static boolean to(String candidate, ElectionLock election, Duration limit, Supplier<Optional<Runnable>> giveUp)
            throws InterruptedException {
        TimeLimit time = TimeLimit.in(limit, election.services().time());
        if (election.candidates().stream()
                .noneMatch(each -> !each.leads() && each.name().equals(candidate))) {
            return false;
        }
        DistributedLock lock =
                election.other(lockOf(election), LockOptions.none().withMetadata(Map.of(TO, candidate)));
        Optional<Lease> word = lock.tryAcquire(time.left());
        if (word.isEmpty()) {
            return false;
        }
        try (Lease said = word.get()) {
            Optional<Runnable> standAgain = giveUp.get();
            if (standAgain.isEmpty()) {
                return false;
            }
            try {
                return leads(candidate, election, time);
            } finally {
                said.close();
                standAgain.get().run();
            }
        }
    }

    private static boolean leads(String candidate, ElectionLock election, TimeLimit limit) throws InterruptedException {
        Duration pause = FIRST_LOOK;
        while (true) {
            try {
                if (election.leader()
                        .filter(each -> each.name().equals(candidate))
                        .isPresent()) {
                    return true;
                }
            } catch (LockUnavailableException e) {
                // It may lead; the next look will say.
            }
            Duration left = limit.left();
            if (left.isZero()) {
                return false;
            }
            pause(left.compareTo(pause) < 0 ? left : pause, election);
            pause = pause.multipliedBy(2).compareTo(LAST_LOOK) < 0 ? pause.multipliedBy(2) : LAST_LOOK;
        }
    }

    private static void pause(Duration pause, ElectionLock election) throws InterruptedException {
        TimeSource time = election.services().time();
        CompletableFuture<Boolean> never = election.services().future();
        try {
            time.await(never, time.nanoTime() + pause.toNanos());
        } catch (TimeoutException e) {
            // As meant.
        } catch (ExecutionException e) {
            throw new IllegalStateException("nobody completes it", e);
        }
    }
}
