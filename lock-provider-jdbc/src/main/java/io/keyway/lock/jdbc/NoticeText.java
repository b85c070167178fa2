// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockKey;
import io.keyway.lock.kit.table.Notice;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** A notice as text of ASCII, short enough for a notification of PostgreSQL; its client is known by the channel. */
final class NoticeText {

    private static final int LONGEST_REASON = 2000;

    private NoticeText() {}

    static String write(Notice notice) {
        String key = notice.key().flat();
        if (notice instanceof Notice.Turn turn) {
            return "turn " + key + " " + turn.request();
        }
        Notice.Broken broken = (Notice.Broken) notice;
        String reason = URLEncoder.encode(broken.reason(), StandardCharsets.UTF_8);
        if (reason.length() > LONGEST_REASON) {
            reason = reason.substring(0, LONGEST_REASON).replaceFirst("%.?$", "");
        }
        return "broken " + key + " " + broken.token() + " " + reason;
    }

    /** Returns the notice; empty if that is none. */
    static Optional<Notice> read(String client, String text) {
        String[] words = text.split(" ", -1);
        try {
            if (words.length == 3 && words[0].equals("turn")) {
                return Optional.of(new Notice.Turn(client, LockKey.unflat(words[1]), Long.parseLong(words[2])));
            }
            if (words.length == 4 && words[0].equals("broken")) {
                String reason = URLDecoder.decode(words[3], StandardCharsets.UTF_8);
                return Optional.of(
                        new Notice.Broken(client, LockKey.unflat(words[1]), Long.parseLong(words[2]), reason));
            }
        } catch (IllegalArgumentException e) {
            // Somebody else's message.
        }
        return Optional.empty();
    }
}
