// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

/** Hears what becomes of a candidacy, or of the leaders that an observer sees. */
@FunctionalInterface
public interface ElectionListener {
    /**
     * Called on the event executor, one event at a time. What it throws is logged. It must not wait for a future of the
     * same client.
     *
     * @param event what happened
     */
    void onEvent(ElectionEvent event);
}
