// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.report;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Says whether a text is JSON (RFC 8259). */
final class JsonRecogniser {
    private static final Pattern ATOM =
            Pattern.compile("\"(?:[^\"\\\\\\x00-\\x1f]|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-fA-F]{4})*\"|"
                    + "-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?|true|false|null");

    private final String text;
    private int at;

    JsonRecogniser(String text) {
        this.text = text;
    }

    boolean accepts() {
        return value() && skip() == text.length();
    }

    private boolean value() {
        skip();
        if (take('{')) {
            return members('}', true);
        }
        if (take('[')) {
            return members(']', false);
        }
        return atom();
    }

    private boolean members(char end, boolean named) {
        skip();
        if (take(end)) {
            return true;
        }
        do {
            skip();
            if (named && !(text.charAt(at) == '"' && atom() && skip() >= 0 && take(':'))) {
                return false;
            }
            if (!value()) {
                return false;
            }
            skip();
        } while (take(','));
        return take(end);
    }

    private boolean atom() {
        Matcher matcher = ATOM.matcher(text).region(at, text.length());
        if (!matcher.lookingAt()) {
            return false;
        }
        at = matcher.end();
        return true;
    }

    private boolean take(char c) {
        boolean there = at < text.length() && text.charAt(at) == c;
        at += there ? 1 : 0;
        return there;
    }

    private int skip() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return at;
    }
}
