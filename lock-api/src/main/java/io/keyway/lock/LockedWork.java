// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Runs work under a lease and sees to it that a loss during the work is never silent. */
final class LockedWork {
    private LockedWork() {}

    static <T, X extends Exception> T call(Lease lease, LockedFunction<T, X> work) throws X {
        try (lease) {
            // It may have ended before this thread came to run.
            lease.ensureHeld();
            T result;
            try {
                result = work.apply(lease);
            } catch (Throwable failure) {
                LeaseLostException loss = loss(lease);
                if (loss != null) {
                    failure.addSuppressed(loss);
                }
                throw failure;
            }
            LeaseLostException loss = loss(lease);
            if (loss == null && lease.release() == ReleaseOutcome.ALREADY_LOST) {
                loss = loss(lease);
            }
            if (loss != null) {
                throw loss;
            }
            return result;
        }
    }

    static <X extends Exception> boolean run(Optional<Lease> lease, LockedAction<X> work) throws X {
        if (lease.isEmpty()) {
            return false;
        }
        return call(lease.get(), held -> {
            work.run(held);
            return true;
        });
    }

    /** A lease that the work itself released is no loss. */
    private static @Nullable LeaseLostException loss(Lease lease) {
        if (lease.state() != Lease.State.LOST) {
            return null;
        }
        try {
            lease.ensureHeld();
            return null;
        } catch (LeaseLostException e) {
            return e;
        }
    }
}
