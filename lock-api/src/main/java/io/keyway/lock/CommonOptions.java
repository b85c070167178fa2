// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The options that every provider takes. */
public final class CommonOptions {
    /** When a client connects. */
    public enum Connect {
        /** With the first request. */
        LAZY,
        /** While it is opened; opening fails if that fails. */
        EAGER
    }

    /** How long the authority keeps a lock for a silent holder. */
    public static final Option<Duration> TTL = Option.duration("ttl", LockOptions.MIN_TTL, LockOptions.MAX_TTL)
            .withDefault(Duration.ofSeconds(10))
            .withDescription("how long the authority keeps a lock for a holder that is silent");

    /** The name by which others see the client. */
    public static final Option<String> NAME = Option.parsed(
                    "name", String.class, CommonOptions::checkName, "1 to 200 characters, no control characters")
            .withDefault(CommonOptions::defaultName, "user@host:pid")
            .withDescription("the name by which others see this client");

    /** What the provider must declare. */
    public static final Option<Requirements> REQUIRE = Option.parsed(
                    "require", Requirements.class, Requirements::parse, "features and promises, joined by commas")
            .withDefault(Requirements.NONE)
            .withDescription("refuse to open unless the provider declares this, as in fencing,fifo,tokens:always");

    /** The bound of one request. */
    public static final Option<Duration> REQUEST_TIMEOUT = Option.duration(
                    "requestTimeout", Duration.ofMillis(10), Duration.ofMinutes(10))
            .withDefault(Duration.ofSeconds(2))
            .withDescription("how long one request may take");

    /** The bound of connecting. */
    public static final Option<Duration> CONNECT_TIMEOUT = Option.duration(
                    "connectTimeout", Duration.ofMillis(10), Duration.ofMinutes(10))
            .withDefault(Duration.ofSeconds(5))
            .withDescription("how long connecting may take");

    /** The bound of close. */
    public static final Option<Duration> CLOSE_TIMEOUT = Option.duration(
                    "closeTimeout", Duration.ofMillis(10), Duration.ofMinutes(10))
            .withDefault(Duration.ofSeconds(5))
            .withDescription("how long closing the client may take");

    /** When to connect. */
    public static final Option<Connect> CONNECT = Option.choice("connect", Connect.class)
            .withDefault(Connect.LAZY)
            .withDescription(
                    "lazy connects with the first request; eager while opening, which then fails if that does");

    /**
     * What all tokens are to exceed that are granted from now on, also to other clients; for a store that takes the
     * place of one with greater tokens. Not one of {@link #ALL}: a provider that keeps it lists it among its own
     * options, and reads it by {@link io.keyway.lock.spi.TokenFloor}.
     */
    public static final Option<Long> TOKEN_FLOOR = Option.largeNumber("tokenFloor", 1, 1L << 62)
            .withDescription(
                    "a number that each fencing token granted from now on is greater than, also those of other clients;"
                            + " kept in the store, as the highest token of the store that it takes the place of");

    /** All of them. */
    public static final List<Option<?>> ALL =
            List.of(TTL, NAME, REQUIRE, REQUEST_TIMEOUT, CONNECT_TIMEOUT, CLOSE_TIMEOUT, CONNECT);

    private CommonOptions() {}

    private static String checkName(String text) {
        if (text.isBlank() || text.length() > 200 || text.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(
                    "not a client name: it has 1 to 200 characters, not all blank, and no" + " control characters");
        }
        return text;
    }

    private static String defaultName() {
        String place = System.getProperty("user.name", "unknown") + "@" + host();
        return place.substring(0, Math.min(place.length(), 180)) + ":"
                + ProcessHandle.current().pid();
    }

    private static String host() {
        for (String variable : List.of("HOSTNAME", "COMPUTERNAME")) {
            String host = System.getenv(variable);
            if (host != null && !host.isBlank()) {
                return host;
            }
        }
        try {
            // The name that Linux has for itself; the other way may ask a name server, which takes its time.
            String kernel =
                    Files.readString(Path.of("/proc/sys/kernel/hostname")).trim();
            if (!kernel.isEmpty()) {
                return kernel;
            }
        } catch (IOException | SecurityException e) {
            // Another system.
        }
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }
}
