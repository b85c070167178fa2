// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockStatus;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.reference.Session;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** Defects around grants that are broken, change their mode, or are looked at. */
final class BreakMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.store(
                    "111",
                    "break-frees-readers",
                    "the place of a broken grant is kept for writers alone",
                    "LK-1105",
                    Hasty::new),
            Mutant.store(
                    "111b",
                    "broken-again",
                    "a break of a grant that was broken before is said to be done",
                    "LK-1104",
                    Agreeing::new),
            Mutant.backend(
                    "111c",
                    "own-break-frees",
                    "a break by the client of the holder does not wait for the holder",
                    "LK-1105",
                    Selfish::new),
            Mutant.store(
                    "111d",
                    "late-attempt-frees",
                    "an attempt takes away the place of its own grant, which was broken",
                    "LK-1105",
                    Forgetful::new),
            Mutant.store(
                    "112",
                    "upgrade-behind-the-queue",
                    "an upgrade waits for those that wait for its own read grant",
                    "LK-1204",
                    Patient::new),
            Mutant.store(
                    "113",
                    "waiters-without-metadata",
                    "what waiters say of themselves is not shown",
                    "LK-1101",
                    Mute::new));

    private BreakMutants() {}

    private static final class Hasty extends ReferenceStore {
        private final Set<Long> broken = ConcurrentHashMap.newKeySet();

        Hasty(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public boolean breakGrant(LockKey key, long token, String reason) throws NotExecutedException {
            show(key).stream()
                    .flatMap(status -> status.holders().stream())
                    .filter(holder -> holder.mode() != LockMode.EXCLUSIVE)
                    .filter(holder -> holder.token().orElse(0) == token)
                    .forEach(holder -> broken.add(token));
            return super.breakGrant(key, token, reason);
        }

        @Override
        protected boolean admits(Row row, Request request, long now) {
            boolean gone = row.holders().stream()
                    .allMatch(holder -> broken.contains(holder.grant().token()));
            return gone || super.admits(row, request, now);
        }
    }

    private static final class Forgetful extends ReferenceStore {
        private final Map<Long, Grant> granted = new ConcurrentHashMap<>();
        private final Set<Long> broken = ConcurrentHashMap.newKeySet();

        Forgetful(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Attempt attempt(Session session, Request request) throws NotExecutedException {
            for (Grant grant : granted.values()) {
                if (grant.id() == request.id() && grant.key().equals(request.key()) && broken.remove(grant.token())) {
                    super.release(session, grant);
                }
            }
            Attempt result = super.attempt(session, request);
            if (result instanceof Attempt.Granted now) {
                granted.put(now.grant().token(), now.grant());
            }
            return result;
        }

        @Override
        public boolean breakGrant(LockKey key, long token, String reason) throws NotExecutedException {
            boolean done = super.breakGrant(key, token, reason);
            if (done) {
                broken.add(token);
            }
            return done;
        }
    }

    private static final class Agreeing extends ReferenceStore {
        Agreeing(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public boolean breakGrant(LockKey key, long token, String reason) throws NotExecutedException {
            boolean there = show(key).stream()
                    .flatMap(status -> status.holders().stream())
                    .anyMatch(holder -> holder.token().orElse(0) == token);
            return super.breakGrant(key, token, reason) || there;
        }
    }

    private static final class Patient extends ReferenceStore {
        Patient(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Attempt convert(Session session, Grant held, Request wanted) throws NotExecutedException {
            boolean others = show(wanted.key()).stream()
                    .anyMatch(status -> !status.waiters().isEmpty());
            return wanted.mode() == LockMode.EXCLUSIVE && others
                    ? new Attempt.Waiting(Duration.ofMillis(100), OptionalInt.empty(), List.of())
                    : super.convert(session, held, wanted);
        }
    }

    private static final class Mute extends ReferenceStore {
        Mute(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Optional<LockStatus> show(LockKey key) throws NotExecutedException {
            return super.show(key)
                    .map(status -> new LockStatus(
                            status.key(),
                            status.holders(),
                            status.waiters().stream()
                                    .map(waiter -> new LockStatus.Waiter(
                                            waiter.client(),
                                            waiter.mode(),
                                            waiter.permits(),
                                            waiter.token(),
                                            waiter.since(),
                                            Map.of()))
                                    .toList()));
        }
    }

    private static final class Selfish extends ReferenceBackend {
        private final Map<Long, Grant> own = new ConcurrentHashMap<>();

        Selfish(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public Attempt attempt(Request request, Duration limit) throws Exception {
            Attempt result = super.attempt(request, limit);
            if (result instanceof Attempt.Granted granted) {
                own.put(granted.grant().token(), granted.grant());
            }
            return result;
        }

        @Override
        public boolean breakGrant(LockKey key, long token, String reason, Duration limit) throws Exception {
            boolean broken = super.breakGrant(key, token, reason, limit);
            Grant grant = own.remove(token);
            if (broken && grant != null) {
                super.release(grant, limit);
            }
            return broken;
        }
    }
}
