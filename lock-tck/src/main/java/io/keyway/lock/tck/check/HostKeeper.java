// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.Scope;
import io.keyway.lock.spi.Interceptor;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A client that stays open while checks run beside each other. Where the locks of a machine are served by one of the
 * processes that use them, this is the TCK's then, and not one of those that a check kills or stops: a stopped server
 * would fail every other check.
 */
final class HostKeeper implements AutoCloseable {
    private final RunContext run;
    private final boolean needed;
    private @Nullable LockClient client;

    private HostKeeper(RunContext run, boolean needed) {
        this.run = run;
        this.needed = needed;
    }

    static HostKeeper of(RunContext run, boolean idle) {
        return new HostKeeper(run, !idle && !run.clock().isVirtual() && run.reach() == Scope.MACHINE);
    }

    /** Returns when it has used the locks once, so that they are served. */
    void open() throws InterruptedException {
        if (!needed) {
            return;
        }
        LockClient opened = run.open(run.url(), ClientOptions.defaults().withName("tck-keeper"), Interceptor.NOTHING);
        client = opened;
        try {
            opened.lock("tck/" + run.word() + "/keeper")
                    .tryAcquire(Duration.ofSeconds(10))
                    .ifPresent(lease -> lease.close());
        } catch (LockException e) {
            // The checks will say what is wrong.
        }
    }

    @Override
    public void close() {
        LockClient open = client;
        if (open != null) {
            open.close();
        }
    }
}
