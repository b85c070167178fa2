// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The leases of one client that have not ended, and those that have to be given back still. An intrusive list in
 * stripes: an acquire allocates no node for it and contends only with leases of the same stripe. The monitors guard
 * pointer moves and nothing that can block.
 */
final class HeldLeases {

    private static final int STRIPES = 64;

    private final Stripe[] stripes = new Stripe[STRIPES];

    HeldLeases() {
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe();
        }
    }

    /** False when the client has closed: the lease must not live. */
    boolean add(HeldLease lease) {
        Stripe stripe = of(lease);
        synchronized (stripe) {
            if (stripe.closed) {
                return false;
            }
            HeldLease head = stripe.head;
            lease.next = head;
            if (head != null) {
                head.previous = lease;
            }
            stripe.head = lease;
            return true;
        }
    }

    /** Idempotent; a lease that was never added, or was swept by {@link #close}, is left alone. */
    void remove(HeldLease lease) {
        Stripe stripe = of(lease);
        synchronized (stripe) {
            HeldLease previous = lease.previous;
            HeldLease next = lease.next;
            if (previous != null) {
                previous.next = next;
            } else if (stripe.head == lease) {
                stripe.head = next;
            } else {
                return;
            }
            if (next != null) {
                next.previous = previous;
            }
            lease.previous = null;
            lease.next = null;
        }
    }

    /** Admits no further lease and hands over those that live. */
    List<HeldLease> close() {
        List<HeldLease> living = new ArrayList<>();
        for (Stripe stripe : stripes) {
            synchronized (stripe) {
                stripe.closed = true;
                for (HeldLease lease = stripe.head; lease != null; ) {
                    HeldLease next = lease.next;
                    living.add(lease);
                    lease.previous = null;
                    lease.next = null;
                    lease = next;
                }
                stripe.head = null;
            }
        }
        return living;
    }

    private Stripe of(HeldLease lease) {
        int hash = lease.key().hashCode();
        return stripes[(hash ^ (hash >>> 16)) & (STRIPES - 1)];
    }

    private static final class Stripe {
        @Nullable
        HeldLease head;

        boolean closed;
    }
}
