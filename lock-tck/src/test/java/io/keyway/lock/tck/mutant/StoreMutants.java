// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.reference.Session;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.LongSupplier;

/** Defects in names, listings, breaks and restarts. */
final class StoreMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.store("47", "names-folded", "names that differ by case are one lock", "LK-103", Folding::new),
            Mutant.store(
                    "47b",
                    "names-truncated",
                    "names are told apart by their first 63 characters",
                    "LK-103",
                    Shortening::new),
            Mutant.store("47c", "names-hashed", "names are told apart by their hash code", "LK-103", Hashing::new),
            Mutant.store(
                    "47d",
                    "kinds-mixed",
                    "a lock and a semaphore of one name share their state",
                    "LK-105",
                    Mixing::new),
            Mutant.store(
                    "51",
                    "restart-opens-at-once",
                    "a store that has forgotten its grants grants at once",
                    "LK-1510",
                    Amnesic::new),
            Mutant.store(
                    "169",
                    "closed-says-taken",
                    "a store that was just started, and grants nothing yet, says that another is before the request",
                    "LK-401",
                    Excuse::new),
            Mutant.store("52", "list-forgets", "a listing ends after its first page", "LK-1101", Brief::new),
            Mutant.store("53", "break-by-name", "a break ends whoever holds", "LK-1104", Brute::new),
            Mutant.store(
                    "53b", "break-of-all-readers", "a break of one reader ends all readers", "LK-1104", Sweeping::new),
            Mutant.store(
                    "101",
                    "reason-in-ascii",
                    "of the reason of a break only the ASCII characters arrive",
                    "LK-1106",
                    Plain::new),
            Mutant.backend(
                    "102",
                    "fewer-than-declared",
                    "a client has fewer features than its provider declares",
                    "LK-210",
                    StoreMutants::withoutUpgrade));

    private StoreMutants() {}

    private static String kind(LockKey key) {
        return key.kind() == LockKey.Kind.LOCK ? "\n0" : "\n1";
    }

    private static final class Folding extends ReferenceStore {
        Folding(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected String slot(LockKey key) {
            return key.name().value().toLowerCase(Locale.ROOT) + kind(key);
        }
    }

    private static final class Shortening extends ReferenceStore {
        Shortening(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected String slot(LockKey key) {
            String name = key.name().value();
            return name.substring(0, Math.min(63, name.length())) + kind(key);
        }
    }

    private static final class Hashing extends ReferenceStore {
        Hashing(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected String slot(LockKey key) {
            return key.name().value().hashCode() + kind(key);
        }
    }

    private static final class Mixing extends ReferenceStore {
        Mixing(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected String slot(LockKey key) {
            return key.name().value();
        }
    }

    private static final class Excuse extends ReferenceStore {
        Excuse(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Attempt attempt(Session session, Request request) {
            try {
                return super.attempt(session, request);
            } catch (NotExecutedException e) {
                return new Attempt.Waiting(recheckWithin(request), OptionalInt.of(1), List.of());
            }
        }
    }

    private static final class Amnesic extends ReferenceStore {
        Amnesic(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public void restart() {
            forgetAll();
        }
    }

    private static final class Brief extends ReferenceStore {
        Brief(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public LockPage list(String prefix, Optional<String> after, int max) throws NotExecutedException {
            return new LockPage(super.list(prefix, after, max).locks(), Optional.empty());
        }
    }

    private static final class Brute extends ReferenceStore {
        Brute(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public boolean breakGrant(LockKey key, long token, String reason) throws NotExecutedException {
            long current = show(key).map(LockStatus::holders).orElse(List.of()).stream()
                    .mapToLong(holder -> holder.token().orElseThrow())
                    .findFirst()
                    .orElse(token);
            return super.breakGrant(key, current, reason);
        }
    }

    private static final class Sweeping extends ReferenceStore {
        Sweeping(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public boolean breakGrant(LockKey key, long token, String reason) throws NotExecutedException {
            boolean done = super.breakGrant(key, token, reason);
            for (LockStatus.Holder holder : show(key).map(LockStatus::holders).orElse(List.of())) {
                if (done && holder.mode() == LockMode.SHARED) {
                    super.breakGrant(key, holder.token().orElseThrow(), reason);
                }
            }
            return done;
        }
    }

    private static ReferenceBackend withoutUpgrade(
            ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
        Set<Feature> fewer = EnumSet.copyOf(features);
        fewer.remove(Feature.UPGRADE);
        return new ReferenceBackend(world, time, fewer, trouble);
    }

    private static final class Plain extends ReferenceStore {
        Plain(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public boolean breakGrant(LockKey key, long token, String reason) throws NotExecutedException {
            return super.breakGrant(key, token, reason.replaceAll("[^ -~]", "?"));
        }
    }
}
