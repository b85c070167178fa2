// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockUnavailableException;

/**
 * The part of a {@link StoreMachine} that changes the mode of a grant. The request for the new mode is an entry beside
 * the one that holds, and is attempted as any other; the two are bound to each other until the request is over.
 *
 * <p>As long as they are, nobody knows which of the two the store has. So a renewal of the holder that is answered "not
 * held" does not end it: its belief goes on until its deadline, and no longer. And what the holder gives back is sent
 * only when the request is over, withdrawn if need be, since a withdrawal makes the grant again what it was.
 */
final class Conversions {

    private final StoreMachine machine;

    Conversions(StoreMachine machine) {
        this.machine = machine;
    }

    /** False if {@code holder} is not there to be converted, or is being converted already. */
    static boolean possible(StoreEntry holder) {
        return holder.phase == StoreEntry.Phase.HELD && holder.conversion == null;
    }

    static void begin(StoreEntry holder, StoreEntry wanted) {
        wanted.holder = holder;
        holder.conversion = wanted;
    }

    /** The request is over, and has changed nothing. */
    void settle(StoreEntry wanted) {
        StoreEntry holder = wanted.holder;
        if (holder == null || holder.conversion != wanted) {
            return;
        }
        holder.conversion = null;
        holder.renewedInConversion = holder.renewing;
        boolean waits = holder.phase == StoreEntry.Phase.RELEASING || holder.phase == StoreEntry.Phase.WITHDRAWING;
        if (waits && !holder.inFlight) {
            machine.call(holder);
        }
    }

    /** The request knows more of that grant than its renewal does. */
    void ask(StoreEntry holder) {
        StoreEntry wanted = holder.conversion;
        if (wanted != null && wanted.phase == StoreEntry.Phase.WANTED) {
            machine.attempts().ask(wanted);
        }
    }

    /** The holder has ended: nothing is left to convert. True if its release has to wait for the request. */
    boolean holderEnded(StoreEntry holder, long now) {
        StoreEntry wanted = holder.conversion;
        if (wanted == null) {
            return false;
        }
        if (wanted.phase == StoreEntry.Phase.WANTED) {
            machine.tell(new StoreEffect.Failed(
                    wanted.id(),
                    new LockUnavailableException(
                            "The lease of the " + wanted.request.key()
                                    + " ended before its mode was changed. Acquire the lock again.",
                            wanted.request.key().name(),
                            machine.server(),
                            null)));
            machine.startWithdraw(wanted, now);
        }
        return holder.conversion != null;
    }
}
