// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.LockKey;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.Session;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;

/** Defects in what a grant's token is. */
final class TokenMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.store("4", "token-constant", "every grant has the token 7", "LK-601", Constant::new),
            Mutant.store("5", "token-random", "the token is drawn", "LK-602", Drawn::new),
            Mutant.store("5b", "token-falls", "each token is lower than the one before", "LK-602", Falling::new),
            Mutant.store(
                    "6", "token-restarts", "tokens begin at 1 after a restart of the store", "LK-603", Forgetful::new),
            Mutant.store("9", "token-per-client", "each client has a counter of its own", "LK-602", PerClient::new));

    private TokenMutants() {}

    private static final class Constant extends ReferenceStore {
        Constant(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long nextToken(Session session, LockKey key) {
            return 7;
        }
    }

    private static final class Drawn extends ReferenceStore {
        /** Leaves room for floors above it, also to the worlds that begin later. */
        private static final long MOST = 1L << 40;

        private final Map<LockKey, SplittableRandom> random = new HashMap<>();

        Drawn(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long nextToken(Session session, LockKey key) {
            // Each name draws for itself: what it draws does not hang on what is locked beside it.
            return random.computeIfAbsent(key, fresh -> new SplittableRandom(5)).nextLong(1, MOST);
        }
    }

    private static final class Falling extends ReferenceStore {
        private long next = 1L << 40;

        Falling(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long nextToken(Session session, LockKey key) {
            return next--;
        }
    }

    private static final class Forgetful extends ReferenceStore {
        private long last;

        Forgetful(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long nextToken(Session session, LockKey key) {
            return ++last;
        }

        @Override
        protected void restarted() {
            last = 0;
        }
    }

    private static final class PerClient extends ReferenceStore {
        private final Map<Session, Long> last = new HashMap<>();

        PerClient(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long nextToken(Session session, LockKey key) {
            return last.merge(session, 1L, Long::sum);
        }
    }
}
