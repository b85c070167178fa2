// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses URLs of which all but our own parameters is another's. */
final class OpaqueUrl {
    private static final Pattern OURS = Pattern.compile("([?&;])lock\\.([^=?&;]*)(?:=([^&;]*))?");

    private OpaqueUrl() {}

    static LockUrl.Parts parse(String text, String masked) {
        String rest = text.substring("lock:".length());
        Map<String, String> options = new LinkedHashMap<>();
        StringBuilder theirs = new StringBuilder(rest.length());
        Matcher ours = OURS.matcher(rest);
        int from = 0;
        boolean questionDropped = false;
        while (ours.find()) {
            append(theirs, rest.substring(from, ours.start()), questionDropped);
            questionDropped =
                    (questionDropped && ours.start() == from) || ours.group(1).equals("?");
            String name = ours.group(2);
            String value = ours.group(3);
            if (value == null || name.isEmpty()) {
                throw new InvalidLockUrlException(
                        "The URL " + LockNames.quoted(masked) + " has a parameter lock." + name + " without a value.");
            }
            if (options.put(name, value) != null) {
                throw new InvalidLockUrlException(
                        "The URL " + LockNames.quoted(masked) + " has the option lock." + name + " twice.");
            }
            from = ours.end();
        }
        append(theirs, rest.substring(from), questionDropped);
        return new LockUrl.Parts(
                "jdbc",
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                List.of(),
                Optional.empty(),
                Optional.of(theirs.toString()),
                Collections.unmodifiableMap(options));
    }

    private static void append(StringBuilder out, String part, boolean questionDropped) {
        if (questionDropped && part.startsWith("&")) {
            out.append('?').append(part, 1, part.length());
        } else {
            out.append(part);
        }
    }
}
