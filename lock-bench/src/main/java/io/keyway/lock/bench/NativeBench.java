// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The native provider beside the wire, a database and Redis; each contender with servers and a JVM of its own. */
@Command(
        name = "native",
        description = "The native provider beside a bare lock table (the wire), PostgreSQL, Redis and Redisson.")
final class NativeBench implements Callable<Integer> {
    @Option(
            names = "--contenders",
            split = ",",
            description = "The contenders; a native one with -before behind it is that of --before. Default: all.")
    private List<String> contenders = Stores.NAMES;

    @Option(names = "--workloads", split = ",", description = "What they do. Default: all.")
    private List<String> workloads =
            Arrays.stream(Workload.values()).map(Workload::word).toList();

    @Option(
            names = "--member-jvm",
            description = "Options of the members' JVMs. Default, as keyway has it: ${DEFAULT-VALUE}.")
    private String memberJvm = "-XX:+TieredCompilation -XX:+UseSerialGC -XX:-UsePerfData";

    @Option(names = "--before-member-jvm", description = "The same of --before. Default: ${DEFAULT-VALUE}.")
    private String formerMemberJvm = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData";

    @Option(names = "--client-jvm", description = "Options of the clients' JVMs. Default: none.")
    private String clientJvm = "";

    @Option(names = "--json", description = "A file for all figures.")
    private @Nullable Path json;

    @Mixin
    private final Scale scale = new Scale(1, 3);

    private final PrintStream out;
    private final Map<Workload, Map<String, Figures>> results = new LinkedHashMap<>();

    NativeBench(PrintStream out) {
        this.out = out;
    }

    @Override
    public Integer call() throws Exception {
        List<Workload> chosen = workloads.stream()
                .map(word -> Workload.valueOf(word.toUpperCase(Locale.ROOT)))
                .toList();
        try (Ground ground = new Ground()) {
            Stores stores = new Stores(
                    ground,
                    words(memberJvm),
                    words(formerMemberJvm),
                    scale.otherJars().orElse(null));
            List<String> present = present();
            Map<String, Entrant> entrants = new LinkedHashMap<>();
            for (Workload workload : chosen) {
                List<String> suited = present.stream().filter(workload::suits).toList();
                results.put(
                        workload,
                        switch (workload.kind) {
                            case WAKEUP -> new WakeUp(ground, scale.time()).measure();
                            case COLD -> live(ground, stores, workload, suited);
                            default -> {
                                for (String name : suited) {
                                    if (!entrants.containsKey(name)) {
                                        entrants.put(
                                                name, Entrant.start(ground, name, stores.start(name), clientOptions()));
                                    }
                                }
                                yield run(
                                        workload,
                                        entrants.values().stream()
                                                .filter(each -> suited.contains(each.name()))
                                                .toList());
                            }
                        });
                print(workload);
            }
        }
        summary();
        if (json != null) {
            Files.writeString(json, json(), StandardCharsets.UTF_8);
        }
        return 0;
    }

    private List<String> present() {
        List<String> present = new ArrayList<>();
        for (String name : contenders) {
            if (name.startsWith("redis") && !Stores.hasRedis()) {
                out.println(name + " is left out: there is no redis-server on the PATH.");
            } else {
                present.add(name);
            }
        }
        return present;
    }

    private List<String> clientOptions() {
        List<String> options = new ArrayList<>(words(clientJvm));
        options.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
        return options;
    }

    private static List<String> words(String text) {
        return Arrays.stream(text.split(" ", -1))
                .filter(word -> !word.isEmpty())
                .toList();
    }

    private Map<String, Figures> run(Workload workload, List<Entrant> present) throws Exception {
        boolean shared = workload.isPairs() && workload.contended() && workload.kind != Workload.Kind.TRANSACTIONS;
        int clients = shared ? scale.clients() : workload.clients;
        List<Entrant> entrants = new ArrayList<>();
        for (Entrant entrant : present) {
            Optional<String> missing = entrant.begin(workload, clients);
            if (missing.isEmpty()) {
                entrants.add(entrant);
            } else {
                out.println(
                        entrant.name() + " is left out of " + workload.word() + ": it does not offer " + missing.get());
            }
        }
        Comparison.Round<Entrant, Figures> round = entrant -> entrant.round(scale.time());
        Map<Entrant, List<Figures>> rounds = workload.kind == Workload.Kind.FOOTPRINT
                ? Comparison.inTurn(entrants, 1, Duration.ZERO, scale.time(), round)
                : scale.inTurn(entrants, round);
        for (Entrant entrant : entrants) {
            entrant.end();
        }
        Map<String, Figures> medians = new LinkedHashMap<>();
        rounds.forEach((entrant, each) -> medians.put(entrant.name(), Figures.medians(each)));
        return medians;
    }

