// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.reference.Session;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** Defects in what a renewal does, and in the renewal of several leases by one message. */
final class RenewalMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.backend(
                    "60",
                    "renewals-all-or-none",
                    "if one of several renewals is refused, all are told as refused",
                    "LK-506",
                    AllOrNone::new),
            Mutant.backend(
                    "61",
                    "renewals-mixed-up",
                    "the answers to several renewals come in another order",
                    "LK-506",
                    MixedUp::new),
            Mutant.store("81", "renewal-adds", "a renewal adds a ttl to the end of the grant", "LK-513", Adding::new),
            Mutant.store(
                    "81b",
                    "renewal-by-default",
                    "a renewal gives a minute, whatever ttl was asked for",
                    "LK-513",
                    Standard::new),
            new Mutant(
                    "81c",
                    "renewal-by-the-first",
                    "all grants of a renewal are extended by the ttl of the first",
                    "LK-502",
                    FirstOfAll::new,
                    Batch::new,
                    (client, clock) -> client),
            Mutant.backend(
                    "82",
                    "renewal-revives",
                    "a renewal of a grant whose term is over takes the lock again",
                    "LK-701",
                    Reviving::new),
            Mutant.backend(
                    "82b",
                    "renewal-of-siblings",
                    "a renewal extends all that its client has of that lock",
                    "LK-701",
                    OfSiblings::new),
            Mutant.backend(
                    "82c",
                    "renewal-by-id",
                    "a renewal finds its grant by the id of the request, whatever its token",
                    "LK-701",
                    ById::new));

    private RenewalMutants() {}

    private static final class AllOrNone extends ReferenceBackend {
        AllOrNone(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
            List<Answer> answers = super.renew(grants, limit);
            return answers.contains(Answer.NOT_HELD) ? Collections.nCopies(answers.size(), Answer.NOT_HELD) : answers;
        }
    }

    private static final class MixedUp extends ReferenceBackend {
        MixedUp(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
            List<Answer> answers = new ArrayList<>(super.renew(grants, limit));
            Collections.reverse(answers);
            return answers;
        }
    }

    /** Tells a subclass which terms are given by a renewal. */
    private abstract static class RenewingStore extends ReferenceStore {
        private final ThreadLocal<Boolean> renewing = ThreadLocal.withInitial(() -> false);

        RenewingStore(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Answer renew(Session session, Grant grant) {
            renewing.set(true);
            try {
                return super.renew(session, grant);
            } finally {
                renewing.set(false);
            }
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            return renewing.get() ? renewed(request, now) : super.expiry(request, holds, now);
        }

        abstract long renewed(Request request, long now);
    }

    private static final class Adding extends RenewingStore {
        private final Map<Request, Long> ends = new ConcurrentHashMap<>();

        Adding(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            long end = super.expiry(request, holds, now);
            ends.put(request, end);
            return end;
        }

        @Override
        long renewed(Request request, long now) {
            return ends.getOrDefault(request, now) + request.ttl().toNanos();
        }
    }

    private static final class Standard extends RenewingStore {
        Standard(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        long renewed(Request request, long now) {
            return now + Duration.ofMinutes(1).toNanos();
        }
    }

    private static final class FirstOfAll extends RenewingStore {
        final ThreadLocal<Duration> first = ThreadLocal.withInitial(() -> Duration.ZERO);

        FirstOfAll(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        long renewed(Request request, long now) {
            return now + first.get().toNanos();
        }
    }

    private static final class Batch extends ReferenceBackend {
        private final ReferenceStore store;

        Batch(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
            store = world.store();
        }

        @Override
        public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
            if (store instanceof FirstOfAll all) {
                all.first.set(grants.get(0).ttl());
            }
            return super.renew(grants, limit);
        }
    }

    private static final class Reviving extends ReferenceBackend {
        private final Map<Long, Request> granted = new ConcurrentHashMap<>();

        Reviving(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public Attempt attempt(Request request, Duration limit) throws Exception {
            Attempt result = super.attempt(request, limit);
            if (result instanceof Attempt.Granted) {
                granted.put(request.id(), request);
            }
            return result;
        }

        @Override
        public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
            List<Answer> answers = new ArrayList<>(super.renew(grants, limit));
            for (int i = 0; i < answers.size(); i++) {
                Request request = granted.get(grants.get(i).id());
                if (answers.get(i) == Answer.NOT_HELD
                        && request != null
                        && attempt(request, limit) instanceof Attempt.Granted) {
                    answers.set(i, Answer.DONE);
                }
            }
            return answers;
        }
    }

    /** Tells a subclass what its client was granted. */
    private abstract static class Remembering extends ReferenceBackend {
        final Map<Long, Grant> granted = new ConcurrentHashMap<>();

        Remembering(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public Attempt attempt(Request request, Duration limit) throws Exception {
            Attempt result = super.attempt(request, limit);
            if (result instanceof Attempt.Granted given) {
                granted.put(request.id(), given.grant());
            }
            return result;
        }
    }

    private static final class OfSiblings extends Remembering {
        OfSiblings(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
            for (Grant grant : grants) {
                super.renew(
                        granted.values().stream()
                                .filter(other -> other.key().equals(grant.key()))
                                .toList(),
                        limit);
            }
            return super.renew(grants, limit);
        }
    }

    private static final class ById extends Remembering {
        ById(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
            return super.renew(
                    grants.stream()
                            .map(grant -> granted.getOrDefault(grant.id(), grant))
                            .toList(),
                    limit);
        }
    }
}
