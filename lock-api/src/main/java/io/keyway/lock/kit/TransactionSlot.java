// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockMode;
import org.jspecify.annotations.Nullable;

/** One lock of a transaction, or one level of a tree; guarded by the transaction's lock. */
final class TransactionSlot {
    @Nullable
    HeldLease lease;

    @Nullable
    PendingAcquire pending;

    long request;

    /** The change of mode of {@code lease} that is under way; null if none is. */
    @Nullable
    Weakening weakening;

    /** In which mode it may be relied on; null if in none. */
    @Nullable
    LockMode mode() {
        return lease == null
                ? null
                : weakening == null ? lease.mode() : weakening.to().mode();
    }

    /** What is to be released of it; null if nothing is. */
    @Nullable
    Releasable held() {
        return lease == null ? null : lease.grant();
    }

    /** As {@link #isHeld}, and without doubt. */
    boolean isSure() {
        return isHeld() && (lease == null || weakening != null || lease.isSure());
    }

    /** For so long that is so without renewals. */
    long left() {
        return lease == null || weakening != null ? 0 : lease.left();
    }

    /** Whether its grant is believed, also while its mode changes. Tells nobody if it is not. */
    boolean isHeld() {
        return lease != null && lease.isGrantBelieved();
    }
}
