// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.cli.supervisor.CommandClock;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Where the command writes, and what its environment says.
 *
 * @param out for what was asked for
 * @param err for everything else
 * @param outIsTerminal whether somebody looks at {@code out}
 * @param errIsTerminal whether somebody looks at {@code err}
 * @param environment the variables
 * @param clock the time
 */
record Console(
        PrintStream out,
        PrintStream err,
        boolean outIsTerminal,
        boolean errIsTerminal,
        Map<String, String> environment,
        CommandClock clock) {

    /** The streams of this process; the launcher has looked whether they are terminals. */
    static Console ofThisProcess() {
        Map<String, String> environment = System.getenv();
        List<String> terminals =
                List.of(System.getProperty("keyway.terminal", "").split(",", -1));
        // A dumb terminal cannot go back to the start of a line.
        boolean able = !"dumb".equals(environment.get("TERM"));
        return new Console(
                utf8(FileDescriptor.out),
                utf8(FileDescriptor.err),
                able && terminals.contains("out"),
                able && terminals.contains("err"),
                environment,
                CommandClock.SYSTEM);
    }

    /** Names are UTF-8 whatever the locale says. */
    private static PrintStream utf8(FileDescriptor descriptor) {
        return new PrintStream(new FileOutputStream(descriptor), true, StandardCharsets.UTF_8);
    }

    /** The value of a variable that is set and not empty. */
    Optional<String> variable(String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isEmpty());
    }

    boolean debug() {
        return variable("KEYWAY_DEBUG").isPresent();
    }

    /** Writes one line to standard error; on a terminal over the line that {@link WaitingNotice} keeps there. */
    void say(String sentence) {
        err.println((errIsTerminal ? "\r\033[K" : "") + "keyway: " + sentence);
    }
}
