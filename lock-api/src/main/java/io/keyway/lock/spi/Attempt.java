// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
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
        /**
         * Checks that nothing is null, and that the age is not negative.
         *
         * @param grant see the record
         * @param age see the record
         */
        public Granted {
            Objects.requireNonNull(grant, "grant");
            if (age.isNegative()) {
                throw new IllegalArgumentException("age " + age + " is negative");
            }
        }

        /**
         * The word of the authority was asked for by this attempt.
         *
         * @param grant the grant
         */
        public Granted(Grant grant) {
            this(grant, Duration.ZERO);
        }
    }

    /**
     * Others stand before the request. Also the answer to one that does not queue, of which the kit reads only the
     * holders then: it is over, {@link LockEngine.Sink#refused}, and is withdrawn only if an earlier attempt was not
     * answered.
     *
     * @param recheckWithin ask again within this time, even without a signal; the kit does after three quarters of it
     *     at the earliest. It does not shorten it to the ttl: if a place that nothing is heard of ends after its ttl, a
     *     longer time loses the place. A quarter of the ttl, or less, leaves time for attempts that fail
     * @param ahead how many stand before it, where the store knows: all that hold, and those that wait before it. If it
     *     is empty, or more than {@code holders} has, the kit takes it that others wait before it
     * @param holders who holds, where the store knows; may be some of many
     * @param broken the grant of this very request, if it was broken and its place stands still: nothing else is done
     *     then. The kit, which knows that nobody believes in it if it hears this, answers by
     *     {@link LockBackend#release} and attempts again, also for a request that does not queue
     */
    record Waiting(Duration recheckWithin, OptionalInt ahead, List<Owner> holders, Optional<Grant> broken)
            implements Attempt {
        /**
         * Copies the list.
         *
         * @param recheckWithin see the record
         * @param ahead see the record
         * @param holders see the record
         * @param broken see the record
         */
        public Waiting {
            Objects.requireNonNull(recheckWithin, "recheckWithin");
            Objects.requireNonNull(ahead, "ahead");
            Objects.requireNonNull(broken, "broken");
            holders = List.copyOf(holders);
        }

        /**
         * It has no grant that was broken.
         *
         * @param recheckWithin ask again within this time
         * @param ahead how many stand before it, where the store knows
         * @param holders who holds, where the store knows
         */
        public Waiting(Duration recheckWithin, OptionalInt ahead, List<Owner> holders) {
            this(recheckWithin, ahead, holders, Optional.empty());
        }
    }

    /**
     * The request can never be granted, and nothing of it is left: of {@link LockBackend#convert}, and of an attempt
     * whose request was withdrawn (which may as well throw {@link NotExecutedException}). That another holds the lock
     * is {@link Waiting}, also for a request that does not queue.
     *
     * @param holders who holds, where the store knows
     */
    record Refused(List<Owner> holders) implements Attempt {
        /**
         * Copies the list.
         *
         * @param holders see the record
         */
        public Refused {
            holders = List.copyOf(holders);
        }
    }
}
