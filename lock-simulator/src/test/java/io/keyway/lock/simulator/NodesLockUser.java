// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A user of a client who takes one lock over nodes at a time, without a transaction: the lock has one token for all
 * nodes, which rises from holder to holder (R5).
 */
final class NodesLockUser {
    private final TransactionModel model;
    private final SimNode node;
    private final LockClient client;

    private @Nullable Lease lease;
    private boolean busy;
    /** Counts its locks; what comes of a former one is none of its. */
    private long life;

    NodesLockUser(TransactionModel model, SimNode node, LockClient client) {
        this.model = model;
        this.node = node;
        this.client = client;
    }

    boolean isBusy() {
        return busy;
    }

    void begin(Act act) {
        if (busy) {
            return;
        }
        busy = true;
        long mine = ++life;
        Random random = new Random(Draws.of(model.world.options().seed() + 1, act.at()));
        LockName name = LockName.of("n" + random.nextInt(model.world.options().names()));
        long longest = 3 * model.world.options().maxTtl();
        Duration wait = random.nextInt(3) == 0 ? Duration.ZERO : Duration.ofNanos(1 + random.nextLong(longest));
        long since = model.world.now();
        long use = 1 + random.nextLong(random.nextInt(3) == 0 ? longest : Nanos.MILLI);
        CompletionStage<Optional<Lease>> asked =
                client.lock(name, model.nodes(name)).tryAcquireAsync(wait);
        asked.whenComplete((got, failure) -> {
            if (mine != life) {
                return;
            }
            // One that does not wait has the request timeout.
            long limit = wait.isZero() ? model.requestTimeout() : wait.toNanos();
            long took = model.world.now() - since;
            try {
                ensure(!model.calm || took <= limit + model.requestTimeout(), "took " + took + " of " + limit + " ns");
                if (failure != null) {
                    failed(failure, took >= limit * 9 / 10);
                } else if (got.isEmpty()) {
                    model.saw("alone: not acquired");
                    busy = false;
                } else {
                    granted(got.get(), use);
                }
            } catch (RuntimeException | Error e) {
                model.broken = e; // which the future would keep to itself
            }
        });
    }

    private void failed(Throwable failure, boolean isOver) {
        model.saw("alone: failed");
        busy = false;
        if (!(failure instanceof LockUnavailableException)) {
            throw new Violation("exception", String.valueOf(failure), failure);
        }
        // At the end of its time a node may have been asked a moment ago.
        ensure(!model.calm || model.breaks || isOver, "failed in time, and nothing is broken: " + failure);
    }

    private void granted(Lease got, long use) {
        long mine = life;
        lease = got;
        if (got.isHeld()) {
            model.saw("alone: acquired");
            Long before = model.tokens.merge(got.name(), got.token(), Math::max);
            ensure(before == got.token(), "has " + got + " after the token " + before);
            ensure(model.given.add(got.name() + " " + got.token()), "has " + got + ", whose token was given before");
        } else {
            ensure(!model.calm || model.breaks, "was granted " + got + ", and nothing is broken");
        }
        got.lost().thenAccept(why -> {
            model.saw("alone: lost");
            if (model.calm && !model.breaks) {
                model.broken = new Violation("R10", this + " has lost " + got + ", and nothing is broken: " + why);
            }
        });
        model.world.wake(node, use, 0, (Runnable) () -> {
            if (mine == life) {
                release(got);
            }
        });
    }

    private void release(Lease got) {
        boolean held = got.isHeld();
        lease = null;
        busy = false;
        long mine = life;
        got.releaseAsync().thenAccept(outcome -> {
            if (mine == life && model.calm && !model.breaks && outcome != ReleaseOutcome.RELEASED) {
                model.broken = new Violation(
                        "R10", this + " released " + got + ", held " + held + ", and nothing is broken: " + outcome);
            }
        });
    }

    /** Its process has ended. */
    void gone() {
        life++;
        lease = null;
        busy = false;
    }

    /** The lock that it believes to hold, if any. */
    @Nullable
    LockName believes() {
        Lease mine = lease;
        return mine != null && node.alive() && !node.paused() && mine.isHeld() ? mine.name() : null;
    }

    private void ensure(boolean holds, String what) {
        if (!holds) {
            throw new Violation("R10", this + " " + what);
        }
    }

    @Override
    public String toString() {
        return node + ", alone" + (lease == null ? "" : " with " + lease);
    }
}
