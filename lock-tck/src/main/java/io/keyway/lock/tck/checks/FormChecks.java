// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.Capacity;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** What holds for every lease, tried on readers and on permits: rules 401, 406, 409, 512, 801 and 802. */
final class FormChecks {
    /** How such a lease is asked for. */
    private interface Form {
        Lease acquire(LockClient client, LockOptions options) throws InterruptedException;

        Optional<Lease> tryAcquire(LockClient client, Duration wait) throws InterruptedException;

        CompletableFuture<Lease> acquireAsync(LockClient client);
    }

    private record Readers(String name) implements Form {
        @Override
        public Lease acquire(LockClient client, LockOptions options) throws InterruptedException {
            return client.readWriteLock(name).read().with(options).acquire();
        }

        @Override
        public Optional<Lease> tryAcquire(LockClient client, Duration wait) throws InterruptedException {
            return client.readWriteLock(name).read().tryAcquire(wait);
        }

        @Override
        public CompletableFuture<Lease> acquireAsync(LockClient client) {
            return client.readWriteLock(name).read().acquireAsync();
        }
    }

    private record Permits(String name) implements Form {
        private static final Capacity TWO = Capacity.of(2);

        @Override
        public Lease acquire(LockClient client, LockOptions options) throws InterruptedException {
            return client.semaphore(name, TWO).with(options).acquire(2);
        }

        @Override
        public Optional<Lease> tryAcquire(LockClient client, Duration wait) throws InterruptedException {
            return client.semaphore(name, TWO).tryAcquire(1, wait);
        }

        @Override
        public CompletableFuture<Lease> acquireAsync(LockClient client) {
            return client.semaphore(name, TWO).acquireAsync(1);
        }
    }

    @Check(rules = "LK-401 LK-409 LK-406", needs = Feature.READ_WRITE)
    @Hint("Does a read lock take its time limit, and a cancelled future, as the plain lock does?")
    void readersWaitAsLongAsTheirLimit(CheckContext t) throws Exception {
        waitsEnd(t, new Readers(t.name()), t.client("holder").lock(t.name()).acquire());
    }

    @Check(rules = "LK-401 LK-409 LK-406", needs = Feature.SEMAPHORE)
    @Hint("Does a semaphore take its time limit, and a cancelled future, as a lock does?")
    void permitsAreWaitedForAsLongAsTheLimit(CheckContext t) throws Exception {
        Form form = new Permits(t.name());
        waitsEnd(t, form, form.acquire(t.client("holder"), LockOptions.none()));
    }

    private static void waitsEnd(CheckContext t, Form form, Lease held) throws Exception {
        LockClient client = t.client("waits");
        Duration limit = t.ttl(1, 2);
        for (Duration wait : new Duration[] {limit, Duration.ZERO, Duration.ofSeconds(-1)}) {
            long before = t.now();
            Task<Optional<Lease>> waits =
                    t.start("tryAcquire(" + text(wait) + ")", () -> form.tryAcquire(client, wait));
            if (wait.equals(limit)) {
                t.expect(
                        t.goesOnAt(before + limit.toNanos() * 3 / 4, waits, before + limit.toNanos()),
                        "a wait of " + text(limit) + " for what is held ended within 3/4 of that");
            }
            t.expectEnd(
                    t.ttl(1, 2), waits, "a wait of " + text(wait) + " for what is held had not ended half a ttl later");
            t.expect(waits.get().isEmpty(), "a wait ended with a lease of what another client holds");
        }
        CompletableFuture<Lease> cancelled = form.acquireAsync(client);
        t.pass(t.ttl(1, 16));
        t.expect(!cancelled.isDone(), "acquireAsync() was completed while another client holds: " + cancelled);
        cancelled.cancel(false);
        t.pass(t.ttl(1, 16));
        held.release();
        LockClient next = t.client("next");
        boolean free = t.happens(
                t.ttl(1, 2),
                () -> form.tryAcquire(next, Duration.ZERO).map(Lease::release).isPresent());
        t.expect(free, "requests were given up, the holder released, and nothing can be had for half a ttl");
    }

    @Check(rules = "LK-512 LK-801 LK-802", needs = Feature.READ_WRITE)
    @Hint("Does a read lock pass its options on, and tell its losses, as the plain lock does?")
    void aReaderEndsAtItsMaxHold(CheckContext t) throws Exception {
        endsAtItsMaxHold(t, new Readers(t.name()));
    }

    @Check(rules = "LK-512 LK-801 LK-802", needs = Feature.SEMAPHORE)
    @Hint("Does a semaphore pass its options on, and tell its losses, as a lock does?")
    void permitsEndAtTheirMaxHold(CheckContext t) throws Exception {
        endsAtItsMaxHold(t, new Permits(t.name()));
    }

    private static void endsAtItsMaxHold(CheckContext t, Form form) throws Exception {
        Duration limit = t.ttl(5, 4);
        Lease lease = form.acquire(t.client("holder"), LockOptions.none().withMaxHold(limit));
        long got = t.now();
        t.passUntil(got + limit.toNanos() + 1);
        t.expect(!lease.isHeld(), "a lease is held for longer than its maxHold, " + text(limit));
        t.expectLoss(LeaseLoss.Cause.MAX_HOLD, lease);
        LockClient next = t.client("next");
        t.until(
                "what was held is free after the holder's maxHold",
                () -> form.tryAcquire(next, Duration.ZERO).isPresent());
    }
}
