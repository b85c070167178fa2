// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the close of a client has to end: its requests that wait, or its leases. An intrusive list in stripes: who
 * enters allocates nothing for it and contends only with others of the same stripe. The monitors guard pointer moves
 * and nothing that can block.
 */
final class Registry {

    /** What can be in a registry, in one at a time. The client ends it in three steps. */
    abstract static class Node {

        // Guarded by the stripe.
        private @Nullable Node previous;
        private @Nullable Node next;

        /** Returns the same at each call; those that are alike share a stripe. */
        abstract int hash();

        /** It is over, and is told so. */
        abstract void closeWithClient();

        /** All have been told: what the authority has of it is given back. */
        void giveBack() {}

        /** The engine is closed: what it has not answered it never will. */
        void endWithClient() {}
    }

    private static final int STRIPES = 64;

    private final Stripe[] stripes = new Stripe[STRIPES];

    Registry() {
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe();
        }
    }

    /** False when the client has closed: the node must not live. */
    boolean add(Node node) {
        Stripe stripe = of(node);
        synchronized (stripe) {
            if (stripe.closed) {
                return false;
            }
            Node head = stripe.head;
            node.next = head;
            if (head != null) {
                head.previous = node;
            }
            stripe.head = node;
            return true;
        }
    }

    /** Idempotent; a node that was never added, or was swept by {@link #close}, is left alone. */
    void remove(Node node) {
        Stripe stripe = of(node);
        synchronized (stripe) {
            Node previous = node.previous;
            Node next = node.next;
            if (previous != null) {
                previous.next = next;
            } else if (stripe.head == node) {
                stripe.head = next;
            } else {
                return;
            }
            if (next != null) {
                next.previous = previous;
            }
            node.previous = null;
            node.next = null;
        }
    }

    /** Admits no further node and hands over those that live. */
    List<Node> close() {
        List<Node> living = new ArrayList<>();
        for (Stripe stripe : stripes) {
            synchronized (stripe) {
                stripe.closed = true;
                for (Node node = stripe.head; node != null; ) {
                    Node next = node.next;
                    living.add(node);
                    node.previous = null;
                    node.next = null;
                    node = next;
                }
                stripe.head = null;
            }
        }
        return living;
    }

    private Stripe of(Node node) {
        int hash = node.hash();
        return stripes[(hash ^ (hash >>> 16)) & (STRIPES - 1)];
    }

    private static final class Stripe {
        @Nullable
        Node head;

        boolean closed;
    }
}
