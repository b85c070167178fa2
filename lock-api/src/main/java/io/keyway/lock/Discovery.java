// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.spi.LockProvider;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What a look for providers found.
 *
 * @param providers those that can be used, in the order of the class path
 * @param failures those that cannot, and why
 */
public record Discovery(List<LockProvider> providers, List<Failure> failures) {

    /**
     * Copies the lists.
     *
     * @param providers see the record
     * @param failures see the record
     */
    public Discovery {
        providers = List.copyOf(providers);
        failures = List.copyOf(failures);
    }

    /**
     * A provider that cannot be used.
     *
     * @param source the class or the services file, as far as it is known
     * @param reason why, for people
     * @param cause what was thrown, if anything
     */
    public record Failure(String source, String reason, Optional<Throwable> cause) {
        /**
         * Checks that nothing is null.
         *
         * @param source see the record
         * @param reason see the record
         * @param cause see the record
         */
        public Failure {
            Objects.requireNonNull(source, "source");
            Objects.requireNonNull(reason, "reason");
            Objects.requireNonNull(cause, "cause");
        }
    }
}
