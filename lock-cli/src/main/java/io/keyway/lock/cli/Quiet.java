// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

/** Keeps the libraries' logs out of what the user reads; `KEYWAY_DEBUG=1` lets them through. */
final class Quiet {
    private Quiet() {}

    /** To be called before anything logs. */
    static void logging() {
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "off");
        // An empty configuration has no handler; read only when something logs.
        System.setProperty("java.util.logging.config.file", "/dev/null");
    }
}
