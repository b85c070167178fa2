// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.transaction;

import io.keyway.lock.Deadlock;
import io.keyway.lock.DeadlockException;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.TransactionReport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** A good transaction in which a careless author changed one thing. */
final class CarelessTransaction implements LockTransaction {
    /** What he did not think of. */
    enum Defect {
        HELD_WHEN_THE_FIRST_IS("LK-1901"),
        LOCKS_OF_OTHER_NAMES("LK-1902"),
        ALWAYS_EXCLUSIVE("LK-1902"),
        WAITS_FOR_EVER("LK-1903"),
        EVERYBODY_GIVES_WAY("LK-1903"),
        LONG_WAIT_IS_A_DEADLOCK("LK-1904"),
        VICTIM_LETS_GO("LK-1905"),
        CIRCLE_OF_ONE("LK-1905"),
        ABORTED_GOES_ON("LK-1905"),
        SURRENDERED_IS_HELD("LK-1906"),
        UPGRADE_IN_TWO_STEPS("LK-1907"),
        CLOSE_KEEPS("LK-1908"),
        CANCEL_KEEPS_WAITING("LK-1908"),
        UNLOCK_AT_THE_END("LK-1908"),
        LOSS_UNTOLD("LK-1909"),
        LOST_IS_HELD("LK-1909"),
        SURRENDER_IS_NOTHING("LK-1910"),
        SURRENDER_IS_UNLOCK("LK-1910"),
        SURRENDER_OF_ALL("LK-1910"),
        PRIORITY_IGNORED("LK-1911"),
        OPTIONS_OF_THE_BEGINNING("LK-1911"),
        /** H5 of docs/algorithms/agents.md. */
        HEARS_OF_CHANGES_ALONE("LK-1912"),
        ANSWERS_ONE_OF_THEM("LK-1912"),
        /** A call waits for all, and returns when nothing is waited for any more. */
        WAITS_FOR_NOBODYS_LOCK("LK-1913"),
        FAILED_IS_HELD("LK-1914"),
        LATE_TRY_KEEPS("LK-1916");

        /** A rule of a check that finds it. */
        final String rule;

        Defect(String rule) {
            this.rule = rule;
        }
    }

    private static final Duration LOOK = Duration.ofMillis(50);

    private final Defect defect;
    private final LockClient client;
    private final LockTransaction good;
    /** Of one who asks for each lock by a transaction of its own, and so is in no circle. */
    private final List<LockTransaction> parts = new ArrayList<>();

    private final AtomicInteger waiting = new AtomicInteger();
    private final Map<String, Long> tokens = new ConcurrentHashMap<>();
    private final Map<String, LockMode> modes = new HashMap<>();

    private CarelessTransaction(Defect defect, LockClient client, LockTransaction good) {
        this.defect = defect;
        this.client = client;
        this.good = good;
    }

    static LockTransaction of(Defect defect, LockClient client, TransactionOptions options) {
        return new CarelessTransaction(defect, client, client.transaction(options));
    }

    private String named(String name) {
        return defect == Defect.LOCKS_OF_OTHER_NAMES ? name + "/transaction" : name;
    }

    @Override
    public String id() {
        return good.id();
    }

    @Override
    public void lockAsync(Collection<LockRequest> requests) {
        for (LockRequest each : requests) {
            LockMode mode = defect == Defect.ALWAYS_EXCLUSIVE ? LockMode.EXCLUSIVE : each.mode();
            String name = each.name().toString();
            if (defect == Defect.UPGRADE_IN_TWO_STEPS && modes.get(name) == LockMode.SHARED) {
                good.unlock(name);
            }
            modes.put(name, mode);
            LockRequest asked = new LockRequest(LockName.of(named(name)), mode);
            if (defect == Defect.WAITS_FOR_EVER) {
                LockTransaction part = client.transaction();
                parts.add(part);
                part.lockAsync(List.of(asked));
            } else if (defect != Defect.ABORTED_GOES_ON || good.status() != Status.ABORTED) {
                good.lockAsync(List.of(asked));
            }
        }
    }

