// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockSettings;
import org.jspecify.annotations.Nullable;

/** Managers of shared modes and permits with one repair undone, one switch each. */
public enum UnsafeModes {
    /** What whoever holds the oldest permits said of the capacity counts for those who come later. */
    CAPACITY_OF_THE_FIRST,
    /** Permits are granted although a client that sees fewer may take its own from its cache. */
    CEILING_IGNORED,
    /** A second upgrade waits as the first one does, each for the other's read grant. */
    SECOND_UPGRADE_WAITS,
    /** A reader that comes while an upgrade waits is granted beside the readers. */
    READER_BESIDE_AN_UPGRADE,
    /** A reader is granted beside a writer. */
    READER_BESIDE_A_WRITER,
    /** An upgrade that its client did not take stays exclusive. */
    WITHDRAWN_UPGRADE_STAYS,
    /** A release that was sent before its client knew of the upgrade ends nothing. */
    OLD_RELEASE_IGNORED,
    /** Readers' grants of before a restart are refused. */
    READERS_NOT_REASSERTED,
    /** When a request leaves the queue nobody looks at those behind it. */
    WITHDRAWAL_SERVES_NOBODY,
    /** A soft writer has a place in the queue. */
    SOFT_WRITER_QUEUES,
    /** A soft writer does not wait for the time without readers that it asked for. */
    TIME_WITHOUT_READERS_IGNORED,
    /** That time runs on when a reader is granted. */
    READERS_UNNOTICED,
    /** That time runs on when a reader was served from a cache before its recall came there. */
    CACHED_READERS_UNNOTICED;

    /** A manager of that variant. */
    public LockManager manager(Key key, LockSettings settings) {
        return new Variant(this, key, settings);
    }

    private static final class Variant extends LockManager {
        private final UnsafeModes undone;
        private final Key key;

        Variant(UnsafeModes undone, Key key, LockSettings settings) {
            super(
                    key,
                    settings,
                    LockKeys.isSemaphore(key) ? Admission.SEMAPHORES : Admission.LOCKS,
                    new DeafWaiters(undone, key));
            this.undone = undone;
            this.key = key;
        }

        @Override
        public void received(Peer from, Message message, Turn turn) {
            WaitQueue.Wait left = undone == WITHDRAWAL_SERVES_NOBODY && message instanceof LockMessage.Withdraw withdraw
                    ? waiters().find(from, withdraw.request())
                    : null;
            if (left == null) {
                super.received(from, message, turn);
            } else {
                waiters().leave(left, turn);
            }
        }

        @Override
        boolean isUnderTheCeiling(LockMessage.Acquire request) {
            return undone == CEILING_IGNORED || super.isUnderTheCeiling(request);
        }

        @Override
        void acquire(Peer from, LockMessage.Acquire request, Turn turn) {
            if (comesInAnyhow(from, request, turn)) {
                grant(from, request, turn);
            } else if (undone == SOFT_WRITER_QUEUES && request.isSoft()) {
                super.acquire(from, waiting(LockMessage.Acquire.IN_THE_QUEUE, request), turn);
            } else if (undone == TIME_WITHOUT_READERS_IGNORED && request.isSoft()) {
                super.acquire(from, waiting(0, request), turn);
            } else if (undone == CAPACITY_OF_THE_FIRST && !grants.isEmpty() && request.mode() == LockMode.PERMITS) {
                int first = grants.get(0).ceiling;
                super.acquire(from, first == HeldGrant.NO_CEILING ? request : stating(first, request), turn);
            } else {
                super.acquire(from, request, turn);
            }
        }

        private boolean comesInAnyhow(Peer from, LockMessage.Acquire request, Turn turn) {
            if (request.mode() != LockMode.SHARED
                    || request.converts() != 0
                    || grants.isEmpty()
                    || grants.of(from, request.request()) != null
                    || turn.member().quarantined()) {
                return false;
            }
            HeldGrant first = grants.get(0);
            return switch (undone) {
                case READER_BESIDE_A_WRITER -> first.mode == LockMode.EXCLUSIVE && !first.kept;
                case READER_BESIDE_AN_UPGRADE -> first.mode == LockMode.SHARED && upgradeWaits();
                default -> false;
            };
        }

        private boolean upgradeWaits() {
            for (WaitQueue.Wait wait : waiters().queued()) {
                if (wait.converts()) {
                    return true;
                }
            }
            return false;
        }

        private static LockMessage.Acquire stating(int capacity, LockMessage.Acquire asked) {
            return changed(asked, capacity, asked.quiet());
        }

        private static LockMessage.Acquire waiting(long quiet, LockMessage.Acquire asked) {
            return changed(asked, asked.capacity(), quiet);
        }

        private static LockMessage.Acquire changed(LockMessage.Acquire asked, int capacity, long quiet) {
            return new LockMessage.Acquire(
                    asked.key(),
                    asked.request(),
                    asked.mode(),
                    asked.permits(),
                    capacity,
                    asked.perResource(),
                    asked.ttl(),
                    asked.noWait(),
                    asked.wantPlace(),
                    asked.cache(),
                    asked.waited(),
                    asked.patience(),
                    asked.atLeast(),
                    asked.converts(),
                    quiet,
                    asked.owner());
        }

        @Override
        void convert(Peer from, LockMessage.Acquire request, Turn turn) {
            HeldGrant own = current(from, request.converts());
            if (undone == SECOND_UPGRADE_WAITS
                    && own != null
                    && own.mode == LockMode.SHARED
                    && request.mode() == LockMode.EXCLUSIVE
                    && upgradeWaits()) {
                enqueue(from, request, turn);
            } else {
                super.convert(from, request, turn);
            }
        }

        @Override
        void unused(HeldGrant grant, Turn turn) {
            if (undone != WITHDRAWN_UPGRADE_STAYS || !grant.isUpgraded()) {
                super.unused(grant, turn);
            }
        }

        @Override
        @Nullable
        HeldGrant ending(Peer from, long token, Turn turn) {
            HeldGrant grant = current(from, token);
            return undone == OLD_RELEASE_IGNORED && grant != null && grant.token != token && grant.isUpgraded()
                    ? null
                    : super.ending(from, token, turn);
        }

        @Override
        void reassert(Peer from, LockMessage.Reassert claim, Turn turn) {
            if (undone == READERS_NOT_REASSERTED && claim.mode() == LockMode.SHARED) {
                turn.send(from, LockMessage.Revoke.of(key, claim.token(), LeaseLoss.Cause.DENIED));
            } else {
                super.reassert(from, claim, turn);
            }
        }

        @Override
        LockManager fresh(Key of, LockSettings settings, Admission admission) {
            return undone.manager(of, settings);
        }
    }

    /** Those who wait, one of whom does not hear of readers. */
    private static final class DeafWaiters extends Waiters {
        private final UnsafeModes undone;

        DeafWaiters(UnsafeModes undone, Key key) {
            super(key);
            this.undone = undone;
        }

        @Override
        void granted(LockMode mode, Turn turn) {
            if (undone != READERS_UNNOTICED) {
                super.granted(mode, turn);
            }
        }

        @Override
        void ended(HeldGrant grant, long used, Turn turn) {
            if (undone != CACHED_READERS_UNNOTICED) {
                super.ended(grant, used, turn);
            }
        }

        @Override
        void denied(HeldGrant grant, Turn turn) {
            if (undone != CACHED_READERS_UNNOTICED) {
                super.denied(grant, turn);
            }
        }
    }
}
