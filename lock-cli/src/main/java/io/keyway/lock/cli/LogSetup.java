// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

/** Keeps the libraries from what costs the user of a command line time or attention. */
final class LogSetup {
    private LogSetup() {}

    /**
     * Keeps their logs out of what the user reads, but for warnings of providers; `KEYWAY_DEBUG=1` lets all through. To
     * be called before anything logs.
     */
    static void forCommands(Console console) {
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "off");
        System.setProperty("org.slf4j.simpleLogger.log.io.keyway", "warn");
        System.setProperty("org.slf4j.simpleLogger.showThreadName", "false");
        System.setProperty("org.slf4j.simpleLogger.showLogName", "false");
        System.setProperty("org.slf4j.simpleLogger.warnLevelString", "warning:");
        System.setErr(new Warnings(console).stream());
        // An empty configuration has no handler; read only when something logs.
        System.setProperty("java.util.logging.config.file", "/dev/null");
    }

    /**
     * The log is what a member's operator reads: a line for each event, with its time and the member, on standard
     * error. To be called before anything logs.
     *
     * @param member without quotes
     */
    static void forMember(String member, boolean debug) {
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
        System.setProperty("org.slf4j.simpleLogger.log.io.keyway", debug ? "debug" : "info");
        System.setProperty("org.slf4j.simpleLogger.showDateTime", "true");
        System.setProperty("org.slf4j.simpleLogger.dateTimeFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX' " + member + "'");
        System.setProperty("org.slf4j.simpleLogger.showThreadName", "false");
        System.setProperty("org.slf4j.simpleLogger.showLogName", "false");
    }

    /**
     * Netty starts the flight recorder otherwise, which takes longer than everything else. To be called before it
     * loads.
     */
    static void withoutFlightRecorder() {
        System.setProperty("io.netty.jfr.enabled", "false");
    }
}
