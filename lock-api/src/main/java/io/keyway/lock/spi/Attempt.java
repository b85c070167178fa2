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
     */
    record Granted(Grant grant) implements Attempt {
        /** Checks that it is not null. */
        public Granted {
            Objects.requireNonNull(grant, "grant");
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
     * The request can never be granted, and nothing of it is left; of {@link LockBackend#convert} only.
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
