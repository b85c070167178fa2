// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.Discovery;
import io.keyway.lock.Feature;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.Option;
import io.keyway.lock.spi.LockProvider;
import java.io.PrintStream;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** `keyway providers`: what can be named in a URL. */
@Command(
        name = "providers",
        mixinStandardHelpOptions = true,
        description = "Lists the providers on the class path, their features and their options.")
final class ProvidersCommand implements Callable<Integer> {
    @CommandLine.Option(
            names = "--ddl",
            paramLabel = "DATABASE|URL",
            description = "Print the statements that make the tables of locks in such a database instead, or those"
                    + " that the URL names.")
    private @Nullable String database;

    private final Console console;

    ProvidersCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Discovery found = Locks.discover(ProvidersCommand.class.getClassLoader());
        if (database != null) {
            return ddl(found, database);
        }
        PrintStream out = console.out();
        for (LockProvider provider : found.providers()) {
            out.println(provider.info().name() + " " + provider.info().version());
            for (String scheme : new TreeSet<>(provider.schemes())) {
                if (features(provider, scheme).isPresent()
                        || provider.protocols().isEmpty()) {
                    print(provider, scheme);
                }
                provider.protocols().forEach(protocol -> print(provider, scheme + ":" + protocol));
            }
            print("options", provider.info().options());
            out.println();
        }
        print("options of every provider", CommonOptions.ALL);
        for (Discovery.Failure failure : found.failures()) {
            console.say(failure.source() + " cannot be used: " + failure.reason());
        }
        return ExitCode.OK;
    }

    private int ddl(Discovery found, String wanted) {
        Map<String, String> all = new TreeMap<>();
        found.providers().forEach(provider -> all.putAll(provider.ddl()));
        String statements = wanted.startsWith("lock:") ? ddl(found, LockUrl.parse(wanted)) : all.get(wanted);
        if (statements == null) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "no provider knows how to make tables in " + wanted + "; known are "
                            + String.join(", ", all.keySet()) + ".");
        }
        console.out().print(statements);
        return ExitCode.OK;
    }

    private static @Nullable String ddl(Discovery found, LockUrl url) {
        return found.providers().stream()
                .filter(provider -> provider.schemes().contains(url.provider()))
                .flatMap(provider -> provider.ddl(url).stream())
                .findFirst()
                .orElse(null);
    }

    private void print(LockProvider provider, String scheme) {
        console.out().println("  url       lock:" + scheme);
        console.out().println("  features  " + features(provider, scheme).orElse("depend on the rest of the URL"));
    }

    /** Empty if they cannot be known of a URL that has no more than this scheme. */
    private static Optional<String> features(LockProvider provider, String scheme) {
        try {
            Collection<Feature> features = provider.features(LockUrl.parse("lock:" + scheme + "://"));
            return Optional.of(
                    features.isEmpty()
                            ? "none"
                            : new TreeSet<>(features)
                                    .stream().map(Feature::label).collect(Collectors.joining(" ")));
        } catch (RuntimeException e) {
            return Optional.empty();
        }
    }

    private void print(String title, List<Option<?>> options) {
        if (options.isEmpty()) {
            return;
        }
        console.out().println("  " + title);
        int width = options.stream()
                .mapToInt(option -> option.name().length())
                .max()
                .orElse(0);
        for (Option<?> option : options) {
            StringBuilder line = new StringBuilder("    ").append(option.name());
            line.append(" ".repeat(width - option.name().length() + 2)).append(option.description());
            if (!option.bounds().isEmpty()) {
                line.append("; ").append(option.bounds());
            }
            if (!option.defaultText().isEmpty()) {
                line.append(" (default ").append(option.defaultText()).append(')');
            }
            console.out().println(line);
        }
    }
}
