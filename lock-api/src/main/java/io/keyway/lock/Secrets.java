// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Which names look like those of secrets; that of a floor of tokens does not, since it is a number that messages tell.
 */
final class Secrets {
    static final String MASK = "***";

    private static final Pattern SECRET = Pattern.compile(
            "pass|pwd|secret|token(?!floor)|credential|api[-_.]?key|access[-_.]?key|private[-_.]?key|signature");

    private Secrets() {}

    static boolean isSecret(String name) {
        return SECRET.matcher(name.toLowerCase(Locale.ROOT)).find();
    }
}