    @Override
    public void lockAll(Collection<LockRequest> requests) throws InterruptedException {
        if (defect == Defect.WAITS_FOR_NOBODYS_LOCK || namesChange()) {
            lockAsync(requests);
            awaitAll();
            return;
        }
        aborted(() -> {
            good.lockAll(requests);
            return true;
        });
    }

    /** Whether what is asked for, or waited for, differs from what the good one does. */
    private boolean namesChange() {
        return looks()
                || defect == Defect.WAITS_FOR_EVER
                || defect == Defect.LOCKS_OF_OTHER_NAMES
                || defect == Defect.ALWAYS_EXCLUSIVE
                || defect == Defect.UPGRADE_IN_TWO_STEPS
                || defect == Defect.ABORTED_GOES_ON;
    }

    @Override
    public void awaitAll() throws InterruptedException {
        if (defect == Defect.WAITS_FOR_EVER) {
            for (LockTransaction part : parts) {
                part.awaitAll();
            }
        } else if (looks()) {
            while (!awaitAll(LOOK.multipliedBy(2))) {
                if (defect == Defect.LONG_WAIT_IS_A_DEADLOCK) {
                    throw deadlock();
                }
            }
        } else {
            aborted(() -> {
                good.awaitAll();
                return true;
            });
        }
    }

    private boolean looks() {
        return defect == Defect.EVERYBODY_GIVES_WAY
                || defect == Defect.SURRENDERED_IS_HELD
                || defect == Defect.LONG_WAIT_IS_A_DEADLOCK
                || defect == Defect.HELD_WHEN_THE_FIRST_IS;
    }

    private interface Wait {
        boolean done() throws InterruptedException;
    }

    private boolean aborted(Wait wait) throws InterruptedException {
        try {
            return wait.done();
        } catch (DeadlockException e) {
            if (defect == Defect.VICTIM_LETS_GO) {
                good.close();
            } else if (defect == Defect.CIRCLE_OF_ONE) {
                throw deadlock();
            }
            throw e;
        }
    }

    private DeadlockException deadlock() {
        List<Deadlock> known = good.deadlocks();
        LockName lock = known.isEmpty() ? LockName.of("x") : known.get(0).gaveUp();
        Deadlock.Waiter own = new Deadlock.Waiter(client.name(), id(), lock, Duration.ZERO);
        return new DeadlockException(new Deadlock(List.of(own), lock, Deadlock.Way.ABORTED), 1);
    }

    @Override
    public boolean awaitAll(Duration limit) throws InterruptedException {
        if (defect == Defect.WAITS_FOR_EVER) {
            for (LockTransaction part : parts) {
                if (!part.awaitAll(limit)) {
                    return false;
                }
            }
            return true;
        }
        if (defect == Defect.HELD_WHEN_THE_FIRST_IS) {
            good.awaitAll(LOOK);
            return true;
        } else if (defect == Defect.HEARS_OF_CHANGES_ALONE && good.status() == Status.HELD) {
            return false;
        } else if (defect == Defect.ANSWERS_ONE_OF_THEM) {
            int waits = waiting.incrementAndGet();
            boolean held = good.awaitAll(limit);
            waiting.decrementAndGet();
            return held && waits == 1;
        }
        Duration left = limit;
        while (looks() && left.compareTo(LOOK) > 0) {
            if (good.awaitAll(LOOK) || surrendered()) {
                return true;
            }
            if (defect == Defect.EVERYBODY_GIVES_WAY && !good.deadlocks().isEmpty()) {
                throw deadlock();
            }
            left = left.minus(LOOK);
        }
        boolean all = aborted(() -> good.awaitAll(limit.compareTo(LOOK) < 0 || !looks() ? limit : LOOK));
        if (!all && defect == Defect.LONG_WAIT_IS_A_DEADLOCK) {
            throw deadlock();
        }
        return all || surrendered();
    }

    private boolean surrendered() {
        return defect == Defect.SURRENDERED_IS_HELD
                && good.deadlocks().stream()
                        .anyMatch(each -> each.way() == Deadlock.Way.SURRENDERED
                                && each.cycle().get(0).transaction().equals(id()));
    }

