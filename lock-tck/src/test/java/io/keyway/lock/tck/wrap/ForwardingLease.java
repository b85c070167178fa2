// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.wrap;

import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.CompletionStage;

/** A lease that passes everything on. */
public abstract class ForwardingLease implements Lease {
    private final Lease to;

    protected ForwardingLease(Lease to) {
        this.to = Objects.requireNonNull(to, "to");
    }

    /** The lease that it stands before. */
    public final Lease to() {
        return to;
    }

    @Override
    public LockName name() {
        return to.name();
    }

    @Override
    public LockMode mode() {
        return to.mode();
    }

    @Override
    public int permits() {
        return to.permits();
    }

    @Override
    public OptionalInt permitsOut() {
        return to.permitsOut();
    }

    @Override
    public long token() {
        return to.token();
    }

    @Override
    public Duration ttl() {
        return to.ttl();
    }

    @Override
    public State state() {
        return to.state();
    }

    @Override
    public Duration remaining() {
        return to.remaining();
    }

    @Override
    public boolean isHeld() {
        return to.isHeld();
    }

    @Override
    public void ensureHeld() {
        to.ensureHeld();
    }

    @Override
    public CompletionStage<LeaseLoss> lost() {
        return to.lost();
    }

    @Override
    public ReleaseOutcome release() {
        return to.release();
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        return to.releaseAsync();
    }

    @Override
    public void close() {
        to.close();
    }

    @Override
    public String toString() {
        return to.toString();
    }
}
