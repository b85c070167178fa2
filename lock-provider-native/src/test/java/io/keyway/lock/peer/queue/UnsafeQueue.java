// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockSettings;
import org.jspecify.annotations.Nullable;

/** Managers that leave one thing out of what they must heed, one switch each. */
public enum UnsafeQueue {
    /** What was last granted is forgotten with a name at rest. */
    FORGETS_THE_FLOOR,
    /** A request is granted where nobody holds, whoever waits and whatever keeps others out. */
    GRANTS_WHAT_LOOKS_FREE,
    /** An upgrade is granted beside other readers. */
    UPGRADES_BESIDE_READERS,
    /** The end of a lease frees nothing. */
    EXPIRY_IGNORED,
    /** Who was passed over since it was silent is not looked at when it is heard. */
    HEARD_IGNORED,
    /** At the end of the quarantine nobody looks at the queue. */
    OPENING_IGNORED,
    /** The acceptance of a recall ends nothing. */
    ACCEPTED_IGNORED,
    /** A release ends nothing; the lock is free when its lease is over. */
    RELEASE_IGNORED,
    /** A release by a token that is over ends what its sender's client has now. */
    RELEASE_OF_ANY_TOKEN,
    /** The sessions do not know of the grant: its lease never ends. */
    LEASE_WITHOUT_END,
    /** What a clean end has left stands, although another member has led since. */
    UNSEATED_IGNORED;

    /** A manager of that variant. */
    public LockManager manager(Key key, LockSettings settings) {
        return new Variant(this, key, settings);
    }

    private static final class Variant extends LockManager {
        private final UnsafeQueue undone;
        private final Key key;

        Variant(UnsafeQueue undone, Key key, LockSettings settings) {
            super(key, settings, LockKeys.isSemaphore(key) ? Admission.SEMAPHORES : Admission.LOCKS);
            this.undone = undone;
            this.key = key;
        }

        @Override
        public void received(Peer from, Message message, Turn turn) {
            boolean ignored = switch (undone) {
                case ACCEPTED_IGNORED -> message instanceof LockMessage.Accepted;
                case RELEASE_IGNORED -> message instanceof LockMessage.Release;
                default -> false;
            };
            if (!ignored) {
                super.received(from, message, turn);
            }
        }

        @Override
        public void called(Call call, Turn turn) {
            boolean ignored = switch (undone) {
                case EXPIRY_IGNORED -> call instanceof MemberView.Expired;
                case HEARD_IGNORED -> call instanceof MemberView.Heard;
                case OPENING_IGNORED -> call instanceof MemberView.Opening;
                case UNSEATED_IGNORED -> call instanceof MemberView.Unseated;
                default -> false;
            };
            if (!ignored) {
                super.called(call, turn);
            }
        }

        @Override
        void acquire(Peer from, LockMessage.Acquire request, Turn turn) {
            if (undone == UnsafeQueue.GRANTS_WHAT_LOOKS_FREE && grants.isEmpty()) {
                grant(from, request, turn);
            } else {
                super.acquire(from, request, turn);
            }
        }

        @Override
        void grant(Peer to, LockMessage.Acquire request, Turn turn) {
            super.grant(to, request, turn);
            if (undone == LEASE_WITHOUT_END) {
                HeldGrant grant = grants.of(to, request.request());
                if (grant != null) {
                    turn.member().ungrant(to, key, grant.token, grant.ttl);
                }
            }
        }

        @Override
        void convert(Peer from, LockMessage.Acquire request, Turn turn) {
            HeldGrant own = current(from, request.converts());
            if (undone == UPGRADES_BESIDE_READERS && own != null) {
                turn.member().ungrant(from, key, own.token, own.ttl);
                grants.drop(own);
                grant(from, request, turn);
            } else {
                super.convert(from, request, turn);
            }
        }

        @Override
        @Nullable
        HeldGrant ending(Peer from, long token, Turn turn) {
            HeldGrant grant = super.ending(from, token, turn);
            if (undone == RELEASE_OF_ANY_TOKEN && grant == null) {
                for (HeldGrant each : grants) {
                    if (each.peer.equals(from)) {
                        return each;
                    }
                }
            }
            return grant;
        }

        @Override
        public void dropped(Turn turn) {
            if (undone != FORGETS_THE_FLOOR) {
                super.dropped(turn);
            }
        }

        @Override
        LockManager fresh(Key of, LockSettings settings, Admission admission) {
            return undone.manager(of, settings);
        }
    }
}
