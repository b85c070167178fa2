// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Masks the secrets of any text that may be a lock URL, well-formed or not; rather too much than too little. */
final class UrlMask {
    /** From the colon (or slash, as Oracle writes it) after a user to the last @ of the text. */
    private static final Pattern USER_INFO = Pattern.compile("(//|:thin:)([^/:@?;&]*)([:/])([^\\n]*)@");

    private static final Pattern PARAMETER = Pattern.compile("([?&;])([^=?&;]*)=(\\{[^}]*}|[^&;]*)");

    private UrlMask() {}

    static String mask(String text) {
        Matcher userInfo = USER_INFO.matcher(text);
        String masked = userInfo.find()
                ? text.substring(0, userInfo.start(4)) + Secrets.MASK + text.substring(userInfo.end(4))
                : text;
        Matcher parameter = PARAMETER.matcher(masked);
        StringBuilder out = new StringBuilder(masked.length());
        while (parameter.find()) {
            String value = Secrets.isSecret(parameter.group(2)) ? Secrets.MASK : parameter.group(3);
            parameter.appendReplacement(
                    out, Matcher.quoteReplacement(parameter.group(1) + parameter.group(2) + "=" + value));
        }
        return parameter.appendTail(out).toString();
    }
}
