// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.kit.table.Entry;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.reference.Session;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Defects in what ends a grant, and in what is said of it. */
final class ReleaseMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.store(
                    "17",
                    "release-by-client",
                    "a release ends whatever its client holds of that name",
                    "LK-701",
                    ByClient::new),
            Mutant.store("18", "release-by-name", "a release ends whoever holds that name", "LK-701", ByName::new),
            Mutant.store(
                    "18b", "release-does-nothing", "a release is confirmed and ends nothing", "LK-708", Stubborn::new),
            Mutant.store(
                    "18c", "release-always-done", "the release of what has ended is confirmed", "LK-707", Polite::new),
            Mutant.backend(
                    "45", "reset-releases", "a broken connection ends the grants of its client", "LK-510", Touchy::new),
            Mutant.backend(
                    "46",
                    "error-is-refusal",
                    "an attempt whose answer is lost is told as refused",
                    "LK-1401",
                    Simple::new));

    private ReleaseMutants() {}

    private static final class ByClient extends ReferenceStore {
        ByClient(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected @Nullable Entry inForce(Row row, String client, Grant grant) {
            return row.holders().stream()
                    .filter(holder -> holder.client().equals(client))
                    .findFirst()
                    .orElse(null);
        }
    }

    private static final class ByName extends ReferenceStore {
        ByName(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected @Nullable Entry inForce(Row row, String client, Grant grant) {
            return row.holders().isEmpty() ? null : row.holders().get(0);
        }
    }

    private static final class Stubborn extends ReferenceStore {
        Stubborn(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Answer release(Session session, Grant grant) {
            return Answer.DONE;
        }
    }

    private static final class Polite extends ReferenceStore {
        Polite(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Answer release(Session session, Grant grant) {
            super.release(session, grant);
            return Answer.DONE;
        }
    }

    private static final class Touchy extends ReferenceBackend {
        private final ConcurrentLinkedQueue<Grant> granted = new ConcurrentLinkedQueue<>();
        private final ReferenceStore store;

        Touchy(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
            store = world.store();
        }

        @Override
        public Attempt attempt(Request request, Duration limit) throws Exception {
            Attempt result = super.attempt(request, limit);
            if (result instanceof Attempt.Granted grant) {
                granted.add(grant.grant());
            }
            return result;
        }

        @Override
        protected void connectionBroken() {
            for (Grant grant = granted.poll(); grant != null; grant = granted.poll()) {
                store.release(session(), grant);
            }
        }
    }

    private static final class Simple extends ReferenceBackend {
        Simple(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public Attempt attempt(Request request, Duration limit) throws Exception {
            try {
                return super.attempt(request, limit);
            } catch (IOException e) {
                return new Attempt.Waiting(request.ttl().dividedBy(4), OptionalInt.empty(), List.of());
            }
        }
    }
}