    /** Each round is the life of a JVM, and that of a server which is a JVM, too. */
    private Map<String, Figures> live(Ground ground, Stores stores, Workload workload, List<String> names)
            throws Exception {
        Map<String, Entrant.Store> lasting = new LinkedHashMap<>();
        Map<String, List<Figures>> rounds = scale.inTurnWithoutWarmUp(names, name -> {
            Entrant.Store store = lasting.get(name);
            if (store == null) {
                store = stores.start(name);
            }
            if (name.equals("postgres") || name.startsWith("redis")) {
                lasting.put(name, store);
                return Entrant.live(ground, name, store, clientOptions(), workload);
            }
            try {
                return Entrant.live(ground, name, store, clientOptions(), workload);
            } finally {
                store.programs().forEach(Program::close);
            }
        });
        Map<String, Figures> medians = new LinkedHashMap<>();
        rounds.forEach((name, each) -> medians.put(name, Figures.medians(each)));
        return medians;
    }

    private static double ratio(Workload workload, Map<String, Figures> figures, String name) {
        Figures reference = figures.get(reference(workload, figures));
        Figures own = figures.get(name);
        return own == null || reference == null ? Double.NaN : own.get(Figures.FIGURE) / reference.get(Figures.FIGURE);
    }

    /** Whom the others are compared with: whoever is first if the usual one takes no part. */
    private static String reference(Workload workload, Map<String, Figures> figures) {
        return figures.isEmpty() || figures.containsKey(workload.reference())
                ? workload.reference()
                : figures.keySet().iterator().next();
    }

    private void print(Workload workload) {
        Map<String, Figures> figures = results.getOrDefault(workload, Map.of());
        Set<String> names = new LinkedHashSet<>();
        figures.values().forEach(each -> names.addAll(each.values().keySet()));
        out.println();
        out.println(workload.word() + ": " + workload.text + " (" + workload.kind.unit + ")");
        boolean compared = workload.isCompared();
        out.printf("%-30s %7s", "", compared ? "ratio" : "");
        names.forEach(name -> out.printf(" %" + width(name) + "s", name));
        out.println();
        figures.forEach((contender, each) -> {
            out.printf(Locale.ROOT, "%-30s %7s", contender, compared ? shown(ratio(workload, figures, contender)) : "");
            names.forEach(name -> out.printf(" %" + width(name) + "s", shown(each.get(name))));
            out.println();
        });
        out.flush();
    }

    private static int width(String heading) {
        return Math.max(7, heading.length());
    }

    /** To three digits or to the whole number. */
    private static String shown(double value) {
        if (Double.isNaN(value)) {
            return "-";
        }
        return String.format(Locale.ROOT, value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value);
    }

    /** One table: each contender's ratio in each workload, as a page of documentation has it. */
    private void summary() {
        Map<Workload, Map<String, Figures>> compared = new LinkedHashMap<>(results);
        compared.keySet().removeIf(workload -> !workload.isCompared());
        if (compared.isEmpty()) {
            return;
        }
        Set<String> names = new LinkedHashSet<>();
        compared.values().forEach(each -> names.addAll(each.keySet()));
        out.println();
        out.println("Ratios (+: more is better; -: times as long)");
        out.println();
        out.println("| | to | " + String.join(" | ", names) + " |");
        out.println("|---".repeat(names.size() + 2) + "|");
        compared.forEach((workload, figures) -> out.println("| " + workload.word()
                + (workload.kind.isTime() ? " - | " : " + | ")
                + reference(workload, figures) + " | "
                + names.stream()
                        .map(name -> shown(ratio(workload, figures, name)))
                        .collect(Collectors.joining(" | "))
                + " |"));
    }

    private String json() throws IOException {
        List<String> members = new ArrayList<>();
        results.forEach((workload, figures) -> {
            List<String> each = new ArrayList<>();
            figures.forEach((name, values) -> each.add("    \"" + name + "\": " + values.json()));
            members.add("  \"" + workload.word() + "\": {\n" + String.join(",\n", each) + "\n  }");
        });
        return "{\n" + String.join(",\n", members) + "\n}\n";
    }
}
