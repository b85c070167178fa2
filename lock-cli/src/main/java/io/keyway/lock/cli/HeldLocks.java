// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseSet;
import io.keyway.lock.LockName;
import io.keyway.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

/** What a command runs under: one lease, or those of several locks, which are believed together. */
interface HeldLocks extends AutoCloseable {
    /** The lock, or the locks, by name, for a sentence. */
    String names();

    /** The names with the verb of their loss, as {@code the lock n was}. */
    String subject();

    /** The fencing token of one lock; empty for several. */
    OptionalLong token();

    /** Adds what the command needs to know about its locks. */
    void describe(Map<String, String> environment);

    Duration ttl();

    Duration remaining();

    boolean isHeld();

    CompletionStage<LeaseLoss> lost();

    ReleaseOutcome release();

    @Override
    void close();

    static HeldLocks of(Lease lease) {
        return new HeldLocks() {
            @Override
            public String names() {
                return lease.name().toString();
            }

            @Override
            public String subject() {
                return "the lock " + names() + " was";
            }

            @Override
            public OptionalLong token() {
                return OptionalLong.of(lease.token());
            }

            @Override
            public void describe(Map<String, String> environment) {
                environment.put("KEYWAY_TOKEN", Long.toString(lease.token()));
                environment.put("KEYWAY_NAME", names());
            }

            @Override
            public Duration ttl() {
                return lease.ttl();
            }

            @Override
            public Duration remaining() {
                return lease.remaining();
            }

            @Override
            public boolean isHeld() {
                return lease.isHeld();
            }

            @Override
            public CompletionStage<LeaseLoss> lost() {
                return lease.lost();
            }

            @Override
            public ReleaseOutcome release() {
                return lease.release();
            }

            @Override
            public void close() {
                lease.close();
            }
        };
    }

    static HeldLocks of(LeaseSet leases) {
        return new HeldLocks() {
            @Override
            public String names() {
                return leases.names().stream().map(LockName::value).collect(Collectors.joining(", "));
            }

            @Override
            public String subject() {
                return "the locks " + names() + " were";
            }

            @Override
            public OptionalLong token() {
                return OptionalLong.empty();
            }

            @Override
            public void describe(Map<String, String> environment) {
                // A name may have any other character.
                environment.put("KEYWAY_NAMES", lines(leases.names()));
                environment.put("KEYWAY_TOKENS", lines(leases.tokens().values()));
            }

            private String lines(Collection<?> values) {
                return values.stream().map(String::valueOf).collect(Collectors.joining("\n"));
            }

            @Override
            public Duration ttl() {
                return leases.ttl();
            }

            @Override
            public Duration remaining() {
                return leases.remaining();
            }

            @Override
            public boolean isHeld() {
                return leases.isHeld();
            }

            @Override
            public CompletionStage<LeaseLoss> lost() {
                return leases.lost();
            }

            @Override
            public ReleaseOutcome release() {
                return leases.release();
            }

            @Override
            public void close() {
                leases.close();
            }
        };
    }
}
