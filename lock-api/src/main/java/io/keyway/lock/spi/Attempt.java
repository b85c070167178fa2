// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;

/** What an attempt came to. */
public sealed interface Attempt {

    /**
     * The request has its grant, now or since an earlier attempt.
     *
     * @param grant the same for every attempt of one request
     * @param age how long before this attempt was called the word of the authority was asked for on which the grant
     *     stands; zero unless the store told unasked that the turn had come. Belief is counted from then
     */
    record Granted(Grant grant, Duration age) implements Attempt {
        /** Checks that nothing is null, and that the age is not negative. */
        public Granted {
            Objects.requireNonNull(grant, "grant");
            if (age.isNegative()) {
                throw new IllegalArgumentException("age " + age + " is negative");
            }
        }

        /** The word of the authority was asked for by this attempt. */
        public Granted(Grant grant) {
            this(grant, Duration.ZERO);
        }
    }

    /**
     * Others stand before the request.
     *
     * @param recheckWithin ask again within this time, even without a signal
     * @param ahead how many stand before it, where the store knows
     * @param holders who holds, where the store knows
     */
    record Waiting(Duration recheckWithin, OptionalInt ahead, List<Owner> holders) implements Attempt {
        /** Copies the list. */
        public Waiting {
            Objects.requireNonNull(recheckWithin, "recheckWithin");
            Objects.requireNonNull(ahead, "ahead");
            holders = List.copyOf(holders);
        }
    }

    /**
     * The request can never be granted, and nothing of it is left: of {@link LockBackend#convert}, and of an attempt whose
     * request was withdrawn.
     *
     * @param holders who holds, where the store knows
     */
    record Refused(List<Owner> holders) implements Attempt {
        /** Copies the list. */
        public Refused {
            holders = List.copyOf(holders);
        }
    }
}
