// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.tck.process.Patience;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

/** Waits for renewals of a lease, each of which makes it last longer than a moment before. */
final class Renewals {

    private Renewals() {}

    /** Returns after the next renewal, or when the lease is lost. */
    static void awaitNext(Lease lease) {
        AtomicReference<Duration> last = new AtomicReference<>(lease.remaining());
        await().atMost(Patience.of(Duration.ofMinutes(1)))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> {
                    Duration now = lease.remaining();
                    return now.compareTo(last.getAndSet(now)) > 0
                            || lease.lost().toCompletableFuture().isDone();
                });
    }
}
