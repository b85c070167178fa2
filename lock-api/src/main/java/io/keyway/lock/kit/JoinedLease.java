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

/** The lease of a lock that is several grants: those of the levels of a tree, or those at several nodes. */
final class JoinedLease implements Lease {
    private final LockName name;
    private final LockMode mode;
    private final long token;
    private final LeaseSet grants;
    private final String where;

    /** @param where what of it is granted, for people */
    JoinedLease(LockName name, LockMode mode, long token, LeaseSet grants, String where) {
        this.name = name;
        this.mode = mode;
        this.token = token;
        this.grants = grants;
        this.where = where;
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
        return token;
    }

    @Override
    public Duration ttl() {
        return grants.ttl();
    }

    @Override
    public State state() {
        return grants.state();
    }

    @Override
    public Duration remaining() {
        return grants.remaining();
    }

    @Override
    public boolean isHeld() {
        return grants.isHeld();
    }

    /** Whichever grant is lost, this lease is; the detail says which. */
    @Override
    public void ensureHeld() {
        try {
            grants.ensureHeld();
        } catch (LeaseLostException e) {
            LeaseLostException own = new LeaseLostException(name, token, e.loss());
            own.addSuppressed(e);
            throw own;
        }
    }

    @Override
    public CompletionStage<LeaseLoss> lost() {
        return grants.lost();
    }

    @Override
    public ReleaseOutcome release() {
        return grants.release();
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        return grants.releaseAsync();
    }

    @Override
    public void close() {
        grants.close();
    }

    @Override
    public String toString() {
        return "Lease[" + name + ", " + mode + " " + where + ", token " + token + ", " + state() + "]";
    }
}
