// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.ArrayList;
import java.util.List;
import java.util.StringTokenizer;

/** The words of a line of a plan: after what it is come pairs of a field's name and its value. */
final class Words {
    private final List<String> words = new ArrayList<>();

    Words(String line) {
        StringTokenizer tokens = new StringTokenizer(line);
        while (tokens.hasMoreTokens()) {
            words.add(tokens.nextToken());
        }
    }

    String word(int index) {
        if (index >= words.size()) {
            throw new IllegalArgumentException("a line of a plan has more words than: " + String.join(" ", words));
        }
        return words.get(index);
    }

    int size() {
        return words.size();
    }

    boolean has(String field) {
        return words.contains(field);
    }

    String text(String field) {
        int at = words.lastIndexOf(field);
        if (at < 0 || at + 1 == words.size()) {
            throw new IllegalArgumentException("no " + field + " in: " + String.join(" ", words));
        }
        return words.get(at + 1);
    }

    int number(String field) {
        return Integer.parseInt(text(field));
    }

    long nanos(String field) {
        return Nanos.parse(text(field));
    }

    boolean flag(String field) {
        return Boolean.parseBoolean(text(field));
    }
}
