// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The rules that no check of the TCK can judge, and why: read from {@code untestable.md}, a line {@code LK-nnn: reason}
 * for each.
 */
public final class Untestable {
    private static final Pattern LINE = Pattern.compile("(?:- )?(LK-\\d+): (.+)");

    private Untestable() {}

    /** The reasons by rule, in the order of the file. */
    public static Map<String, String> read() {
        try (InputStream in = Untestable.class.getResourceAsStream("/io/keyway/lock/tck/untestable.md")) {
            return parse(
                    new String(Objects.requireNonNull(in, "untestable.md").readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Map<String, String> parse(String text) {
        Map<String, String> reasons = new LinkedHashMap<>();
        for (String line : text.lines().toList()) {
            Matcher matcher = LINE.matcher(line.strip());
            if (matcher.matches() && reasons.put(matcher.group(1), matcher.group(2)) != null) {
                throw new IllegalArgumentException(matcher.group(1) + " is there twice");
            }
            if (!matcher.matches() && line.contains("LK-") && !line.startsWith("#")) {
                throw new IllegalArgumentException("neither a heading nor 'LK-nnn: reason': " + line);
            }
        }
        return Collections.unmodifiableMap(reasons);
    }
}
