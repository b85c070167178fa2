// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.TimeSource;
import io.keyway.lock.tck.reference.ReferenceBackend;
import io.keyway.lock.tck.reference.ReferenceWorld;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/** Defects in the renewal of several leases by one message. */
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
                    MixedUp::new));

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
}
