// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

/** What a test puts between a client and what its provider built it on: to break what lies there, or to watch it. */
public interface Interceptor {
    /** Nothing. */
    Interceptor NOTHING = new Interceptor() {};

    /**
     * {@return what the client calls in place of that backend}
     *
     * @param backend what the provider made
     */
    default LockBackend backend(LockBackend backend) {
        return backend;
    }

    /**
     * {@return what the client calls in place of that engine, which is the provider's own}
     *
     * @param engine what the provider made
     */
    default LockEngine engine(LockEngine engine) {
        return engine;
    }
}
