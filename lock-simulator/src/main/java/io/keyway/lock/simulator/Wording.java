// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Makes what records say of themselves shorter for people: a lock is its name, and a time has a unit. */
final class Wording {
    private static final Pattern KEY = Pattern.compile("(?:key=)?Key\\[algorithm=\\d+, id=([^]]*)]");
    private static final Pattern OWNER = Pattern.compile("Owner\\[client=([^,\\]]*), metadata=\\{}]");
    private static final Pattern USER = Pattern.compile(", user=client\\d+ user \\d+(?: in act [^,\\]]*)?");
    private static final Pattern TIME = Pattern.compile("\\b(ttl|longestTtl|quarantine|limit|atLeast)=(\\d{4,18})\\b");

    private static final Pattern FAULT = Pattern.compile("^(end of )?fault (\\w+) at \\d+\\w+ for (\\w+) .*");

    private Wording() {}

    static String of(@Nullable Object said) {
        String text = KEY.matcher(String.valueOf(said)).replaceAll("$1");
        text = OWNER.matcher(text).replaceAll("$1");
        text = USER.matcher(text).replaceAll("");
        text = FAULT.matcher(text).replaceAll(Wording::fault);
        // The names of machines beside locks begin with a character that no lock has.
        return TIME.matcher(text).replaceAll(Wording::time).replace("\0", "");
    }

    private static String fault(MatchResult found) {
        String kind = found.group(2).toLowerCase(Locale.ROOT).replace('_', '-');
        return found.group(1) != null
                ? "end of fault: " + kind
                : "fault: " + kind + ", for " + Math.max(1, Nanos.parse(found.group(3)) / Nanos.MILLI) + "ms";
    }

    private static String time(MatchResult found) {
        return Matcher.quoteReplacement(found.group(1) + "=" + Nanos.text(Long.parseLong(found.group(2))));
    }
}
