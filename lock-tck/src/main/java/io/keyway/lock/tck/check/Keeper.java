// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.Reach;
import io.keyway.lock.spi.Between;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A client that stays open while checks run beside each other. Where the locks of a machine are served by one of the processes that use them, this is the kit's then, and not one of those that a check kills or stops: a
 * stopped server would fail every other check.
 */
final class Keeper implements AutoCloseable {
    private final Place place;
    private final boolean needed;
    private @Nullable LockClient client;

    private Keeper(Place place, boolean needed) {
        this.place = place;
        this.needed = needed;
    }

    static Keeper of(Place place, boolean idle) {
        return new Keeper(place, !idle && !place.clock().isVirtual() && place.reach() == Reach.MACHINE);
    }

    /** Returns when it has used the locks once, so that they are served. */
    void open() throws InterruptedException {
        if (!needed) {
            return;
        }
        LockClient opened = place.open(place.url(), ClientOptions.defaults().withName("tck-keeper"), Between.NOTHING);
        client = opened;
        try {
            opened.lock("tck/" + place.run() + "/keeper")
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
