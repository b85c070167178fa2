// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lock that its client keeps cached is acquired and released again without a message: what such a pair costs. */
class FastPathTest {
    private static final int PAIRS = 50_000;

    private static long pairs(DistributedLock lock, int count) throws InterruptedException {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            Lease lease = lock.acquire();
            sum += lease.token();
            lease.release();
        }
        return sum;
    }

    @Test
    void aPairAllocatesALeaseAndLittleElse() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (LockClient client = Locks.open("lock:native:mem://fast-path")) {
            DistributedLock lock = client.lock("a");
            pairs(lock, PAIRS);
            long before = threads.getCurrentThreadAllocatedBytes();
            pairs(lock, PAIRS);
            long bytes = (threads.getCurrentThreadAllocatedBytes() - before) / PAIRS;
            assertThat(bytes).as("bytes a pair").isBetween(1L, 320L);
        }
    }

    @Test
    @Tag("soak")
    void whatAPairCosts() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (LockClient client = Locks.open("lock:native:mem://fast-path-measured")) {
            DistributedLock lock = client.lock("a");
            pairs(lock, 2_000_000);
            // Short rounds, so that other work on the machine misses some of them.
            double best = Double.MAX_VALUE;
            for (int round = 0; round < 1_000; round++) {
                long start = System.nanoTime();
                pairs(lock, 2_000);
                best = Math.min(best, (System.nanoTime() - start) / 2_000.0);
            }
            long before = threads.getCurrentThreadAllocatedBytes();
            pairs(lock, 500_000);
            double bytes = (threads.getCurrentThreadAllocatedBytes() - before) / 500_000.0;
            System.out.printf("cached re-acquire and release: %.0f ns, %.0f bytes a pair%n", best, bytes);
            assertThat(best).isBetween(1.0, 3_330.0);
        }
    }
}
