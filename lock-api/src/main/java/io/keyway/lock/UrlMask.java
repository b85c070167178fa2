// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Masks the secrets of texts in which they stand at no certain place: malformed URLs and those of drivers. Rather too
 * much than too little.
 */
final class UrlMask {
    private static final Pattern PARAMETER = Pattern.compile("([?&;:,(/#])([\\w.%\\- ]+)=");
    private static final Pattern HOST = Pattern.compile("[^:@]*+(:\\d+)?");

    private UrlMask() {}

    /** Masks a text that could not be parsed: any {@code @} may end a user and password, whatever stands before it. */
    static String malformed(String text) {
        return parameters(userInfo(text, text.lastIndexOf('@')));
    }

    /** Masks a driver's URL: an {@code @} among the parameters ends no password if plain hosts stand before them. */
    static String opaque(String text) {
        int at = text.lastIndexOf('@');
        int parameters = firstOf(text, "?;", 0);
        int hosts = text.indexOf("//");
        boolean plain = hosts >= 0
                && hosts < parameters
                && plainHosts(text.substring(hosts + 2, firstOf(text, "/?;", hosts + 2)));
        if (plain && at > parameters) {
            at = text.lastIndexOf('@', parameters);
        }
        return parameters(userInfo(text, at));
    }

    private static boolean plainHosts(String authority) {
        return Arrays.stream(authority.split(",", -1))
                .allMatch(host -> HOST.matcher(host).matches());
    }

    private static String userInfo(String text, int at) {
        if (at < 0) {
            return text;
        }
        int slashes = text.indexOf("//");
        boolean known = slashes >= 0 && slashes < at;
        int start = known ? slashes + 2 : afterWords(text, at);
        int separator = known ? text.indexOf(':', start) : firstOf(text, ":/", start);
        if (separator < 0 || separator >= at) {
            return text;
        }
        return text.substring(0, separator + 1) + Secrets.MASK + text.substring(at);
    }

    /**
     * Returns where a user may start when no // says it: after lock:word:, or after the three words of a driver's URL.
     */
    private static int afterWords(String text, int at) {
        int words = text.startsWith("lock:jdbc:") ? 4 : 2;
        int start = 0;
        for (int i = 0; i < words; i++) {
            int colon = text.indexOf(':', start);
            if (colon < 0 || colon >= at) {
                break;
            }
            start = colon + 1;
        }
        return start;
    }

    private static String parameters(String text) {
        Matcher parameter = PARAMETER.matcher(text);
        StringBuilder out = new StringBuilder(text.length());
        int done = 0;
        int from = 0;
        while (parameter.find(from)) {
            from = parameter.end() - 1;
            if (Secrets.isSecret(decoded(parameter.group(2)))) {
                out.append(text, done, parameter.end()).append(Secrets.MASK);
                done = valueEnd(text, parameter.end(), parameter.group(1).charAt(0));
                from = done;
            }
            if (from >= text.length()) {
                break;
            }
        }
        return out.append(text, done, text.length()).toString();
    }

    /** The end of a value by the syntax that its name was found in; a braced value may contain its separators. */
    private static int valueEnd(String text, int start, char before) {
        int from = start;
        if (from < text.length() && text.charAt(from) == '{') {
            int close = text.indexOf('}', from);
            from = close < 0 ? text.length() : close;
        }
        return switch (before) {
            case '?', '&' -> firstOf(text, "&", from);
            case '(', ',' -> firstOf(text, ")", from);
            default -> firstOf(text, ";", from);
        };
    }

    private static int firstOf(String text, String any, int from) {
        for (int i = from; i < text.length(); i++) {
            if (any.indexOf(text.charAt(i)) >= 0) {
                return i;
            }
        }
        return text.length();
    }

    private static String decoded(String name) {
        try {
            return URLDecoder.decode(name, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return name;
        }
    }
}
