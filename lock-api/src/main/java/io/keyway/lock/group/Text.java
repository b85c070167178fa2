// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.group;

import java.nio.charset.StandardCharsets;

/** Words for people, in messages. */
final class Text {
    private Text() {}

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String of(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** What an exception says. */
    static String of(Throwable failure) {
        String message = failure.getMessage();
        return failure.getClass().getSimpleName() + (message == null ? "" : ": " + message);
    }
}
