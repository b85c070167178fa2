// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.LockKey;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.reference.Session;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** Defects in how long a store keeps what is to be held at least for some time. */
final class HoldAtLeastMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.store("150", "keeps-nothing", "keep is a release", "LK-520", KeepsNothing::new),
            Mutant.store(
                    "151",
                    "keeps-half-the-time",
                    "what was released is kept for half of its time",
                    "LK-520",
                    KeepsHalf::new),
            Mutant.store(
                    "152",
                    "keeps-not-for-the-dead",
                    "a grant whose ttl has ended passes on, whatever time it was to be held at least",
                    "LK-520",
                    NotForTheDead::new),
            Mutant.store(
                    "153",
                    "keeps-for-the-unheard",
                    "a release ends a grant that reached nobody as keep does",
                    "LK-522",
                    ForTheUnheard::new),
            Mutant.backend(
                    "154",
                    "keeps-for-longer",
                    "the time of a grant is counted from its release",
                    "LK-521",
                    FromTheRelease::new),
            Mutant.store(
                    "155",
                    "kept-and-withdrawn",
                    "a withdrawal ends what was given up by keep",
                    "LK-521",
                    Withdrawn::new),
            Mutant.store("156", "kept-unbroken", "a break does not find what is kept", "LK-520", Unbroken::new));

    private HoldAtLeastMutants() {}

    private static final class KeepsNothing extends ReferenceStore {
        KeepsNothing(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Answer keep(Session session, Grant grant) {
            return release(session, grant);
        }
    }

    private static final class KeepsHalf extends ReferenceStore {
        KeepsHalf(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long keptFor(Request request) {
            return request.holdAtLeast().toNanos() / 2;
        }
    }

    private static final class NotForTheDead extends ReferenceStore {
        NotForTheDead(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long outlastsTermFor(Request request) {
            return 0;
        }
    }

    private static final class ForTheUnheard extends ReferenceStore {
        ForTheUnheard(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Answer release(Session session, Grant grant) {
            return keep(session, grant);
        }
    }

    /** Keeps the grant itself for the time that was asked for, and releases it then. */
    private static final class FromTheRelease extends ReferenceBackend {
        private final TimeSource time;
        private final Map<Long, Duration> asked = new ConcurrentHashMap<>();

        FromTheRelease(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
            this.time = time;
        }

        @Override
        public Attempt attempt(Request request, Duration limit) throws Exception {
            asked.put(request.id(), request.holdAtLeast());
            return super.attempt(request, limit);
        }

        @Override
        public Answer keep(Grant grant, Duration limit) {
            Duration left = asked.getOrDefault(grant.id(), Duration.ZERO);
            time.at(time.nanoTime() + left.toNanos(), () -> {
                try {
                    release(grant, limit);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            return Answer.DONE;
        }
    }

    private static final class Withdrawn extends ReferenceStore {
        private final Map<Long, Grant> kept = new ConcurrentHashMap<>();

        Withdrawn(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Answer keep(Session session, Grant grant) {
            kept.put(grant.id(), grant);
            return super.keep(session, grant);
        }

        @Override
        public void withdraw(Session session, Request request) {
            super.withdraw(session, request);
            Grant grant = kept.get(request.id());
            if (grant != null) {
                try {
                    breakGrant(grant.key(), grant.token(), "withdrawn");
                } catch (NotExecutedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    private static final class Unbroken extends ReferenceStore {
        private final Set<Long> kept = ConcurrentHashMap.newKeySet();

        Unbroken(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Answer keep(Session session, Grant grant) {
            kept.add(grant.token());
            return super.keep(session, grant);
        }

        @Override
        public boolean breakGrant(LockKey key, long token, String reason) throws NotExecutedException {
            return !kept.contains(token) && super.breakGrant(key, token, reason);
        }
    }
}
