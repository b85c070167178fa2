// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.LockMode;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Defects in what is left of a conversion that was carried out. */
final class ConversionMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.backend(
                    "126",
                    "conversion-once",
                    "a conversion that is repeated is refused, since what it converts is not there any more",
                    "LK-1501",
                    Once::new),
            Mutant.backend(
                    "127",
                    "found-by-its-old-token",
                    "a grant that was converted is found by the id and token that it had before, too",
                    "LK-701",
                    Redirecting::new),
            Mutant.backend(
                    "128",
                    "downgrade-not-withdrawn",
                    "the withdrawal of a downgrade does nothing",
                    "LK-1502",
                    Keeping::new),
            Mutant.backend(
                    "129",
                    "undone-twice",
                    "a second withdrawal of an upgrade ends the read grant that the first has left",
                    "LK-1205",
                    Twice::new));

    private ConversionMutants() {}

    /** Tells a subclass what became what. */
    private abstract static class Converting extends ReferenceBackend {
        /** What a request has converted. */
        final Map<Long, Grant> before = new ConcurrentHashMap<>();

        /** What a grant has become, by its token. */
        final Map<Long, Grant> after = new ConcurrentHashMap<>();

        Converting(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public Attempt convert(Grant held, Request wanted, Duration limit) throws Exception {
            Attempt result = super.convert(held, wanted, limit);
            if (result instanceof Attempt.Granted granted) {
                before.put(wanted.id(), held);
                after.put(held.token(), granted.grant());
            }
            return result;
        }
    }

    private static final class Once extends Converting {
        Once(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public Attempt convert(Grant held, Request wanted, Duration limit) throws Exception {
            return before.containsKey(wanted.id())
                    ? new Attempt.Refused(List.of())
                    : super.convert(held, wanted, limit);
        }
    }

    private static final class Redirecting extends Converting {
        Redirecting(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
            return super.renew(
                    grants.stream()
                            .map(grant -> after.getOrDefault(grant.token(), grant))
                            .toList(),
                    limit);
        }
    }

    private static final class Keeping extends Converting {
        Keeping(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public void withdraw(Request request, Duration limit) throws Exception {
            if (request.mode() != LockMode.SHARED || !before.containsKey(request.id())) {
                super.withdraw(request, limit);
            }
        }
    }

    private static final class Twice extends Converting {
        private final Set<Long> undone = ConcurrentHashMap.newKeySet();

        Twice(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public void withdraw(Request request, Duration limit) throws Exception {
            super.withdraw(request, limit);
            Grant read = before.get(request.id());
            if (read != null && !undone.add(request.id())) {
                super.release(read, limit);
            }
        }
    }
}
