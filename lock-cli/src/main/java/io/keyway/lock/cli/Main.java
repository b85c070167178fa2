// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

/** The `keyway` command. */
public final class Main {
    private Main() {}

    /** Runs the command that the arguments name and exits with its code. */
    public static void main(String[] args) {
        Console console = Console.ofThisProcess();
        // A member's log begins when it is known which one it is.
        if (!console.debug() && !(args.length > 0 && args[0].equals("member"))) {
            LogSetup.forCommands(console);
        }
        LogSetup.withoutFlightRecorder();
        int code = new CommandTree(console).execute(args);
        console.out().flush();
        System.exit(code);
    }
}
