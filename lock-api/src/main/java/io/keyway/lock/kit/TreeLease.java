// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LeaseSet;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** The lease of a lock of a tree: those of all its levels, as one; its token is that of its own name. */
final class TreeLease implements Lease {
    private final LockName name;
    private final LockMode mode;
    private final LeaseSet levels;

    TreeLease(LockName name, LockMode mode, LeaseSet levels) {
        this.name = name;
        this.mode = mode;
        this.levels = levels;
    }

    @Override
    public LockName name() {
        return name;
    }

    @Override
    public LockMode mode() {
        return mode;
    }

    @Override
    public int permits() {
        return 1;
    }

    @Override
    public long token() {
        return levels.token(name);
    }

    @Override
    public Duration ttl() {
        return levels.ttl();
    }

    @Override
    public State state() {
        return levels.state();
    }

    @Override
    public Duration remaining() {
        return levels.remaining();
    }

    @Override
    public boolean isHeld() {
        return levels.isHeld();
    }

    /** Whichever level is lost, this lease is; the detail says which. */
    @Override
    public void ensureHeld() {
        try {
            levels.ensureHeld();
        } catch (LeaseLostException e) {
            LeaseLostException own = new LeaseLostException(name, token(), e.loss());
            own.addSuppressed(e);
            throw own;
        }
    }

    @Override
    public CompletionStage<LeaseLoss> lost() {
        return levels.lost();
    }

    @Override
    public ReleaseOutcome release() {
        return levels.release();
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        return levels.releaseAsync();
    }

    @Override
    public void close() {
        levels.close();
    }

    @Override
    public String toString() {
        return "Lease[" + name + ", " + mode + " with all below, token " + token() + ", " + state() + "]";
    }
}
