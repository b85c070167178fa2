// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockSettings;

/** Helpers that leave one thing out of what they must heed, one switch each. */
public enum UnsafeCaches {
    /** A recall is accepted while a user holds. */
    ACCEPTS_WHILE_IN_USE,
    /** After the loss of a session nobody asks again. */
    ASKS_ONCE,
    /** A refusal is not told to the user. */
    SWALLOWS_REFUSALS,
    /** What others want is kept in the cache. */
    RECALL_IGNORED;

    /** A helper of that variant. */
    public LockClientHelper helper(Key key, LockSettings settings) {
        return new Variant(this, key, settings, new Waiters(this, key, settings.cache()));
    }

    private static final class Variant extends LockClientHelper {
        private final UnsafeCaches undone;

        Variant(UnsafeCaches undone, Key key, LockSettings settings, LocalWaiters waiters) {
            super(key, settings, waiters);
            this.undone = undone;
        }

        @Override
        public void received(Peer from, Message message, Turn turn) {
            boolean ignored = (undone == SWALLOWS_REFUSALS && message instanceof LockMessage.NotGranted)
                    || (undone == RECALL_IGNORED && message instanceof LockMessage.Recall);
            if (!ignored) {
                super.received(from, message, turn);
            }
        }

        @Override
        boolean closeForRecall(GrantHandle handle) {
            return super.closeForRecall(handle) || undone == ACCEPTS_WHILE_IN_USE;
        }

        @Override
        LockClientHelper fresh(Key of, LockSettings with) {
            return undone.helper(of, with);
        }
    }

    private static final class Waiters extends LocalWaiters {
        private final UnsafeCaches undone;

        Waiters(UnsafeCaches undone, Key key, boolean cache) {
            super(key, cache);
            this.undone = undone;
        }

        @Override
        void unsent() {
            if (undone != ASKS_ONCE) {
                super.unsent();
            }
        }

        @Override
        LocalWaiters fresh(Key of, boolean mayCache) {
            return new Waiters(undone, of, mayCache);
        }
    }
}
