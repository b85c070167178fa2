// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The words of a command line, split at the first {@code --}: what stands before it is ours, what follows belongs to
 * the command to be run, whatever it looks like.
 *
 * @param ours the words for keyway
 * @param command the words of the command; null when there is no {@code --}
 */
record Arguments(List<String> ours, @Nullable List<String> command) {
    private static final Set<String> RUNNERS = Set.of("run", "elect");

    static Arguments split(String... args) {
        int at = Arrays.asList(args).indexOf("--");
        // Only `run` and `elect` have a command; elsewhere -- ends the options, as usual.
        if (at < 0 || !RUNNERS.contains(args[0])) {
            return new Arguments(List.of(args), null);
        }
        List<String> words = List.of(args);
        return new Arguments(words.subList(0, at), words.subList(at + 1, words.size()));
    }

    /** Whether the command is that one, or help about that one. */
    boolean areAbout(String command) {
        return ours.indexOf(command) == (ours.indexOf("help") == 0 ? 1 : 0);
    }
}
