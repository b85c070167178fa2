// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.security;

import io.keyway.lock.peer.NativeOptions;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the secret that all members and clients of a cluster share. White space around it does not count, so that a
 * file may end with a new line.
 */
final class SharedSecret {
    private static final Logger LOG = LoggerFactory.getLogger(SharedSecret.class);
    private static final int MAX_BYTES = 4096;
    /** Whoever hears a handshake can try shorter ones at leisure. */
    private static final int FEW_BYTES = 16;

    private SharedSecret() {}

    /** @throws IllegalArgumentException if there is one and it cannot be used; the message does not show it */
    static Optional<byte[]> read(SecuritySettings settings) {
        String option = settings.spelled(NativeOptions.SECRET_FILE);
        if (settings.secret().isPresent() && settings.secretFile().isPresent()) {
            throw new IllegalArgumentException(settings.spelled(NativeOptions.SECRET) + " and " + option
                    + " are both given; keep one, best the file");
        }
        Optional<byte[]> raw = settings.secretFile()
                .map(file -> GuardedFile.read(option, file, MAX_BYTES))
                .or(() -> settings.secret().map(text -> text.getBytes(StandardCharsets.UTF_8)));
        return raw.map(bytes ->
                checked(bytes, settings.secretFile().isPresent() ? option : settings.spelled(NativeOptions.SECRET)));
    }

    private static byte[] checked(byte[] raw, String option) {
        int from = 0;
        int to = raw.length;
        while (from < to && space(raw[from])) {
            from++;
        }
        while (to > from && space(raw[to - 1])) {
            to--;
        }
        if (from == to) {
            throw new IllegalArgumentException(
                    option + " is empty; make a secret with, for example, head -c 32 /dev/urandom | base64");
        }
        if (to - from < FEW_BYTES) {
            LOG.warn(
                    "{} has {} bytes: anybody that hears a handshake can guess it; {} or more are better",
                    option,
                    to - from,
                    FEW_BYTES);
        }
        return Arrays.copyOfRange(raw, from, to);
    }

    private static boolean space(byte each) {
        return each == ' ' || each == '\t' || each == '\r' || each == '\n';
    }
}
