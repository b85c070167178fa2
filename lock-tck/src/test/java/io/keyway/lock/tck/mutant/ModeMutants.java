// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.LockMode;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.Session;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** Defects in how readers and writers go together. */
final class ModeMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.store("34", "readers-exclude", "readers exclude each other", "LK-1202", Lonely::new),
            Mutant.store("35", "upgrades-hang", "of two readers that want to write both wait", "LK-1204", Patient::new),
            Mutant.store(
                    "36",
                    "downgrade-in-two-steps",
                    "a downgrade releases, and then asks to read",
                    "LK-1206",
                    (clock, tokensAbove) -> new TwoSteps(clock, tokensAbove, LockMode.SHARED)),
            Mutant.store(
                    "36b",
                    "upgrade-in-two-steps",
                    "an upgrade releases, and then asks to write",
                    "LK-1205",
                    (clock, tokensAbove) -> new TwoSteps(clock, tokensAbove, LockMode.EXCLUSIVE)),
            Mutant.store(
                    "69",
                    "upgrade-stays",
                    "an upgrade that was given up stays before all that wait",
                    "LK-1205",
                    Lasting::new),
            Mutant.store(
                    "93",
                    "upgrade-outlives-its-reader",
                    "a reader that waits for its upgrade is kept though it is not heard any more",
                    "LK-410",
                    Immortal::new),
            Mutant.store(
                    "94",
                    "upgrade-not-undone",
                    "the withdrawal of an upgrade that was granted ends the read grant with it",
                    "LK-1205",
                    Thorough::new),
            Mutant.store(
                    "94b",
                    "undone-upgrade-has-its-old-term",
                    "an upgrade that is withdrawn leaves the read grant the term that it had before",
                    "LK-1205",
                    Rewinding::new));

    private ModeMutants() {}

    private static final class Lonely extends ReferenceStore {
        Lonely(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean admits(Row row, Request request, long now) {
            return super.admits(row, request, now)
                    && (request.mode() != LockMode.SHARED || row.holders().isEmpty());
        }
    }

    private static final class Patient extends ReferenceStore {
        Patient(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Attempt convert(Session session, Grant held, Request wanted) throws NotExecutedException {
            Attempt result = super.convert(session, held, wanted);
            return result instanceof Attempt.Refused refused && wanted.queue()
                    ? new Attempt.Waiting(recheckWithin(wanted), OptionalInt.empty(), refused.holders())
                    : result;
        }
    }

    /** Changes to that mode by a release and an attempt. */
    private static final class TwoSteps extends ReferenceStore {
        private final LockMode to;

        TwoSteps(LongSupplier clock, long tokensAbove, LockMode to) {
            super(clock, tokensAbove);
            this.to = to;
        }

        @Override
        public Attempt convert(Session session, Grant held, Request wanted) throws NotExecutedException {
            if (wanted.mode() != to) {
                return super.convert(session, held, wanted);
            }
            release(session, held);
            return attempt(session, wanted);
        }
    }

    private static final class Lasting extends ReferenceStore {
        private final Map<Session, Set<Long>> upgrades = new HashMap<>();

        Lasting(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Attempt convert(Session session, Grant held, Request wanted) throws NotExecutedException {
            upgrades.computeIfAbsent(session, fresh -> new HashSet<>()).add(wanted.id());
            return super.convert(session, held, wanted);
        }

        @Override
        public void withdraw(Session session, Request request) {
            if (!upgrades.getOrDefault(session, Set.of()).contains(request.id())) {
                super.withdraw(session, request);
            }
        }
    }

    private static final class Immortal extends ReferenceStore {
        private static final long AGES = Duration.ofHours(1).toNanos();

        private boolean lasting;

        Immortal(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public synchronized Attempt convert(Session session, Grant held, Request wanted) throws NotExecutedException {
            lasting = true;
            try {
                Attempt result = super.convert(session, held, wanted);
                if (result instanceof Attempt.Waiting) {
                    var unused = super.renew(session, held);
                }
                return result;
            } finally {
                lasting = false;
            }
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            return lasting ? now + AGES : super.expiry(request, holds, now);
        }
    }

    private static final class Thorough extends ReferenceStore {
        private final Map<Request, Grant> upgraded = new ConcurrentHashMap<>();

        Thorough(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Attempt convert(Session session, Grant held, Request wanted) throws NotExecutedException {
            Attempt result = super.convert(session, held, wanted);
            if (result instanceof Attempt.Granted granted) {
                upgraded.put(wanted, granted.grant());
            }
            return result;
        }

        @Override
        public void withdraw(Session session, Request request) {
            Grant grant = upgraded.remove(request);
            if (grant != null) {
                var unused = release(session, grant);
            }
            super.withdraw(session, request);
        }
    }

    private static final class Rewinding extends ReferenceStore {
        private final Map<Request, Long> ends = new ConcurrentHashMap<>();
        private final Map<Request, Grant> upgraded = new ConcurrentHashMap<>();
        private final ThreadLocal<Boolean> rewinding = ThreadLocal.withInitial(() -> false);

        Rewinding(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            long end = super.expiry(request, holds, now);
            if (rewinding.get()) {
                return ends.getOrDefault(request, end);
            }
            if (holds && request.mode() == LockMode.SHARED) {
                ends.put(request, end);
            }
            return end;
        }

        @Override
        public Attempt convert(Session session, Grant held, Request wanted) throws NotExecutedException {
            Attempt result = super.convert(session, held, wanted);
            if (result instanceof Attempt.Granted) {
                upgraded.put(wanted, held);
            }
            return result;
        }

        @Override
        public void withdraw(Session session, Request request) {
            super.withdraw(session, request);
            Grant read = upgraded.remove(request);
            if (read != null) {
                rewinding.set(true);
                renew(session, read);
                rewinding.set(false);
            }
        }
    }
}
