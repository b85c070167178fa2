// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.tck.command.TckCommand;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** `keyway` with its subcommands. */
final class CommandTree {
    private final Console console;

    CommandTree(Console console) {
        this.console = console;
    }

    int execute(String... args) {
        Arguments arguments = Arguments.split(args);
        CommandLine tree = new CommandLine(new Keyway());
        tree.addSubcommand(new RunCommand(console, arguments.command()));
        tree.addSubcommand(new ShowCommand(console));
        tree.addSubcommand(new BreakCommand(console));
        tree.addSubcommand(new ProvidersCommand(console));
        tree.addSubcommand(new MemberCommand(console));
        tree.addSubcommand(
                "tck", arguments.begin("tck") ? new TckCommand(console.out(), console.environment()) : new Tck());
        tree.setOut(new PrintWriter(console.out(), true, StandardCharsets.UTF_8));
        tree.setErr(new PrintWriter(console.err(), true, StandardCharsets.UTF_8));
        tree.setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF));
        tree.setParameterExceptionHandler(this::wrongUsage);
        tree.setUsageHelpWidth(110);
        Failures failures = new Failures(console);
        tree.setExecutionExceptionHandler((failure, command, parsed) -> failures.report(failure));
        return tree.execute(arguments.ours().toArray(String[]::new));
    }

    private int wrongUsage(ParameterException failure, String[] args) {
        CommandLine command = failure.getCommandLine();
        console.say(
                failure instanceof UnmatchedArgumentException unmatched
                        ? sentence(unmatched)
                        : Failures.sentence(failure));
        console.err().println("Usage: " + command.getHelp().synopsis(0).strip());
        console.err().println("More: " + command.getCommandSpec().qualifiedName() + " --help");
        return ExitCode.USAGE;
    }

    /** With the nearest of what there is. */
    private static String sentence(UnmatchedArgumentException failure) {
        String word = failure.getUnmatched().get(0);
        boolean tree = !failure.getCommandLine().getSubcommands().isEmpty();
        String what = failure.isUnknownOption()
                ? "there is no option " + word
                : tree ? "there is no command " + word : "nothing is known about the argument " + word;
        List<String> near = failure.getSuggestions();
        return near.isEmpty() ? what + "." : what + "; did you mean " + near.get(0) + "?";
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
