// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockClient;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.OpenRequest;
import java.time.Duration;

/** Opens clients whose store calls run on the thread that causes them, so that a test moves them step by step. */
public final class InlineKit {

    private InlineKit() {}

    /** As {@link Kit#open(OpenRequest, LockBackend)}, without worker threads. */
    public static LockClient open(OpenRequest request, LockBackend backend) {
        return Kit.open(request, backend, new Inline());
    }

    private static final class Inline implements Workers {
        private volatile boolean closed;

        @Override
        public void urgent(Runnable call) {
            if (!closed) {
                call.run();
            }
        }

        @Override
        public void routine(Runnable call) {
            urgent(call);
        }

        @Override
        public void close(Duration limit) {
            closed = true;
        }
    }
}
