// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.simulator.Simulation;
import io.keyway.lock.simulator.SimulationSettings;
import io.keyway.lock.simulator.picture.RunJson;
import io.keyway.lock.simulator.picture.SequenceChart;
import io.keyway.lock.simulator.picture.SpaceTimePage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** `keyway simulate`: one run of the native algorithms in virtual time, as a picture. */
@Command(
        name = "simulate",
        mixinStandardHelpOptions = true,
        footer = "%nExit code: 0 if every promise was kept; 122 if an oracle says that one was broken: what, where, and"
                + " the command that repeats it are printed.",
        description = "Runs a native algorithm in a simulated world, with the faults that you name, and draws what"
                + " happened. Equal options are equal runs. Touches no lock of yours.")
final class SimulateCommand implements Callable<Integer> {
    private static final String SHRINK = " --shrink";

    private final Console console;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = "--algorithm",
            paramLabel = "NAME",
            description = "lease, lamport, bakery, election, failover or bucket. Default: lease.")
    private String algorithm = "lease";

    @Option(names = "--seed", paramLabel = "N", description = "Decides what nothing else decides. Default: 1.")
    private long seed = 1;

    @Option(
            names = "--members",
            paramLabel = "N",
            description = "1 or 3; of lamport 3, of bakery and failover 3 to 5, of election 4 or 5. Default: as"
                    + " few as there can be, of election 5.")
    private int members;

    @Option(names = "--clients", paramLabel = "N", description = "1 to 6. Default: 2.")
    private int clients = 2;

    @Option(names = "--locks", paramLabel = "N", description = "How many names there are, 1 to 9. Default: 1.")
    private int locks = 1;

    @Option(
            names = "--operations",
            paramLabel = "N",
            description = "What all users do together: lock, try, give up, break. Default: 8.")
    private int operations = 8;

    @Option(
            names = "--events",
            paramLabel = "N",
            description = "Stop after so many events. Default: when everybody was served.")
    private long events;

    @Option(
            names = "--faults",
            paramLabel = "NAME",
            split = ",",
            description = "What goes wrong, each name once for each time; `help` lists the names. Default: nothing.")
    private List<String> faults = List.of();

    @Option(
            names = "--slow",
            paramLabel = "LINK=MS",
            split = ",",
            description = "Each message of that link takes so many milliseconds more, as in client1:member=300.")
    private List<String> slow = List.of();

    @Option(names = "--plan", paramLabel = "FILE", description = "Run a plan that a failed test has printed instead.")
    private @Nullable Path plan;

    @Option(
            names = "--shrink",
            description = "If a promise is broken, look for the smallest run that breaks it too, and draw that one.")
    private boolean shrinks;

    @Option(names = "--lines", paramLabel = "N", description = "The last N events of the chart alone; 0: none.")
    private int lines = Integer.MAX_VALUE;

    @Option(names = "--html", paramLabel = "FILE", description = "Write the space-time diagram: one page.")
    private @Nullable Path html;

    @Option(names = "--json", paramLabel = "FILE", description = "Write what happened as JSON.")
    private @Nullable Path json;

    SimulateCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        if (faults.contains("help")) {
            SimulationSettings.faultNames().forEach(console.out()::println);
            return ExitCode.OK;
        }
        Simulation simulation = simulate();
        console.out().println(simulation.picture().title());
        if (lines > 0) {
            console.out().print(SequenceChart.of(simulation.picture(), lines, width()));
        }
        console.out().print(simulation.verdict());
        if (html != null) {
            write(html, SpaceTimePage.of(simulation.picture()));
        }
        if (json != null) {
            write(json, RunJson.of(simulation.picture()));
        }
        return simulation.held() ? ExitCode.OK : ExitCode.RULE_BROKEN;
    }

    private Simulation simulate() {
        if (plan != null) {
            String text = read(plan);
            String title = "plan " + plan;
            String command = "keyway simulate --plan " + plan + (shrinks ? SHRINK : "");
            try {
                return shrinks ? Simulation.shrink(text, title, command) : Simulation.replay(text, title, command);
            } catch (IllegalArgumentException e) {
                throw new CommandException(ExitCode.USAGE, plan + " is no plan: " + e.getMessage(), e);
            }
        }
        try {
            SimulationSettings settings =
                    new SimulationSettings(algorithm, seed, members, clients, locks, operations, events, faults, slow);
            return shrinks ? Simulation.shrink(settings, again()) : Simulation.run(settings, again());
        } catch (IllegalArgumentException e) {
            throw new ParameterException(
                    Objects.requireNonNull(spec, "spec").commandLine(), "--" + e.getMessage() + ".", e);
        }
    }

    private String again() {
        List<String> words = new ArrayList<>(List.of("keyway simulate --algorithm", algorithm, "--seed", "" + seed));
        if (members != 0) {
            words.add("--members " + members);
        }
        words.add("--clients " + clients + " --locks " + locks + " --operations " + operations);
        if (events != 0) {
            words.add("--events " + events);
        }
        if (!faults.isEmpty()) {
            words.add("--faults " + String.join(",", faults));
        }
        if (!slow.isEmpty()) {
            words.add("--slow " + String.join(",", slow));
        }
        return String.join(" ", words) + (shrinks ? SHRINK : "");
    }

    /** A line that a terminal breaks is no line of a chart. */
    private int width() {
        String columns = console.variable("COLUMNS").orElse("");
        return console.outIsTerminal() && columns.matches("[1-9]\\d{1,4}") ? Integer.parseInt(columns) : 0;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new CommandException(ExitCode.USAGE, file + " cannot be read: " + e.getMessage(), e);
        }
    }

    private void write(Path file, String text) {
        try {
            Files.writeString(file, text);
            console.say("wrote " + file + ".");
        } catch (IOException e) {
            throw new CommandException(ExitCode.CANNOT_RUN, file + " cannot be written: " + e.getMessage(), e);
        }
    }
}
