// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.Session;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Defects in what an operator is shown. */
final class ListingMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.store("56", "since-zero", "a holder is shown as one that has just come", "LK-1101", Fresh::new),
            Mutant.store("57", "list-without-semaphores", "a listing shows locks only", "LK-1101", LocksOnly::new),
            Mutant.store(
                    "58",
                    "shows-who-has-left",
                    "a holder is shown for a while after it has left",
                    "LK-1101",
                    Late::new),
            Mutant.store(
                    "59",
                    "permits-without-metadata",
                    "what holders say of themselves is kept for locks, and not for semaphores",
                    "LK-1101",
                    Mute::new),
            page("95", "prefix-is-a-pattern", "the _ of a prefix stands for any character", PageMutant::byPattern),
            page("95b", "prefix-of-segments", "a prefix ends where a segment does", PageMutant::bySegments),
            page("96", "cursor-counts", "the cursor of a listing counts what it has shown", PageMutant::byCount),
            page("97", "waited-for-is-free", "a listing shows what is held only", PageMutant::heldOnly),
            Mutant.store(
                    "97b",
                    "upgrade-not-shown",
                    "a reader that waits to write is shown as a reader only",
                    "LK-1101",
                    Discreet::new),
            Mutant.store(
                    "98", "since-last-renewal", "a holder is shown since its last renewal", "LK-1101", Renewed::new),
            Mutant.store("98b", "since-it-asked", "a holder is shown since it asked", "LK-1110", Impatient::new));

    private static Mutant page(String number, String name, String defect, PageMutant.Pages pages) {
        return Mutant.store(
                number, name, defect, "LK-1101", (clock, tokensAbove) -> new PageMutant(clock, tokensAbove, pages));
    }

    private ListingMutants() {}

    private static LockStatus altered(LockStatus status, UnaryOperator<LockStatus.Holder> holder) {
        return new LockStatus(
                status.key(), status.holders().stream().map(holder).toList(), status.waiters());
    }

    private static final class Fresh extends ReferenceStore {
        Fresh(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Optional<LockStatus> show(LockKey key) throws NotExecutedException {
            return super.show(key).map(status -> altered(status, holder -> shownSince(Duration.ZERO, holder)));
        }
    }

    private static final class LocksOnly extends ReferenceStore {
        LocksOnly(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public LockPage list(String prefix, Optional<String> after, int max) throws NotExecutedException {
            LockPage page = super.list(prefix, after, max);
            return new LockPage(
                    page.locks().stream()
                            .filter(status -> status.key().kind() == LockKey.Kind.LOCK)
                            .toList(),
                    page.next());
        }
    }

    private static final class Late extends ReferenceStore {
        private record Seen(LockStatus status, long at) {}

        private final LongSupplier clock;
        private final Map<LockKey, Seen> seen = new HashMap<>();

        Late(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
            this.clock = clock;
        }

        @Override
        public Optional<LockStatus> show(LockKey key) throws NotExecutedException {
            long now = clock.getAsLong();
            Optional<LockStatus> status = super.show(key);
            status.ifPresent(current -> seen.put(key, new Seen(current, now)));
            Seen last = seen.get(key);
            boolean lately =
                    last != null && now - last.at() < Duration.ofSeconds(20).toNanos();
            return status.isEmpty() && lately ? Optional.of(last.status()) : status;
        }
    }

    private static final class Mute extends ReferenceStore {
        Mute(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Optional<LockStatus> show(LockKey key) throws NotExecutedException {
            Optional<LockStatus> shown = super.show(key);
            return key.kind() == LockKey.Kind.LOCK ? shown : shown.map(status -> altered(status, Mute::silent));
        }

        private static LockStatus.Holder silent(LockStatus.Holder holder) {
            return new LockStatus.Holder(
                    holder.client(), holder.mode(), holder.permits(), holder.token(), holder.since(), Map.of());
        }
    }

    private static final class Discreet extends ReferenceStore {
        Discreet(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Optional<LockStatus> show(LockKey key) throws NotExecutedException {
            return super.show(key).map(Discreet::withoutUpgrades);
        }

        private static LockStatus withoutUpgrades(LockStatus status) {
            List<String> readers = status.holders().stream()
                    .filter(holder -> holder.mode() == LockMode.SHARED)
                    .map(LockStatus.Holder::client)
                    .toList();
            return new LockStatus(
                    status.key(),
                    status.holders(),
                    status.waiters().stream()
                            .filter(waiter -> !readers.contains(waiter.client()))
                            .toList());
        }
    }

    private static final class Renewed extends ReferenceStore {
        private final LongSupplier clock;
        private final Map<Long, Long> renewed = new ConcurrentHashMap<>();

        Renewed(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
            this.clock = clock;
        }

        @Override
        public Answer renew(Session session, Grant grant) {
            renewed.put(grant.token(), clock.getAsLong());
            return super.renew(session, grant);
        }

        @Override
        public Optional<LockStatus> show(LockKey key) throws NotExecutedException {
            return super.show(key).map(status -> altered(status, this::since));
        }

        private LockStatus.Holder since(LockStatus.Holder holder) {
            return shownSince(renewed.get(holder.token().orElseThrow()), holder, clock);
        }
    }

    private static final class Impatient extends ReferenceStore {
        private final LongSupplier clock;
        private final Map<Request, Long> asked = new ConcurrentHashMap<>();
        private final Map<Long, Long> granted = new ConcurrentHashMap<>();

        Impatient(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
            this.clock = clock;
        }

        @Override
        public Attempt attempt(Session session, Request request) throws NotExecutedException {
            asked.putIfAbsent(request, clock.getAsLong());
            Attempt attempt = super.attempt(session, request);
            if (attempt instanceof Attempt.Granted made) {
                granted.putIfAbsent(made.grant().token(), Objects.requireNonNull(asked.get(request)));
            }
            return attempt;
        }

        @Override
        public Optional<LockStatus> show(LockKey key) throws NotExecutedException {
            return super.show(key).map(status -> altered(status, this::since));
        }

        private LockStatus.Holder since(LockStatus.Holder holder) {
            return shownSince(granted.get(holder.token().orElseThrow()), holder, clock);
        }
    }

    /** Since that time, if there is one. */
    private static LockStatus.Holder shownSince(@Nullable Long begin, LockStatus.Holder holder, LongSupplier clock) {
        return begin == null ? holder : shownSince(Duration.ofNanos(clock.getAsLong() - begin), holder);
    }

    private static LockStatus.Holder shownSince(Duration since, LockStatus.Holder holder) {
        return new LockStatus.Holder(
                holder.client(), holder.mode(), holder.permits(), holder.token(), since, holder.metadata());
    }
}
