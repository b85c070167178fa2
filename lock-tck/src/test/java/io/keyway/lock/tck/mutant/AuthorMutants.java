// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.Session;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Defects that the author of a new provider is likely to put into what it keeps at its store. */
final class AuthorMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.store(
                    "170",
                    "place-for-ever-if-asked-again",
                    "a repeated attempt writes its place without a term",
                    "LK-410",
                    Eternal::new),
            Mutant.store(
                    "170b",
                    "grant-for-ever-after-a-long-wait",
                    "the grant of who had waited for longer than its ttl has no term",
                    "LK-513",
                    Rewarding::new),
            Mutant.store(
                    "173",
                    "parent-waits-for-children",
                    "who asks for a name waits for all names below it",
                    "LK-103",
                    Parental::new),
            Mutant.store(
                    "176",
                    "released-is-not-withdrawn",
                    "the withdrawal of a request whose grant was released is not remembered",
                    "LK-1502",
                    (clock, tokensAbove) -> new Lax(clock, tokensAbove, true)),
            Mutant.store(
                    "176b",
                    "try-is-not-withdrawn",
                    "the withdrawal of a request that does not queue and has no grant is not remembered",
                    "LK-1502",
                    (clock, tokensAbove) -> new Lax(clock, tokensAbove, false)),
            Mutant.store(
                    "177",
                    "asks-again-after-a-ttl",
                    "a waiter is to ask again within its ttl, after which its place ends",
                    "LK-310",
                    Leisurely::new),
            Mutant.store(
                    "178",
                    "withdrawn-for-two-seconds",
                    "the store remembers for two seconds that a request was withdrawn",
                    "LK-1502",
                    Brief::new),
            Mutant.store(
                    "179",
                    "refused-tries-are-kept",
                    "of each request that was refused something stays at the store for a day",
                    "LK-1518",
                    Hoarding::new));

    private AuthorMutants() {}

    private static final class Eternal extends ReferenceStore {
        private final Map<Request, Integer> asked = new ConcurrentHashMap<>();

        Eternal(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            boolean again = !holds && asked.merge(request, 1, Integer::sum) > 1;
            return again ? now + Duration.ofDays(1).toNanos() : super.expiry(request, holds, now);
        }
    }

    private static final class Rewarding extends ReferenceStore {
        private final Map<Request, Long> waits = new ConcurrentHashMap<>();

        Rewarding(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            Long since = holds ? waits.get(request) : waits.putIfAbsent(request, now);
            boolean longAgo = since != null && now - since > request.ttl().toNanos();
            return holds && longAgo ? now + Duration.ofDays(1).toNanos() : super.expiry(request, holds, now);
        }
    }

    private static final class Parental extends ReferenceStore {
        Parental(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Attempt attempt(Session session, Request request) throws NotExecutedException {
            LockKey key = request.key();
            boolean below = list(key.name().value() + "/", Optional.empty(), 100).locks().stream()
                    .anyMatch(other ->
                            other.key().kind() == key.kind() && !other.holders().isEmpty());
            return below
                    ? new Attempt.Waiting(recheckWithin(request), OptionalInt.empty(), List.of())
                    : super.attempt(session, request);
        }
    }

    private static final class Lax extends ReferenceStore {
        private record Id(Session session, long request) {}

        private final Set<Id> released = ConcurrentHashMap.newKeySet();
        private final Set<Id> granted = ConcurrentHashMap.newKeySet();
        private final boolean ofReleased;

        Lax(LongSupplier clock, long tokensAbove, boolean ofReleased) {
            super(clock, tokensAbove);
            this.ofReleased = ofReleased;
        }

        @Override
        public Attempt attempt(Session session, Request request) throws NotExecutedException {
            Attempt result = super.attempt(session, request);
            if (result instanceof Attempt.Granted) {
                granted.add(new Id(session, request.id()));
            }
            return result;
        }

        @Override
        public Answer release(Session session, Grant grant) {
            released.add(new Id(session, grant.id()));
            return super.release(session, grant);
        }

        @Override
        public void withdraw(Session session, Request request) {
            Id id = new Id(session, request.id());
            boolean lax = ofReleased ? released.contains(id) : !request.queue() && !granted.contains(id);
            if (!lax) {
                super.withdraw(session, request);
            }
        }
    }

    private static final class Leisurely extends ReferenceStore {
        Leisurely(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected Duration recheckWithin(Request request) {
            return request.ttl();
        }
    }

    private static final class Brief extends ReferenceStore {
        private static final long KEPT = Duration.ofSeconds(2).toNanos();
        private static final long AGAIN = 1L << 50;

        private final Map<Request, Long> withdrawn = new ConcurrentHashMap<>();
        private final LongSupplier clock;

        Brief(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
            this.clock = clock;
        }

        @Override
        public void withdraw(Session session, Request request) {
            withdrawn.put(request, clock.getAsLong());
            super.withdraw(session, request);
        }

        @Override
        public Attempt attempt(Session session, Request request) throws NotExecutedException {
            Long at = withdrawn.get(request);
            boolean forgotten = at != null && clock.getAsLong() - at > KEPT;
            return super.attempt(session, forgotten ? AlteredRequests.withId(request, request.id() + AGAIN) : request);
        }
    }

    private static final class Hoarding extends ReferenceStore {
        private static final String KEPT = "kept/";

        private final AtomicLong kept = new AtomicLong();

        Hoarding(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Attempt attempt(Session session, Request request) throws NotExecutedException {
            Attempt result = super.attempt(session, request);
            if (!request.queue() && result instanceof Attempt.Waiting) {
                LockKey crumb = LockKey.lock(LockName.of(KEPT + kept.incrementAndGet()));
                super.attempt(session, AlteredRequests.of(crumb, request));
            }
            return result;
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            boolean kept = request.key().name().value().startsWith(KEPT);
            return kept ? now + Duration.ofDays(1).toNanos() : super.expiry(request, holds, now);
        }
    }
}
