// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.command;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;

/** {@code java -jar lock-tck.jar}. */
public final class TckMain {
    private static final int BROKEN = 70;

    private TckMain() {}

    /** Runs the TCK as the arguments say and exits with its code; 2 for wrong arguments, 70 if the TCK itself fails. */
    public static void main(String[] args) {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        PrintStream err = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        CommandLine command = new CommandLine(new TckCommand(out, System.getenv()));
        command.setCommandName("lock-tck");
        String version = TckMain.class.getPackage().getImplementationVersion();
        command.getCommandSpec().version("lock-tck " + (version == null ? "development" : version));
        command.setOut(new PrintWriter(out, true, StandardCharsets.UTF_8));
        command.setErr(new PrintWriter(err, true, StandardCharsets.UTF_8));
        command.setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF));
        command.setUsageHelpWidth(110);
        command.setParameterExceptionHandler((wrong, given) -> {
            err.println("lock-tck: " + wrong.getMessage());
            err.println("More: --help");
            return CommandLine.ExitCode.USAGE;
        });
        command.setExecutionExceptionHandler((failure, line, parsed) -> {
            err.println("lock-tck: " + failure);
            failure.printStackTrace(err);
            return BROKEN;
        });
        System.exit(command.execute(args));
    }
}
