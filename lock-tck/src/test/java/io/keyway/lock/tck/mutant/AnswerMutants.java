// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Defects in what a verb says when the store did not answer. */
final class AnswerMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.backend(
                    "76",
                    "all-not-executed",
                    "whatever goes wrong on the way is told as surely not executed",
                    "LK-1503",
                    Sure::new),
            Mutant.backend(
                    "77",
                    "withdrawal-swallowed",
                    "a withdrawal that was not answered returns as if it were done",
                    "LK-1512",
                    Careless::new),
            Mutant.backend(
                    "78",
                    "release-made-up",
                    "a release that was not answered is told as done",
                    "LK-1512",
                    (world, time, features, trouble) ->
                            new Inventive(world, time, features, trouble, Answer.DONE, Answer.UNKNOWN)),
            Mutant.backend(
                    "78b",
                    "release-denied",
                    "a release that was not answered is told as not held",
                    "LK-1512",
                    (world, time, features, trouble) ->
                            new Inventive(world, time, features, trouble, Answer.NOT_HELD, Answer.UNKNOWN)),
            Mutant.backend(
                    "79",
                    "renewal-denied",
                    "renewals that were not answered are told as not held",
                    "LK-1512",
                    (world, time, features, trouble) ->
                            new Inventive(world, time, features, trouble, Answer.UNKNOWN, Answer.NOT_HELD)),
            Mutant.backend(
                    "80",
                    "limit-ignored",
                    "a call that nobody answers lasts a minute, whatever its limit",
                    "LK-1505",
                    Unlimited::new));

    private AnswerMutants() {}

    private static final class Sure extends ReferenceBackend {
        Sure(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public Attempt attempt(Request request, Duration limit) throws Exception {
            try {
                return super.attempt(request, limit);
            } catch (IOException e) {
                throw new NotExecutedException("no answer", e);
            }
        }

        @Override
        public Answer release(Grant grant, Duration limit) throws Exception {
            try {
                return super.release(grant, limit);
            } catch (IOException e) {
                throw new NotExecutedException("no answer", e);
            }
        }
    }

    private static final class Careless extends ReferenceBackend {
        Careless(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public void withdraw(Request request, Duration limit) throws Exception {
            try {
                super.withdraw(request, limit);
            } catch (IOException e) {
                // Forgotten: that is the defect.
            }
        }
    }

    private static final class Inventive extends ReferenceBackend {
        private final Answer ofRelease;
        private final Answer ofRenewal;

        Inventive(
                ReferenceWorld world,
                TimeSource time,
                Set<Feature> features,
                String trouble,
                Answer ofRelease,
                Answer ofRenewal) {
            super(world, time, features, trouble);
            this.ofRelease = ofRelease;
            this.ofRenewal = ofRenewal;
        }

        @Override
        public Answer release(Grant grant, Duration limit) throws Exception {
            try {
                return super.release(grant, limit);
            } catch (IOException e) {
                return ofRelease;
            }
        }

        @Override
        public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
            try {
                return super.renew(grants, limit);
            } catch (IOException e) {
                return Collections.nCopies(grants.size(), ofRenewal);
            }
        }
    }

    private static final class Unlimited extends ReferenceBackend {
        private static final Duration MINUTE = Duration.ofMinutes(1);

        private final TimeSource time;

        Unlimited(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
            this.time = time;
        }

        @Override
        public Attempt attempt(Request request, Duration limit) throws Exception {
            try {
                return super.attempt(request, limit);
            } catch (IOException e) {
                CompletableFuture<Boolean> waits = new CompletableFuture<>();
                time.at(time.nanoTime() + MINUTE.toNanos(), () -> waits.complete(true));
                waits.get();
                throw e;
            }
        }
    }
}
