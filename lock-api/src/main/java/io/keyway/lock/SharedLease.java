// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** One of several leases of one grant. Its release ends the grant if it is the last; else it ends this lease alone. */
final class SharedLease implements Lease {
    private static final Logger LOG = System.getLogger(SharedLease.class.getName());

    /** What the leases share. */
    interface Grant {
        /** Returns the lease of the grant itself. */
        Lease lease();

        /** One of the leases is released; true for the last, whose caller is to release the grant. Calls nobody. */
        boolean leave();

        /** Releases the grant, as {@link Lease#release()}; under no lock. */
        default ReleaseOutcome release() {
            return lease().release();
        }

        /** Releases the grant, as {@link Lease#releaseAsync()}. */
        default CompletionStage<ReleaseOutcome> releaseAsync() {
            return lease().releaseAsync();
        }
    }

    /** How this lease was released: by the end of the grant, or before it with that outcome. */
    private record End(@Nullable ReleaseOutcome alone) {}

    private final Grant grant;
    private final Lease lease;
    private volatile @Nullable End end;

    SharedLease(Grant grant) {
        this.grant = grant;
        this.lease = grant.lease();
    }

    /** Decides once how this lease is released. */
    private synchronized End end() {
        End known = end;
        if (known == null) {
            known = new End(
                    grant.leave() ? null : lease.isHeld() ? ReleaseOutcome.RELEASED : ReleaseOutcome.ALREADY_LOST);
            end = known;
        }
        return known;
    }

    @Override
    public LockName name() {
        return lease.name();
    }

    @Override
    public LockMode mode() {
        return lease.mode();
    }

    @Override
    public int permits() {
        return lease.permits();
    }

    @Override
    public OptionalInt permitsOut() {
        return lease.permitsOut();
    }

    @Override
    public long token() {
        return lease.token();
    }

    @Override
    public Duration ttl() {
        return lease.ttl();
    }

    @Override
    public State state() {
        End over = end;
        if (over != null && over.alone != null) {
            return over.alone == ReleaseOutcome.RELEASED ? State.RELEASED : State.LOST;
        }
        State shared = lease.state();
        boolean held = shared == State.HELD || shared == State.DOUBTFUL;
        return over != null && held ? State.RELEASED : shared;
    }

    @Override
    public Duration remaining() {
        return end == null ? lease.remaining() : Duration.ZERO;
    }

    @Override
    public boolean isHeld() {
        return end == null && lease.isHeld();
    }

    @Override
    public void ensureHeld() {
        if (state() == State.RELEASED) {
            throw new IllegalStateException("This lease of " + name() + " with token " + token()
                    + " was released; acquire the lock again to go on");
        }
        lease.ensureHeld();
    }

    @Override
    public CompletionStage<LeaseLoss> lost() {
        return lease.lost()
                .thenCompose(loss -> state() == State.LOST
                        ? CompletableFuture.completedFuture(loss)
                        : new CompletableFuture<LeaseLoss>());
    }

    @Override
    public ReleaseOutcome release() {
        ReleaseOutcome alone = end().alone;
        return alone != null ? alone : grant.release();
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        ReleaseOutcome alone = end().alone;
        return alone != null ? CompletableFuture.completedStage(alone) : grant.releaseAsync();
    }

    @Override
    public void close() {
        try {
            release();
        } catch (RuntimeException e) {
            LOG.log(Level.WARNING, "Could not release " + lease + "; it expires", e);
        }
    }

    @Override
    public String toString() {
        return "Shared" + lease;
    }
}
