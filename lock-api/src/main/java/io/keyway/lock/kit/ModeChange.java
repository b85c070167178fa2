// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.OutcomeUnknownException;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.Optional;

/** Upgrade and downgrade: one grant changes its mode, and the lease of one mode gives way to one of the other. */
final class ModeChange {

    private final ClientContext client;
    private final LockKey key;

    ModeChange(ClientContext client, LockKey key) {
        this.client = client;
        this.key = key;
    }

    /** The read lease is believed until the grant is there, which is safe: a writer is a reader, too. */
    Optional<Lease> upgrade(Lease lease, Duration wait) throws InterruptedException {
        HeldLease read = own(lease, LockMode.SHARED);
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before asking for the upgrade of " + key);
        }
        read.ensureHeld();
        boolean queue = wait.compareTo(Duration.ZERO) > 0;
        PendingAcquire pending = pending(read, LockMode.EXCLUSIVE, queue, queue ? wait : client.requestTimeout());
        Optional<Lease> outcome;
        try {
            outcome = pending.await();
        } catch (ClientClosedException e) {
            throw e;
        } catch (LockException e) {
            read.ensureHeld();
            throw e;
        }
        if (outcome.isEmpty()) {
            read.ensureHeld();
        }
        return delivered(outcome);
    }

    /** The write lease is given up before anything is sent: readers may be granted before the answer is here. */
    Lease downgrade(Lease lease) {
        HeldLease write = own(lease, LockMode.EXCLUSIVE);
        if (!write.giveUp()) {
            write.ensureHeld();
            throw new IllegalStateException("The lease of " + key + " with token " + write.token() + " has ended");
        }
        Optional<Lease> outcome;
        try {
            outcome = pending(write, LockMode.SHARED, true, client.requestTimeout())
                    .awaitOutcome();
        } catch (LockUnavailableException e) {
            endedWith(write, Answer.UNKNOWN);
            throw new OutcomeUnknownException(
                    "The downgrade of " + key + " (token " + write.token() + ") was not confirmed within "
                            + ResolvedOptions.text(client.requestTimeout()) + " by " + client.server()
                            + ". The lock is being given back in the background; acquire it again.",
                    key.name(),
                    client.server(),
                    e);
        } catch (RuntimeException | Error e) {
            // Whether it was asked or this thread cannot wait: nobody else gives it back.
            endedWith(write, Answer.UNKNOWN);
            throw e;
        }
        if (outcome.isEmpty()) {
            endedWith(write, Answer.NOT_HELD);
            write.ensureHeld();
        }
        return delivered(outcome).orElseThrow();
    }

    private PendingAcquire pending(HeldLease from, LockMode mode, boolean queue, Duration wait) {
        ResolvedOptions options = from.options();
        HeldLease to = new HeldLease(client, key, mode, 1, options);
        Request request = new Request(
                client.nextRequestId(), key, mode, 1, 1, options.ttl(), queue, options.owner(), options.holdAtLeast());
        PendingAcquire pending = new PendingAcquire(client, to, request, wait, from);
        pending.sendWaiting();
        return pending;
    }

    private static void endedWith(HeldLease write, Answer answer) {
        write.giveBack();
        write.conclude(answer);
    }

    private HeldLease own(Lease lease, LockMode mode) {
        client.ensureOpen(key.name());
        client.require(Feature.UPGRADE);
        if (lease instanceof HeldLease held && held.of(client) && held.key().equals(key) && held.mode() == mode) {
            return held;
        }
        throw new IllegalArgumentException("A lease of " + key + " in mode " + mode + " of the client " + client.name()
                + " is needed, not " + lease);
    }

    private Optional<Lease> delivered(Optional<Lease> outcome) {
        if (outcome.isPresent() && ((HeldLease) outcome.get()).endedByClose()) {
            throw new ClientClosedException(client.name(), key.name());
        }
        return outcome;
    }
}
