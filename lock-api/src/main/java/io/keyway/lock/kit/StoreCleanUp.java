// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;

/**
 * The part of a {@link StoreMachine} that ends what nobody wants any more: grants are released by their token, other
 * requests withdrawn by their id, until the store has answered or has surely expired them; where they last as long as
 * the client's session, until it has answered.
 */
final class StoreCleanUp {

    private final StoreMachine machine;
    private final StoreTimers timers;
    private final boolean sessionBound;

    /** {@code sessionBound}: as {@link io.keyway.lock.spi.LockBackend#sessionBound}. */
    StoreCleanUp(StoreMachine machine, StoreTimers timers, boolean sessionBound) {
        this.machine = machine;
        this.timers = timers;
        this.sessionBound = sessionBound;
    }

    void released(StoreEntry entry, Answer answer, long now) {
        if (answer == Answer.UNKNOWN) {
            failed(entry, true, now);
            return;
        }
        if (entry.stale) {
            entry.sentBefore |= answer == Answer.DONE;
            release(entry);
            return;
        }
        boolean ours = answer == Answer.DONE || entry.sentBefore;
        machine.tell(new StoreEffect.Released(entry.id(), ours ? Answer.DONE : answer));
        if (entry.unanswered) {
            // A first attempt that arrives only now would be granted, and nobody would know.
            machine.freed(entry.request.key());
            beginWithdrawal(entry, now);
            withdraw(entry);
        } else {
            over(entry);
        }
    }

    void withdrawn(StoreEntry entry) {
        if (entry.stale) {
            withdraw(entry);
        } else {
            over(entry);
        }
    }

    private void over(StoreEntry entry) {
        machine.forget(entry);
        machine.freed(entry.request.key());
    }

    void failed(StoreEntry entry, boolean maybe, long now) {
        entry.sentBefore |= maybe;
        if (now - entry.giveUpAt < 0) {
            timers.retry(entry, now);
            return;
        }
        if (entry.phase == StoreEntry.Phase.RELEASING && !entry.releaseTold) {
            entry.releaseTold = true;
            machine.tell(new StoreEffect.Released(entry.id(), Answer.UNKNOWN));
        }
        if (sessionBound) {
            timers.retryLater(entry, now);
        } else {
            machine.forget(entry);
        }
    }

    /** The grant is given back; its first release is sent by the caller. */
    void beginRelease(StoreEntry entry, long now) {
        begin(entry, StoreEntry.Phase.RELEASING, now);
    }

    void beginWithdrawal(StoreEntry entry, long now) {
        begin(entry, StoreEntry.Phase.WITHDRAWING, now);
    }

    private static void begin(StoreEntry entry, StoreEntry.Phase phase, long now) {
        entry.armed = false;
        entry.phase = phase;
        entry.failures = 0;
        entry.giveUpAt = now + 2 * entry.ttl();
    }

    /** Nothing needs to be withdrawn where nothing can stand. */
    void withdrawOrForget(StoreEntry entry) {
        if (entry.mayStand) {
            withdraw(entry);
        } else {
            machine.forget(entry);
        }
    }

    void withdraw(StoreEntry entry) {
        call(entry, new StoreEffect.Withdraw(entry.request));
    }

    void release(StoreEntry entry) {
        boolean keeps = !entry.abandoned && !entry.request.holdAtLeast().isZero();
        call(entry, new StoreEffect.Release(entry.held(), keeps));
    }

    /** Of a request that is wanted still. */
    void disown(StoreEntry entry, Grant broken) {
        call(entry, new StoreEffect.Release(broken, false));
    }

    private void call(StoreEntry entry, StoreEffect effect) {
        entry.armed = false;
        entry.stale = false;
        entry.inFlight = true;
        machine.tell(effect);
    }
}
