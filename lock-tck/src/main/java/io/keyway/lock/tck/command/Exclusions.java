// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.command;

import io.keyway.lock.tck.TckRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A file of checks that are known to fail: a line {@code id, reason, link of the issue} for each; {@code #} begins a
 * comment.
 */
final class Exclusions {
    private static final Pattern LINE = Pattern.compile("([^\\s,]+)\\s*,\\s*(\\S.*?)\\s*,\\s*(\\S+)");

    private Exclusions() {}

    /**
     * Reads the file: the reason, with the link, by the id of a rule or check.
     *
     * @throws IllegalArgumentException if the file cannot be read, or a line is wrong
     */
    static Map<String, String> read(Path file) {
        try {
            return parse(file.toString(), Files.readAllLines(file));
        } catch (IOException e) {
            throw new IllegalArgumentException("the exclusions cannot be read: " + e, e);
        }
    }

    static Map<String, String> parse(String file, List<String> lines) {
        Map<String, String> reasons = new TreeMap<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            Matcher matcher = LINE.matcher(line);
            String where = file + ", line " + (i + 1) + ": ";
            if (!matcher.matches()) {
                throw new IllegalArgumentException(where + "not 'id, reason, link of the issue': " + line);
            }
            String id = matcher.group(1);
            if (TckRunner.checks().stream().noneMatch(check -> check.named(id))) {
                throw new IllegalArgumentException(where + "there is no rule or check " + id + "; --list shows them");
            }
            reasons.put(id, matcher.group(2) + " (" + matcher.group(3) + ")");
        }
        return reasons;
    }
}
