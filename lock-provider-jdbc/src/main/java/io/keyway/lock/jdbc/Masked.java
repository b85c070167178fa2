// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import java.util.regex.Pattern;

/** What a driver or a pool says, without the secrets that it may say again. */
final class Masked {

    private static final Pattern SECRET = Pattern.compile(
            "(?i)((?:pass|pwd|secret|token|credential|apikey|accesskey|privatekey)[a-z]*)\\s*=\\s*[^&;,\\s]+");

    private Masked() {}

    static String message(Throwable failure) {
        String message = failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
        Throwable cause = failure.getCause();
        String all = cause == null || cause.getMessage() == null || message.contains(cause.getMessage())
                ? message
                : message + " (" + cause.getMessage() + ")";
        return SECRET.matcher(all).replaceAll("$1=***");
    }
}
