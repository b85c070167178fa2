// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.LockMode;
import io.keyway.lock.kit.table.Entry;
import io.keyway.lock.kit.table.Row;
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
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Defects of a queue that show only if it is long, if its second asks first, or if a connection breaks. */
final class OrderMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.store(
                    "90",
                    "second-in-line",
                    "the second in the queue is granted if it asks before the first",
                    "LK-310",
                    Second::new),
            Mutant.store(
                    "90b", "queue-of-eight", "who finds eight waiting waits without a place", "LK-310", Bounded::new),
            Mutant.backend(
                    "91",
                    "reset-loses-places",
                    "a broken connection ends the places of its client in queues",
                    "LK-310",
                    Touchy::new),
            Mutant.store(
                    "92",
                    "reader-brings-readers",
                    "a client that reads is admitted again before a writer that waits",
                    "LK-1203",
                    Familiar::new),
            Mutant.store(
                    "92b",
                    "readers-one-by-one",
                    "the grant of a reader wakes nobody; the next one finds out by asking",
                    "LK-411",
                    Single::new),
            Mutant.store(
                    "92c",
                    "leaver-wakes-nobody",
                    "a waiter that leaves wakes nobody; the next one finds out by asking",
                    "LK-408",
                    Silent::new));

    private OrderMutants() {}

    private static final class Second extends ReferenceStore {
        Second(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean isTurnOf(Row row, @Nullable Entry waiter, Request request) {
            if (super.isTurnOf(row, waiter, request)) {
                return true;
            }
            Iterator<Entry> queue = row.waiters().iterator();
            return !queue.next().equals(waiter)
                    && queue.hasNext()
                    && queue.next().equals(waiter);
        }
    }

    private static final class Bounded extends ReferenceStore {
        private static final int PLACES = 8;

        private final Map<Session, Set<Long>> places = new ConcurrentHashMap<>();

        Bounded(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Attempt attempt(Session session, Request request) throws NotExecutedException {
            long waiting =
                    show(request.key()).map(status -> status.waiters().size()).orElse(0);
            boolean here = waitsFor(session, request);
            Attempt result = super.attempt(
                    session,
                    request.queue() && !here && waiting >= PLACES ? AlteredRequests.withoutQueue(request) : request);
            places.computeIfAbsent(session, first -> ConcurrentHashMap.newKeySet());
            if (result instanceof Attempt.Waiting && (here || waiting < PLACES)) {
                places.get(session).add(request.id());
            } else {
                places.get(session).remove(request.id());
            }
            return result;
        }

        private boolean waitsFor(Session session, Request request) {
            return places.getOrDefault(session, Set.of()).contains(request.id());
        }
    }

    /** After a break its waiters ask under other ids, as if they had just come; their client does not see those. */
    private static final class Touchy extends ReferenceBackend {
        private static final long AGAIN = 1L << 50;

        private final ReferenceStore store;
        private final Set<Request> waiting = new HashSet<>();
        private final Map<Long, Long> again = new HashMap<>();

        Touchy(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
            store = world.store();
        }

        @Override
        public synchronized Attempt attempt(Request request, Duration limit) throws Exception {
            Attempt result = shown(super.attempt(current(request), limit), request);
            if (result instanceof Attempt.Waiting && request.queue()) {
                waiting.add(request);
            } else {
                waiting.remove(request);
            }
            return result;
        }

        @Override
        public synchronized Attempt convert(Grant held, Request wanted, Duration limit) throws Exception {
            return shown(super.convert(current(held), current(wanted), limit), wanted);
        }

        @Override
        public synchronized List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
            return super.renew(grants.stream().map(this::current).toList(), limit);
        }

        @Override
        public synchronized Answer release(Grant grant, Duration limit) throws Exception {
            return super.release(current(grant), limit);
        }

        @Override
        public synchronized Answer keep(Grant grant, Duration limit) throws Exception {
            return super.keep(current(grant), limit);
        }

        @Override
        public synchronized void withdraw(Request request, Duration limit) throws Exception {
            super.withdraw(current(request), limit);
        }

        @Override
        protected synchronized void connectionBroken() {
            for (Request request : waiting) {
                store.withdraw(session(), current(request));
                again.merge(request.id(), AGAIN, Long::sum);
            }
            waiting.clear();
        }

        private Request current(Request request) {
            return AlteredRequests.withId(request, current(request.id()));
        }

        private Grant current(Grant grant) {
            return withId(grant, current(grant.id()));
        }

        private long current(long id) {
            return id + again.getOrDefault(id, 0L);
        }

        private static Attempt shown(Attempt result, Request request) {
            return result instanceof Attempt.Granted granted
                    ? new Attempt.Granted(withId(granted.grant(), request.id()), granted.age())
                    : result;
        }

        private static Grant withId(Grant grant, long id) {
            return new Grant(id, grant.key(), grant.token(), grant.ttl(), grant.cookie());
        }
    }

    private static final class Familiar extends ReferenceStore {
        Familiar(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean isTurnOf(Row row, @Nullable Entry waiter, Request request) {
            String client = request.owner().client();
            boolean reads = request.mode() == LockMode.SHARED
                    && row.holders().stream()
                            .anyMatch(
                                    holder -> holder.request().owner().client().equals(client));
            return reads || super.isTurnOf(row, waiter, request);
        }
    }

    private static final class Single extends ReferenceStore {
        Single(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected @Nullable Entry next(Row row, @Nullable Entry left) {
            boolean reads = left == null
                    && !row.holders().isEmpty()
                    && row.holders().get(0).request().mode() == LockMode.SHARED;
            return reads ? null : super.next(row, left);
        }
    }

    private static final class Silent extends ReferenceStore {
        Silent(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected @Nullable Entry next(Row row, @Nullable Entry left) {
            return left != null && left.waits() ? null : super.next(row, left);
        }
    }
}
