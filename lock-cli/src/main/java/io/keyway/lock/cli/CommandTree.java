// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.tck.command.TckCommand;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** `keyway` with its subcommands. */
final class CommandTree {
    private final Console console;

    CommandTree(Console console) {
        this.console = console;
    }

    /** Runs what the arguments say, and returns the exit code; whatever fails is told. */
    int execute(String... args) {
        Failures failures = new Failures(console);
        try {
            return execute(failures, args);
        } catch (RuntimeException | Error e) {
            // What picocli lets through, errors of the Java machine above all, would end the process with a code of
            // Java's own.
            return failures.report(e);
        }
    }

    private int execute(Failures failures, String... args) {
        Arguments arguments = Arguments.split(args);
        CommandLine tree = new CommandLine(new Keyway());
        tree.addSubcommand(new RunCommand(console, arguments.command()));
        tree.addSubcommand(new ElectCommand(console, arguments.command()));
        tree.addSubcommand(new ShowCommand(console));
        tree.addSubcommand(new BreakCommand(console));
        tree.addSubcommand(new ProvidersCommand(console));
        tree.addSubcommand(MemberListCommands.under(new CommandLine(new MemberCommand(console)), console));
        tree.addSubcommand(new LoadCommand(console));
        tree.addSubcommand(
                "tck", arguments.areAbout("tck") ? new TckCommand(console.out(), console.environment()) : new Tck());
        tree.addSubcommand(new SimulateCommand(console));
        tree.addSubcommand(new TraceCommand(console));
        tree.addSubcommand(new VersionCommand(console));
        tree.addSubcommand(new CommandLine.HelpCommand());
        tree.setOut(new PrintWriter(console.out(), true, StandardCharsets.UTF_8));
        tree.setErr(new PrintWriter(console.err(), true, StandardCharsets.UTF_8));
        tree.setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF));
        WrongUsage wrongUsage = new WrongUsage(console, arguments);
        tree.setParameterExceptionHandler((failure, words) -> wrongUsage.report(failure));
        tree.setUsageHelpWidth(110);
        // A word is a word, also one that begins with @.
        tree.setExpandAtFiles(false);
        tree.setExecutionExceptionHandler((failure, command, parsed) -> failures.report(failure));
        return tree.execute(arguments.ours().toArray(String[]::new));
    }

    /** Stands for the kit in the list of commands, so that its classes are loaded for its users alone. */
    @Command(name = "tck", description = "Tests the provider of a URL against the rules, in a JVM of its own.")
    static final class Tck {}

    @Command(
            name = "keyway",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            description = "Runs commands under locks that other processes and machines respect.",
            synopsisSubcommandLabel = "COMMAND",
            subcommandsRepeatable = false)
    static final class Keyway {}
}
