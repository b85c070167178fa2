// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.simulator.Fault.Kind;
import io.keyway.lock.simulator.Options.Profile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The world of a simulation that somebody asks for. Equal settings are equal runs.
 *
 * @param algorithm one of {@link #ALGORITHMS}
 * @param seed decides all that nothing else here does
 * @param members how many; 0 for as many as the algorithm has at least
 * @param clients 1 to {@value #MOST_CLIENTS}
 * @param locks how many names there are, 1 to {@value #MOST_LOCKS}
 * @param operations what the users of all clients do together, 0 to {@value #MOST_OPERATIONS}
 * @param events after so many events the run ends where it is; 0: when everybody was served and nothing is left over
 * @param faults names, as many times as they are to happen; see {@link #faultNames}
 * @param slow links that are slow until the faults end, as {@code client1:member-a=300}, in milliseconds
 */
public record SimulationSettings(
        String algorithm,
        long seed,
        int members,
        int clients,
        int locks,
        int operations,
        long events,
        List<String> faults,
        List<String> slow) {
    /** What can be simulated. */
    public static final List<String> ALGORITHMS =
            List.of("lease", "lamport", "bakery", "election", "failover", "bucket");

    /** The name of all faults that the seed draws, of all kinds. */
    public static final String ANY = "any";

    static final int MOST_CLIENTS = 6;
    static final int MOST_LOCKS = 9;
    static final int MOST_OPERATIONS = 10_000;
    private static final long OPERATION_EVERY = 250 * Nanos.MILLI;
    private static final long SHORTEST = 2 * Nanos.SECOND;
    private static final long LONGEST_DELAY = 60_000;
    /** Where links are as TCP is, none of these is more than a delay. */
    private static final Set<Kind> OF_DATAGRAMS = EnumSet.of(Kind.LOSS, Kind.DUPLICATION, Kind.REORDERING);

    /** @throws IllegalArgumentException if there is no such world; the message says why */
    public SimulationSettings {
        faults = List.copyOf(faults);
        slow = List.copyOf(slow);
        if (!ALGORITHMS.contains(algorithm)) {
            throw new IllegalArgumentException(
                    "algorithm: there is no " + algorithm + "; there are " + String.join(", ", ALGORITHMS));
        }
        within("clients", clients, 1, MOST_CLIENTS);
        within("locks", locks, 1, MOST_LOCKS);
        within("operations", operations, 0, MOST_OPERATIONS);
        if (events < 0) {
            throw new IllegalArgumentException("events: " + events + " is less than 0");
        }
        boolean elects = elects(algorithm);
        boolean known = members == 0
                || (members == 3 && !algorithm.equals("election"))
                || (members == 1 && !attaches(algorithm))
                || (elects && (members == 4 || members == 5));
        if (!known) {
            String which = algorithm.equals("election")
                    ? "4 or 5"
                    : elects ? "3, 4 or 5" : attaches(algorithm) ? "3" : "1 or 3";
            throw new IllegalArgumentException(
                    "members: " + algorithm + " is simulated with " + which + ", not with " + members);
        }
        faults.forEach(SimulationSettings::fault);
    }

    /** Members of these are always several. */
    private static boolean attaches(String algorithm) {
        return algorithm.equals("lamport") || elects(algorithm);
    }

    /** Whether members elect leaders: of a bakery, of one whose leaders are lost, or one of the lease service. */
    private static boolean elects(String algorithm) {
        return Set.of("bakery", "election", "failover").contains(algorithm);
    }

    private static void within(String what, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(what + ": " + value + " is not within " + least + " to " + most);
        }
    }

    /** The names of all faults. */
    public static List<String> faultNames() {
        List<String> names = new ArrayList<>();
        names.add(ANY);
        for (Kind kind : Kind.values()) {
            if (kind != Kind.NEW_LIST && kind != Kind.CHANGE_MEMBERS && kind != Kind.LEAVE_SEAT) {
                names.add(name(kind));
            }
        }
        return names;
    }

    private static String name(Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static void fault(String name) {
        if (!faultNames().contains(name)) {
            throw new IllegalArgumentException(
                    "faults: there is no " + name + "; there are " + String.join(", ", faultNames()));
        }
    }

    private List<Kind> kinds() {
        return faults.stream()
                .filter(name -> !name.equals(ANY))
                .map(name -> Kind.valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_')))
                .toList();
    }

    private int memberNodes() {
        return members != 0 ? members : algorithm.equals("election") ? 5 : attaches(algorithm) ? 3 : 1;
    }

    private Profile profile() {
        return switch (algorithm) {
            case "lamport" -> Profile.LAMPORT;
            case "bakery", "election" -> Profile.BAKERY;
            case "failover" -> Profile.FAILOVER;
            case "bucket" -> Profile.PERMITS;
            default -> memberNodes() == 1 ? Profile.LEASE : Profile.CLUSTER;
        };
    }

    private Options options() {
        Options drawn = Options.of(profile(), seed);
        boolean any = faults.contains(ANY);
        boolean ordered = any ? drawn.ordered() : kinds().stream().noneMatch(OF_DATAGRAMS::contains);
        Options options = drawn.with("members", String.valueOf(memberNodes()))
                .with("spares", "0")
                .with("clients", String.valueOf(clients))
                .with("names", String.valueOf(locks))
                .with("acts", String.valueOf(operations))
                .with("maxTtl", String.valueOf(2 * Nanos.SECOND))
                .with("faultPhase", String.valueOf(Math.max(shortest(), operations * OPERATION_EVERY)))
                .with("ordered", String.valueOf(ordered))
                .with("outOfSpec", "false")
                .with("purityPerMille", "0");
        return any ? options : quiet(options);
    }

    private long shortest() {
        return losesLeaders() ? 13 * SHORTEST : SHORTEST;
    }

    private boolean losesLeaders() {
        return algorithm.equals("election") || algorithm.equals("failover");
    }

    /** Only what was asked for goes wrong. */
    private Options quiet(Options options) {
        Options quiet = options.with("latency", String.valueOf(Math.min(options.latency(), 20 * Nanos.MILLI)))
                .with("jitter", String.valueOf(Math.min(options.jitter(), 5 * Nanos.MILLI)));
        for (String name : List.of("tail", "lossPerMille", "duplicatePerMille", "lateness", "drift")) {
            quiet = quiet.with(name, "0");
        }
        return quiet;
    }

    /** The plan of that world. */
    Plan plan() {
        Options options = options();
        List<Fault> planned = new ArrayList<>();
        for (String link : slow) {
            planned.add(delay(link, options));
        }
        if (losesLeaders()) {
            planned.addAll(lostLeaders(options));
        }
        if (faults.contains(ANY)) {
            planned.addAll(FaultPlanner.plan(options));
        }
        try {
            planned.addAll(FaultPlanner.plan(options, kinds()));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("faults: not all of " + String.join(", ", faults) + " happen with "
                    + algorithm + " and " + count(memberNodes(), "member") + " (" + e.getMessage() + ")");
        }
        return new Plan(options, planned, LeaseActs.of(options), null);
    }

    /** Two members are cut off, one after the other, each for so long that another one is elected if it led. */
    private static List<Fault> lostLeaders(Options options) {
        long length = 4 * options.maxTtl();
        return List.of(
                new Fault(Kind.CUT, options.maxTtl(), length, 0, Fault.ALL, 0),
                new Fault(Kind.CUT, 2 * length, length, -1, Fault.ALL, 0));
    }

    private Fault delay(String link, Options options) {
        String[] sides = link.split("=", -1);
        String[] ends = sides[0].split(":", -1);
        if (sides.length != 2 || ends.length != 2) {
            throw new IllegalArgumentException(
                    "slow: " + link + " is no link with milliseconds, as client1:" + nodes().get(0) + "=300");
        }
        long millis;
        try {
            millis = Long.parseLong(sides[1]);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("slow: " + sides[1] + " is no number of milliseconds", e);
        }
        within("slow", millis, 1, LONGEST_DELAY);
        int[] nodes = Arrays.stream(ends).mapToInt(this::node).toArray();
        if (nodes[0] == nodes[1] || (nodes[0] > 0 && nodes[1] > 0)) {
            throw new IllegalArgumentException("slow: " + ends[0] + " and " + ends[1] + " have no link");
        }
        return new Fault(
                Kind.DELAY,
                0,
                options.faultPhase(),
                Math.max(nodes[0], nodes[1]),
                Math.min(nodes[0], nodes[1]),
                millis * Nanos.MILLI);
    }

    /** Members first. */
    private List<String> nodes() {
        List<String> names = new ArrayList<>();
        for (int member = 0; member < memberNodes(); member++) {
            names.add(SimNode.name(-member, memberNodes()));
        }
        for (int client = 1; client <= clients; client++) {
            names.add(SimNode.name(client, memberNodes()));
        }
        return names;
    }

    private int node(String name) {
        int slot = nodes().indexOf(name);
        if (slot < 0) {
            throw new IllegalArgumentException(
                    "slow: there is no " + name + "; there are " + String.join(", ", nodes()));
        }
        return slot < memberNodes() ? -slot : slot - memberNodes() + 1;
    }

    Campaign campaign() {
        return Campaigns.of(profile());
    }

    /** In a line. */
    String title() {
        return algorithm + ", seed " + seed + ": " + count(memberNodes(), "member") + ", " + count(clients, "client")
                + ", " + count(locks, algorithm.equals("bucket") ? "semaphore" : "lock") + ", "
                + count(operations, "operation")
                + (faults.isEmpty() ? "" : "; " + faults.stream().sorted().collect(Collectors.joining(", ")));
    }

    private static String count(int number, String what) {
        return number + " " + what + (number == 1 ? "" : "s");
    }
}
