// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Runs work under a lease and sees to it that a loss during the work is never silent. */
final class LockedWork {
    private LockedWork() {}

    /** What the work runs under. */
    private interface Held extends AutoCloseable {
        Lease.State state();

        void ensureHeld();

        ReleaseOutcome release();

        @Override
        void close();
    }

    private interface Body<T, X extends Exception> {
        T run() throws X;
    }

    static <T, X extends Exception> T call(Lease lease, LockedFunction<T, X> work) throws X {
        return call(held(lease), () -> work.apply(lease));
    }

    static <T, X extends Exception> T call(LeaseSet leases, LockSet.Work<T, X> work) throws X {
        return call(held(leases), () -> work.apply(leases));
    }

    private static <T, X extends Exception> T call(Held held, Body<T, X> work) throws X {
        try (held) {
            // It may have ended before this thread came to run.
            held.ensureHeld();
            T result;
            try {
                result = work.run();
            } catch (Throwable failure) {
                LeaseLostException loss = loss(held);
                if (loss != null) {
                    failure.addSuppressed(loss);
                }
                throw failure;
            }
            LeaseLostException loss = loss(held);
            if (loss == null && held.release() == ReleaseOutcome.ALREADY_LOST) {
                loss = loss(held);
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

    private static @Nullable LeaseLostException loss(Held held) {
        if (held.state() != Lease.State.LOST) {
            return null;
        }
        try {
            held.ensureHeld();
            return null;
        } catch (LeaseLostException e) {
            return e;
        }
    }

    private static Held held(Lease lease) {
        return new Held() {
            @Override
            public Lease.State state() {
                return lease.state();
            }

            @Override
            public void ensureHeld() {
                lease.ensureHeld();
            }

            @Override
            public ReleaseOutcome release() {
                return lease.release();
            }

            @Override
            public void close() {
                lease.close();
            }
        };
    }

    private static Held held(LeaseSet leases) {
        return new Held() {
            @Override
            public Lease.State state() {
                return leases.state();
            }

            @Override
            public void ensureHeld() {
                leases.ensureHeld();
            }

            @Override
            public ReleaseOutcome release() {
                return leases.release();
            }

            @Override
            public void close() {
                leases.close();
            }
        };
    }
}