    @Override
    public boolean tryLock(String name, LockMode mode, Duration wait) throws InterruptedException {
        if (defect == Defect.UPGRADE_IN_TWO_STEPS
                && modes.get(name) == LockMode.SHARED
                && mode == LockMode.EXCLUSIVE
                && !wait.isZero()) {
            good.unlock(name);
        }
        if (defect == Defect.LONG_WAIT_IS_A_DEADLOCK && !wait.isZero()) {
            if (!good.tryLock(name, mode, LOOK)) {
                throw deadlock();
            }
            return true;
        }
        LockMode asked = defect == Defect.ALWAYS_EXCLUSIVE ? LockMode.EXCLUSIVE : mode;
        boolean has = good.tryLock(named(name), asked, wait);
        if (!has && defect == Defect.LATE_TRY_KEEPS) {
            good.lockAsync(name, asked);
        }
        return has;
    }

    @Override
    public boolean cancel(String name) {
        return defect == Defect.CANCEL_KEEPS_WAITING || good.cancel(named(name));
    }

    @Override
    public void surrender(String name) {
        switch (defect) {
            case SURRENDER_IS_NOTHING -> {}
            case SURRENDER_IS_UNLOCK -> {
                if (!good.cancel(name)) {
                    good.unlock(name);
                }
            }
            case SURRENDER_OF_ALL -> List.copyOf(modes.keySet()).forEach(good::surrender);
            default -> good.surrender(named(name));
        }
    }

    @Override
    public TransactionOptions options() {
        TransactionOptions now = good.options();
        return defect == Defect.OPTIONS_OF_THE_BEGINNING
                ? now.withOnDeadlock(TransactionOptions.OnDeadlock.ABORT)
                : now;
    }

    @Override
    public void change(UnaryOperator<TransactionOptions> change) {
        if (defect == Defect.PRIORITY_IGNORED) {
            good.change(options -> change.apply(options).withPriority(0));
        } else if (defect != Defect.OPTIONS_OF_THE_BEGINNING) {
            good.change(change);
        }
    }

    @Override
    public ReleaseOutcome unlock(String name) {
        return defect == Defect.UNLOCK_AT_THE_END ? ReleaseOutcome.RELEASED : good.unlock(named(name));
    }

    @Override
    public long token(String name) {
        if (defect == Defect.WAITS_FOR_EVER) {
            return 1;
        }
        try {
            long token = good.token(named(name));
            tokens.put(name, token);
            return token;
        } catch (IllegalStateException e) {
            if (defect == Defect.SURRENDERED_IS_HELD || defect == Defect.HELD_WHEN_THE_FIRST_IS) {
                return tokens.getOrDefault(name, 1L);
            }
            throw e;
        }
    }

    @Override
    public void ensureHeld() {
        if (defect != Defect.SURRENDERED_IS_HELD && defect != Defect.WAITS_FOR_EVER) {
            good.ensureHeld();
        }
    }

    @Override
    public void ensureHeld(String name) {
        if (defect != Defect.LOST_IS_HELD && defect != Defect.WAITS_FOR_EVER) {
            good.ensureHeld(named(name));
        }
    }

    @Override
    public Status status() {
        Status status = good.status();
        if (defect == Defect.FAILED_IS_HELD && status == Status.FAILED) {
            return Status.HELD;
        }
        if (defect == Defect.LOST_IS_HELD && status == Status.LOST) {
            return Status.HELD;
        }
        return defect == Defect.ABORTED_GOES_ON && status == Status.ABORTED ? Status.HELD : status;
    }

    @Override
    public CompletionStage<LeaseLoss> lost() {
        return defect == Defect.LOSS_UNTOLD ? new CompletableFuture<>() : good.lost();
    }

    @Override
    public List<Deadlock> deadlocks() {
        return good.deadlocks();
    }

    @Override
    public TransactionReport explain() throws InterruptedException {
        return good.explain();
    }

    @Override
    public void close() {
        parts.forEach(LockTransaction::close);
        if (defect != Defect.CLOSE_KEEPS) {
            good.close();
        }
    }
}
