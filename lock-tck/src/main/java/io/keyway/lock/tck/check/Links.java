// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import java.util.Optional;

/** Whether the proxies of a run stand on all ways from a client to the servers: asked once. */
final class Links {
    private Optional<Boolean> known = Optional.empty();

    /** Looks whether they do. */
    @FunctionalInterface
    interface Probe {
        boolean look() throws InterruptedException;
    }

    synchronized boolean areProxied(Probe probe) throws InterruptedException {
        if (known.isEmpty()) {
            known = Optional.of(probe.look());
        }
        return known.get();
    }
}
