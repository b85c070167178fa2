// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A command and its arguments.
 *
 * @param words at least one
 */
record CommandLineWords(List<String> words) {
    private static final int LONGEST_NAME = 80;

    /** Refuses at once what cannot work later either, so that nobody waits for a lock in vain. */
    static CommandLineWords check(List<String> words, Map<String, String> environment) {
        for (String word : words) {
            if (word.indexOf('\uFFFD') >= 0) {
                throw new CommandException(
                        ExitCode.CANNOT_RUN,
                        "an argument is not text in this locale and could not be passed on unchanged: " + word);
            }
        }
        String program = words.get(0);
        // A program with a path may be made by the one that holds the lock now; one to be found on the PATH is there.
        if (!program.contains("/") && !isOnPath(program, environment.getOrDefault("PATH", "/bin:/usr/bin"))) {
            throw new CommandException(ExitCode.NOT_FOUND, program + " is not found on the PATH.");
        }
        return new CommandLineWords(words);
    }

    private static boolean isOnPath(String program, String path) {
        for (String directory : path.split(Pattern.quote(File.pathSeparator), -1)) {
            if (Files.isExecutable(Path.of(directory.isEmpty() ? "." : directory, program))) {
                return true;
            }
        }
        return false;
    }

    String program() {
        return words.get(0);
    }

    /** The program without its directory; arguments may hold secrets, so others do not see them. */
    String shortName() {
        String name = program().substring(program().lastIndexOf('/') + 1);
        return name.length() <= LONGEST_NAME ? name : name.substring(0, LONGEST_NAME);
    }
}
