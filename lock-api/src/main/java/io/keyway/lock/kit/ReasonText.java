// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import java.nio.charset.StandardCharsets;

/** What an operator said, as other processes may print it: one line, bounded. */
final class ReasonText {

    static final int MAX_BYTES = 512;

    private ReasonText() {}

    /** The text without control characters, unpaired surrogates and what is beyond {@value #MAX_BYTES} bytes. */
    static String of(String said) {
        StringBuilder line = new StringBuilder();
        int bytes = 0;
        for (int i = 0; i < said.length(); ) {
            int point = said.codePointAt(i);
            i += Character.charCount(point);
            int type = Character.getType(point);
            String one = type == Character.CONTROL || type == Character.SURROGATE ? " " : Character.toString(point);
            bytes += one.getBytes(StandardCharsets.UTF_8).length;
            if (bytes > MAX_BYTES) {
                break;
            }
            line.append(one);
        }
        return line.toString().strip();
    }
}
