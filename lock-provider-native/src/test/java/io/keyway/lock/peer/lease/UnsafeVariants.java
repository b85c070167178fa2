// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.kernel.Algorithm;
import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.Turn;
import org.jspecify.annotations.Nullable;

/** Lease services with one repair undone, for tests that must find it. */
public final class UnsafeVariants {
    private UnsafeVariants() {}

    /** The member's side. */
    public static Algorithm members(Unsafe variant, LeaseSettings settings) {
        LeaseMembers regular = new LeaseMembers(settings);
        return switch (variant) {
            case RELEASE_WITHOUT_TOKEN -> variant(regular, key -> new ForgetfulManager(key, settings));
            case KEEPS_NOTHING -> variant(regular, key -> new FreeingManager(key, settings));
            case PROMISES_LEASES_ONLY -> variant(regular, key -> new CarelessManager(key, settings));
            default -> regular;
        };
    }

    /** The clients' side. */
    public static Algorithm clients(Unsafe variant, LeaseSettings settings) {
        LeaseClients regular = new LeaseClients(settings);
        return switch (variant) {
            case DEADLINE_FROM_RECEIPT -> variant(regular, key -> new ReceiptHelper(key, settings));
            case CACHE_DURING_OFFER -> variant(regular, key -> new KeepingHelper(key, settings));
            case LATE_ANSWER_IS_A_GRANT -> variant(regular, key -> new GreedyHelper(key, settings));
            case WAITER_STAYS -> variant(regular, key -> new SilentHelper(key, settings));
            case RELEASE_WITHOUT_TOKEN, NO_QUARANTINE, KEEPS_NOTHING, PROMISES_LEASES_ONLY -> regular;
        };
    }

    /** For how long a member that restarts grants nothing; {@code safe} is the right answer. */
    public static long quarantine(Unsafe variant, long safe) {
        return variant == Unsafe.NO_QUARANTINE ? 0 : safe;
    }

    private interface Maker {
        Machine create(Key key);
    }

    private static Algorithm variant(Algorithm regular, Maker maker) {
        return new Algorithm() {
            @Override
            public int id() {
                return regular.id();
            }

            @Override
            public Machine create(Key key) {
                Machine machine = regular.create(key);
                return machine instanceof LockManager || machine instanceof LockClientHelper
                        ? maker.create(key)
                        : machine;
            }
        };
    }

    private static final class ForgetfulManager extends LockManager {
        ForgetfulManager(Key key, LeaseSettings settings) {
            super(key, settings);
        }

        @Override
        @Nullable
        HeldGrant current(Peer from, long token) {
            for (HeldGrant grant : grants) {
                if (grant.peer.equals(from)) {
                    return grant;
                }
            }
            return null;
        }

        @Override
        LockManager fresh(Key key, LeaseSettings settings) {
            return new ForgetfulManager(key, settings);
        }
    }

    private static final class FreeingManager extends LockManager {
        FreeingManager(Key key, LeaseSettings settings) {
            super(key, settings);
        }

        @Override
        boolean keeps(HeldGrant grant, long used, Turn turn) {
            return false;
        }

        @Override
        LockManager fresh(Key key, LeaseSettings settings) {
            return new FreeingManager(key, settings);
        }
    }

    private static final class CarelessManager extends LockManager {
        CarelessManager(Key key, LeaseSettings settings) {
            super(key, settings);
        }

        @Override
        void promise(HeldGrant grant, Turn turn) {}

        @Override
        LockManager fresh(Key key, LeaseSettings settings) {
            return new CarelessManager(key, settings);
        }
    }

    private static final class ReceiptHelper extends LockClientHelper {
        private static final int RECEIPT = 7;

        private @Nullable Belief fromReceipt;

        ReceiptHelper(Key key, LeaseSettings settings) {
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
            CachedGrant word = word();
            if (word != null) {
                word.believe(turn.client().belief(word.ttl()));
                if (!word.belief().holds(turn.now())) {
                    super.called(new ClientView.Lapsed(word.ttl()), turn);
                }
            }
        }

        @Override
        LockClientHelper fresh(Key key, LeaseSettings settings) {
            ReceiptHelper fresh = new ReceiptHelper(key, settings);
            fresh.fromReceipt = fromReceipt;
            return fresh;
        }
    }

    private static final class KeepingHelper extends LockClientHelper {
        private final Key key;

        KeepingHelper(Key key, LeaseSettings settings) {
            super(key, settings);
            this.key = key;
        }

        @Override
        public void received(Peer from, Message message, Turn turn) {
            CachedGrant word = word();
            if (message instanceof LeaseMessage.Recall recall
                    && word != null
                    && word.token() == recall.token()
                    && word.idle()) {
                turn.send(from, new LeaseMessage.Accepted(key, recall.token(), word.used()));
            } else {
                super.received(from, message, turn);
            }
        }

        @Override
        LockClientHelper fresh(Key of, LeaseSettings settings) {
            return new KeepingHelper(of, settings);
        }
    }

    private static final class GreedyHelper extends LockClientHelper {
        GreedyHelper(Key key, LeaseSettings settings) {
            super(key, settings);
        }

        @Override
        LocalWaiters.@Nullable Waiter taker(long request) {
            return waiters().first();
        }

        @Override
        LockClientHelper fresh(Key key, LeaseSettings settings) {
            return new GreedyHelper(key, settings);
        }
    }

    private static final class SilentHelper extends LockClientHelper {
        SilentHelper(Key key, LeaseSettings settings) {
            super(key, settings);
        }

        @Override
        void sendWithdraw(long request, Turn turn) {}

        @Override
        void returnUnused(Peer to, long token, Turn turn) {}

        @Override
        LockClientHelper fresh(Key key, LeaseSettings settings) {
            return new SilentHelper(key, settings);
        }
    }
}
