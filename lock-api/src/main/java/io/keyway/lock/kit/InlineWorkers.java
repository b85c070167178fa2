// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import java.time.Duration;

/** No threads: each call runs at once, on the thread that causes it. For time that a test moves. */
final class InlineWorkers implements Workers {

    private volatile boolean closed;

    @Override
    public void first(Runnable call) {
        urgent(call);
    }

    @Override
    public void ending(Runnable call) {
        urgent(call);
    }

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
