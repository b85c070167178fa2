// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** The calls of a transaction that block, in two halves: for worlds that have one thread. */
public final class TransactionTwin {
    /** A call that has asked, and waits. */
    public static final class Call {
        private final TransactionView transaction;
        private final TransactionWaiters.Wait wait;

        private Call(TransactionView transaction, TransactionWaiters.Wait wait) {
            this.transaction = transaction;
            this.wait = wait;
        }

        /** Its answer. */
        public CompletionStage<Boolean> outcome() {
            return wait.outcome;
        }

        /** Its time is over; false if it had its answer before. */
        public boolean leave() {
            return transaction.leaves(wait);
        }
    }

    private TransactionTwin() {}

    /** {@code lockAll}. */
    public static Call lock(LockTransaction of, List<LockRequest> requests) {
        TransactionView transaction = (TransactionView) of;
        return new Call(transaction, transaction.begin(requests, true, false));
    }

    /** {@code tryLock}. */
    public static Call tryLock(LockTransaction of, LockRequest request, boolean queue) {
        TransactionView transaction = (TransactionView) of;
        return new Call(transaction, transaction.begin(List.of(request), queue, true));
    }

    /** {@code awaitAll}. */
    public static Call awaitAll(LockTransaction of) {
        TransactionView transaction = (TransactionView) of;
        return new Call(transaction, transaction.waitForAll());
    }

    /** {@code close}, which does not wait for answers. */
    public static void close(LockTransaction of) {
        ((TransactionView) of).closeAsync();
    }

    /** The grants that it has and believes, and their modes. */
    public static Map<LockName, LockMode> believed(LockTransaction of) {
        return ((TransactionView) of).believed();
    }

    /** The token of that grant, which it has. */
    public static long token(LockTransaction of, LockName grant) {
        return ((TransactionView) of).grantToken(grant);
    }
}
