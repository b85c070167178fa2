// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.Unsafe;
import org.jspecify.annotations.Nullable;

/** Helpers with one repair undone. */
public final class UnsafeHelpers {
    private UnsafeHelpers() {}

    /** A helper of that variant. */
    public static Machine helper(Unsafe variant, Key key, LockSettings settings) {
        return switch (variant) {
            case DEADLINE_FROM_RECEIPT -> new ReceiptHelper(key, settings);
            case CACHE_DURING_OFFER -> new KeepingHelper(key, settings);
            case LATE_ANSWER_IS_A_GRANT ->
                new LockClientHelper(key, settings, new GreedyWaiters(key, settings.cache()));
            case WAITER_STAYS -> new LockClientHelper(key, settings, new SilentWaiters(key, settings.cache()));
            case RELEASE_WITHOUT_TOKEN, NO_QUARANTINE, KEEPS_NOTHING, PROMISES_LEASES_ONLY ->
                new LockClientHelper(key, settings);
        };
    }

    private static final class ReceiptHelper extends LockClientHelper {
        private static final int RECEIPT = 7;

        private @Nullable Belief fromReceipt;

        ReceiptHelper(Key key, LockSettings settings) {
            super(key, settings);
        }

        @Override
        Belief belief(long ttl, Turn turn) {
            fromReceipt = new Belief(ttl, turn.now() + ttl - ttl / 4);
            turn.timer(RECEIPT, fromReceipt.deadline());
            return fromReceipt;
        }

        @Override
        public void called(Call call, Turn turn) {
            if (!(call instanceof ClientView.Lapsed) || fromReceipt == null || !fromReceipt.holds(turn.now())) {
                super.called(call, turn);
            }
        }

        @Override
        public void due(int slot, Turn turn) {
            if (slot != RECEIPT) {
                super.due(slot, turn);
                return;
            }
            fromReceipt = null;
            GrantHandle handle = handle();
            if (handle != null) {
                handle.believe(turn.client().belief(handle.ttl()));
                if (!handle.belief().holds(turn.now())) {
                    super.called(new ClientView.Lapsed(handle.ttl()), turn);
                }
            }
        }

        @Override
        public void rebind(SessionLayer sessions) {
            super.rebind(sessions);
            Belief mine = fromReceipt;
            if (mine != null) {
                handles().forEach(handle -> handle.believe(mine));
            }
        }

        @Override
        LockClientHelper fresh(Key key, LockSettings settings) {
            ReceiptHelper fresh = new ReceiptHelper(key, settings);
            fresh.fromReceipt = fromReceipt;
            return fresh;
        }
    }

    private static final class KeepingHelper extends LockClientHelper {
        private final Key key;

        KeepingHelper(Key key, LockSettings settings) {
            super(key, settings);
            this.key = key;
        }

        @Override
        public void received(Peer from, Message message, Turn turn) {
            GrantHandle handle = handle();
            if (message instanceof LockMessage.Recall recall
                    && handle != null
                    && handle.token() == recall.token()
                    && handle.idle()) {
                turn.send(from, new LockMessage.Accepted(key, recall.token(), handle.used()));
            } else {
                super.received(from, message, turn);
            }
        }

        @Override
        LockClientHelper fresh(Key of, LockSettings settings) {
            return new KeepingHelper(of, settings);
        }
    }

    /** Whoever is first takes what comes. */
    private static final class GreedyWaiters extends LocalWaiters {
        GreedyWaiters(Key key, boolean cache) {
            super(key, cache);
        }

        @Override
        @Nullable
        Waiter taker(long request) {
            return queue().first();
        }

        @Override
        LocalWaiters fresh(Key key, boolean cache) {
            return new GreedyWaiters(key, cache);
        }
    }

    /** Whoever gives up tells nobody. */
    private static final class SilentWaiters extends LocalWaiters {
        SilentWaiters(Key key, boolean cache) {
            super(key, cache);
        }

        @Override
        void sendWithdraw(long request, Turn turn) {}

        @Override
        void returnUnused(Peer to, long token, Turn turn) {}

        @Override
        LocalWaiters fresh(Key key, boolean cache) {
            return new SilentWaiters(key, cache);
        }
    }
}
