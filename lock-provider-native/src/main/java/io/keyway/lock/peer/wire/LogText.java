// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.wire;

/** Text from a peer, fit for a log. */
public final class LogText {
    private LogText() {}

    /** Without control and format characters, which could forge lines, and with at most that many characters. */
    public static String shown(String text, int longest) {
        StringBuilder shown = new StringBuilder();
        text.codePoints()
                .limit(longest)
                .map(each -> Character.isISOControl(each) || Character.getType(each) == Character.FORMAT ? '?' : each)
                .forEach(shown::appendCodePoint);
        return shown.toString();
    }
}
