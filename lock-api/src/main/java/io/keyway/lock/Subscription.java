// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

/** A registered listener. */
public interface Subscription extends AutoCloseable {
    /** Ends the registration: no event is handed over after this returns, but one may still be running. Idempotent. */
    @Override
    void close();
}
