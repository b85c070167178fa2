// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import java.time.Duration;

/** Takes and gives back free locks, and says when: what {@link CallPath} watches. */
final class CallPathProgram {
    static final int ACQUIRES = 1;
    static final int HOLDS = 2;
    static final int HAS_RELEASED = 3;

    private static final int WARM_UP = 50;
    private static final int TURNS = 5;

    private CallPathProgram() {}

    /** The argument is the URL. */
    public static void main(String[] arguments) throws InterruptedException {
        try (LockClient client = Locks.open(arguments[0])) {
            for (int i = 0; i < WARM_UP; i++) {
                client.lock("warm-up/" + i)
                        .tryAcquire(Duration.ofMinutes(2))
                        .orElseThrow()
                        .release();
            }
            for (int i = 0; i < TURNS; i++) {
                DistributedLock lock = client.lock("free/" + i);
                mark(ACQUIRES);
                Lease lease = lock.tryAcquire().orElseThrow();
                mark(HOLDS);
                lease.release();
                mark(HAS_RELEASED);
            }
        }
    }

    /** The debugger stops here. */
    private static void mark(int what) {
        if (what < ACQUIRES || what > HAS_RELEASED) {
            throw new IllegalArgumentException("No such mark: " + what);
        }
    }
}
