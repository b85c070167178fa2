// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockStatus;
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
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Defects that come with time, with numbers, or with the second time. */
final class EnduranceMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.store(
                    "117",
                    "oust-after-half-a-minute",
                    "who has waited for half a minute is granted, whoever holds",
                    "LK-502",
                    Ousting::new),
            Mutant.store("118", "two-hundred-renewals", "a grant is renewed two hundred times", "LK-506", Tired::new),
            Mutant.store("119", "eight-readers", "a ninth reader waits for one to leave", "LK-1202", Narrow::new),
            Mutant.store(
                    "120",
                    "upgrade-stops-renewal",
                    "while its upgrade waits the renewal of a read grant is confirmed and extends nothing",
                    "LK-1205",
                    Distracted::new),
            Mutant.store("121", "wakes-once", "a client is told of a lock once", "LK-411", Once::new),
            Mutant.store(
                    "122",
                    "try-turns-the-queue",
                    "an attempt that does not queue puts the last of the queue first",
                    "LK-310",
                    (clock, tokensAbove) -> new Turning(clock, tokensAbove, false)),
            Mutant.store(
                    "122b",
                    "upgrade-turns-the-queue",
                    "the grant of an upgrade puts the last of the queue first",
                    "LK-310",
                    (clock, tokensAbove) -> new Turning(clock, tokensAbove, true)),
            Mutant.store(
                    "123",
                    "dead-writer-bars-readers",
                    "readers are kept out for a while after a writer that waited has died",
                    "LK-410",
                    Mourning::new),
            Mutant.store(
                    "123b",
                    "writer-hurries-readers",
                    "who waits gets from a reader half of its term",
                    "LK-502",
                    Hurrying::new),
            Mutant.store(
                    "124",
                    "renewal-drops-metadata",
                    "a grant that was renewed is shown without what its holder says of itself",
                    "LK-1101",
                    Terse::new),
            Mutant.store(
                    "125",
                    "shows-the-other-kind",
                    "of a key with nothing to show that of the other kind is shown",
                    "LK-1101",
                    Mistaking::new),
            Mutant.store("130", "ten-are-shown", "of all that hold a lock ten are shown", "LK-1101", Brief::new),
            Mutant.backend(
                    "131",
                    "metadata-of-the-first",
                    "a client is shown with the metadata of its first request",
                    "LK-1101",
                    Remembering::new),
            Mutant.store(
                    "132",
                    "permits-wake-one",
                    "the grant of permits wakes nobody, though there may be some for the next",
                    "LK-411",
                    Sparing::new),
            Mutant.store(
                    "133",
                    "reason-of-the-first",
                    "the reason of the first break of a lock is told at each later one",
                    "LK-1106",
                    Repeating::new));

    private EnduranceMutants() {}

    private static final class Ousting extends ReferenceStore {
        private static final long LONG = Duration.ofSeconds(30).toNanos();

        Ousting(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean admits(Row row, Request request, long now) {
            for (Entry waiter : row.waiters()) {
                if (waiter.request().equals(request) && now - waiter.since() > LONG) {
                    return true;
                }
            }
            return super.admits(row, request, now);
        }
    }

    private static final class Tired extends ReferenceStore {
        private static final int MOST = 200;

        private final Map<Long, Integer> renewed = new ConcurrentHashMap<>();

        Tired(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Answer renew(Session session, Grant grant) {
            return renewed.merge(grant.token(), 1, Integer::sum) > MOST ? Answer.NOT_HELD : super.renew(session, grant);
        }
    }

    private static final class Narrow extends ReferenceStore {
        private static final int MOST = 8;

        Narrow(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean admits(Row row, Request request, long now) {
            return super.admits(row, request, now)
                    && (request.mode() != LockMode.SHARED || row.holders().size() < MOST);
        }
    }

    private static final class Distracted extends ReferenceStore {
        private final Set<Long> waiting = ConcurrentHashMap.newKeySet();

        Distracted(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Attempt convert(Session session, Grant held, Request wanted) throws NotExecutedException {
            Attempt result = super.convert(session, held, wanted);
            if (result instanceof Attempt.Waiting && wanted.queue()) {
                waiting.add(held.token());
            } else {
                waiting.remove(held.token());
            }
            return result;
        }

        @Override
        public Answer renew(Session session, Grant grant) {
            return waiting.contains(grant.token()) ? Answer.DONE : super.renew(session, grant);
        }
    }

    private static final class Once extends ReferenceStore {
        private record Told(String client, LockKey key) {}

        private final Set<Told> told = ConcurrentHashMap.newKeySet();

        Once(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected @Nullable Entry next(Row row, @Nullable Entry left) {
            Entry next = super.next(row, left);
            return next != null
                            && told.add(new Told(next.client(), next.request().key()))
                    ? next
                    : null;
        }
    }

    private static final class Turning extends ReferenceStore {
        private final boolean byUpgrades;
        private final Set<LockKey> turned = ConcurrentHashMap.newKeySet();

        Turning(LongSupplier clock, long tokensAbove, boolean byUpgrades) {
            super(clock, tokensAbove);
            this.byUpgrades = byUpgrades;
        }

        @Override
        public Attempt attempt(Session session, Request request) throws NotExecutedException {
            if (!byUpgrades && !request.queue()) {
                turned.add(request.key());
            }
            return super.attempt(session, request);
        }

        @Override
        public Attempt convert(Session session, Grant held, Request wanted) throws NotExecutedException {
            if (byUpgrades && wanted.mode() == LockMode.EXCLUSIVE) {
                turned.add(wanted.key());
            }
            return super.convert(session, held, wanted);
        }

        @Override
        protected boolean isTurnOf(Row row, @Nullable Entry waiter, Request request) {
            if (waiter == null || !turned.contains(request.key())) {
                return super.isTurnOf(row, waiter, request);
            }
            Entry last = waiter;
            for (Entry place : row.waiters()) {
                last = place;
            }
            return last.equals(waiter);
        }
    }

    private static final class Mourning extends ReferenceStore {
        private static final long LONG = Duration.ofSeconds(20).toNanos();

        /** Until when writers that wait are kept, if nothing is heard of them. */
        private final Map<Request, Long> writers = new ConcurrentHashMap<>();

        Mourning(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            long end = super.expiry(request, holds, now);
            if (holds) {
                writers.remove(request);
            } else if (request.mode() == LockMode.EXCLUSIVE) {
                writers.put(request, end);
            }
            return end;
        }

        @Override
        public void withdraw(Session session, Request request) {
            writers.remove(request);
            super.withdraw(session, request);
        }

        @Override
        protected boolean admits(Row row, Request request, long now) {
            boolean barred = request.mode() == LockMode.SHARED
                    && writers.entrySet().stream()
                            .filter(writer -> writer.getKey().key().equals(request.key()))
                            .anyMatch(writer -> now - writer.getValue() < LONG);
            return !barred && super.admits(row, request, now);
        }
    }

    private static final class Hurrying extends ReferenceStore {
        Hurrying(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean admits(Row row, Request request, long now) {
            boolean late = row.holders().stream()
                    .allMatch(holder -> holder.request().mode() == LockMode.SHARED
                            && now - holder.since() > holder.request().ttl().toNanos() / 8 * 5);
            return late || super.admits(row, request, now);
        }
    }

    private static final class Terse extends ReferenceStore {
        private final Set<Long> renewed = ConcurrentHashMap.newKeySet();

        Terse(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Answer renew(Session session, Grant grant) {
            renewed.add(grant.token());
            return super.renew(session, grant);
        }

        @Override
        public Optional<LockStatus> show(LockKey key) throws NotExecutedException {
            return super.show(key)
                    .map(status -> new LockStatus(
                            status.key(),
                            status.holders().stream().map(this::shown).toList(),
                            status.waiters()));
        }

        private LockStatus.Holder shown(LockStatus.Holder holder) {
            return renewed.contains(holder.token().orElse(0))
                    ? new LockStatus.Holder(
                            holder.client(), holder.mode(), holder.permits(), holder.token(), holder.since(), Map.of())
                    : holder;
        }
    }

    private static final class Mistaking extends ReferenceStore {
        Mistaking(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Optional<LockStatus> show(LockKey key) throws NotExecutedException {
            Optional<LockStatus> own = super.show(key);
            LockKey other = key.kind() == LockKey.Kind.LOCK ? LockKey.semaphore(key.name()) : LockKey.lock(key.name());
            return own.isPresent() ? own : super.show(other);
        }
    }

    private static final class Brief extends ReferenceStore {
        private static final int MOST = 10;

        Brief(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Optional<LockStatus> show(LockKey key) throws NotExecutedException {
            return super.show(key)
                    .map(status -> new LockStatus(
                            status.key(), status.holders().stream().limit(MOST).toList(), status.waiters()));
        }
    }

    private static final class Remembering extends ReferenceBackend {
        private @Nullable Owner first;

        Remembering(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public Attempt attempt(Request request, Duration limit) throws Exception {
            Owner owner = first == null ? request.owner() : first;
            first = owner;
            return super.attempt(AlteredRequests.by(owner, request), limit);
        }
    }

    private static final class Sparing extends ReferenceStore {
        Sparing(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected @Nullable Entry next(Row row, @Nullable Entry left) {
            Entry next = super.next(row, left);
            return left == null && next != null && next.request().mode() == LockMode.PERMITS ? null : next;
        }
    }

    private static final class Repeating extends ReferenceStore {
        private final Map<LockKey, String> first = new ConcurrentHashMap<>();

        Repeating(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public boolean breakGrant(LockKey key, long token, String reason) throws NotExecutedException {
            return super.breakGrant(key, token, first.computeIfAbsent(key, of -> reason));
        }
    }
}
