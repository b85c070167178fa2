// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Says what is wrong with a command line, and what was probably meant. */
final class WrongUsage {
    private static final Pattern PLAIN = Pattern.compile("[\\w@%+=:,./-]+");

    private final Console console;
    private final Arguments arguments;

    WrongUsage(Console console, Arguments arguments) {
        this.console = console;
        this.arguments = arguments;
    }

    int report(ParameterException failure) {
        CommandLine command = failure.getCommandLine();
        console.say(message(failure));
        if (!isValue(failure)) {
            console.err().println("Usage: " + command.getHelp().synopsis(0).strip());
        }
        console.err().println("More: " + command.getCommandSpec().qualifiedName() + " --help");
        return ExitCode.USAGE;
    }

    /** Whether the value of an option is wrong: then the options are right. */
    private static boolean isValue(ParameterException failure) {
        return failure.getCause() instanceof TypeConversionException && failure.getArgSpec() != null;
    }

    private String message(ParameterException failure) {
        if (failure instanceof UnmatchedArgumentException unmatched) {
            return unmatched(unmatched);
        }
        if (failure.getCommandLine().getCommandSpec().parent() == null
                && arguments.ours().isEmpty()) {
            return "say what to do: " + commands(failure.getCommandLine()) + ".";
        }
        ArgSpec argument = failure.getArgSpec();
        if (isValue(failure) && argument != null && failure.getCause() instanceof TypeConversionException wrong) {
            String name = argument instanceof OptionSpec option ? option.longestName() : argument.paramLabel();
            // What parses the value may have named the option of a URL already.
            String bare = name.replaceFirst("^-+", "");
            return name + ": " + Failures.message(wrong).replaceFirst("^option " + Pattern.quote(bare) + ": ", "");
        }
        return Failures.message(failure);
    }

    private String unmatched(UnmatchedArgumentException failure) {
        String word = failure.getUnmatched().get(0);
        CommandLine command = failure.getCommandLine();
        if (failure.isUnknownOption()) {
            Collection<String> options = command.getCommandSpec().optionsMap().keySet();
            // An option may stand with its value.
            return meant("there is no option " + word, CommandSuggestion.of(word.replaceFirst("=.*", ""), options));
        }
        if (!command.getSubcommands().isEmpty()) {
            Collection<String> commands = command.getSubcommands().keySet();
            return meant("there is no command " + word, CommandSuggestion.command(word, commands));
        }
        if ((arguments.areAbout("run") || arguments.areAbout("elect")) && arguments.command() == null) {
            return "put -- before the command: " + corrected(failure.getUnmatched());
        }
        return "nothing is known about the argument " + word + ".";
    }

    private static String commands(CommandLine tree) {
        List<String> names = new ArrayList<>();
        tree.getSubcommands().forEach((name, command) -> {
            if (name.equals(command.getCommandName())) { // and not another name of it
                names.add(name);
            }
        });
        String last = names.remove(names.size() - 1);
        return String.join(", ", names) + " or " + last;
    }

    private static String meant(String wrong, Optional<String> near) {
        return wrong + near.map(word -> "; did you mean " + word + "?").orElse(".");
    }

    /** The same words, with -- where the first stands that is not ours. */
    private String corrected(List<String> rest) {
        List<String> ours = arguments.ours();
        int tail = ours.size() - rest.size();
        int at = ours.subList(tail, ours.size()).equals(rest) ? tail : ours.lastIndexOf(rest.get(0));
        List<String> words = new ArrayList<>(ours.subList(0, at));
        words.add("--");
        words.addAll(ours.subList(at, ours.size()));
        return "keyway " + words.stream().map(WrongUsage::quoted).collect(Collectors.joining(" "));
    }

    private static String quoted(String word) {
        return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
