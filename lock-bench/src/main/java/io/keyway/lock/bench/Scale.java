// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.PrintStream;
import java.net.MalformedURLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How long a comparison takes and how crowded it is, and the scenarios that every store is compared in. */
final class Scale {

    @Option(names = "--rounds", description = "Rounds that count. Default: ${DEFAULT-VALUE}.")
    private int rounds = 5;

    @Option(names = "--seconds", description = "Length of a round. Default: ${DEFAULT-VALUE}.")
    private int seconds;

    @Option(
            names = "--warm-up",
            description =
                    "Seconds of a contender that do not count, in rounds before those. Default: ${DEFAULT-VALUE}.")
    private int warmUp;

    @Option(names = "--waiters", description = "Threads that want the same lock. Default: ${DEFAULT-VALUE}.")
    private int waiters = 16;

    @Option(names = "--clients", description = "Clients that these threads share. Default: ${DEFAULT-VALUE}.")
    private int clients = 4;

    @Option(
            names = "--before",
            description = "Jars of another Keyway and its drivers, or folders of them, which take part as well.")
    private @Nullable String before;

    /**
     * @param seconds the default length of a round
     * @param warmUp the default length of those before them, together
     */
    Scale(int seconds, int warmUp) {
        this.seconds = seconds;
        this.warmUp = warmUp;
    }

    /** Has each contender run each round. */
    <E, R> Map<E, List<R>> inTurn(List<E> contenders, Comparison.Round<E, R> round) throws Exception {
        return Comparison.inTurn(contenders, rounds, Duration.ofSeconds(warmUp), time(), round);
    }

    /** The same, where each round is a life of its own. */
    <E, R> Map<E, List<R>> inTurnWithoutWarmUp(List<E> contenders, Comparison.Round<E, R> round) throws Exception {
        return Comparison.inTurn(contenders, rounds, Duration.ZERO, time(), round);
    }

    /** How many clients the threads share that want the same. */
    int clients() {
        return clients;
    }

    /** The length of a round. */
    Duration time() {
        return Duration.ofSeconds(seconds);
    }

    /** Jars of another Keyway and its drivers. */
    Optional<String> otherJars() {
        return Optional.ofNullable(before);
    }

    /** Another Keyway that takes part, by {@code --before}. */
    List<FormerKeyway> before() throws MalformedURLException {
        return before == null ? List.of() : List.of(FormerKeyway.of("keyway before", before));
    }

    /** The same, with clients of that URL. */
    List<Contender.Opener> before(String url) throws MalformedURLException {
        return before().stream()
                .<Contender.Opener>map(former -> () -> former.open(url))
                .toList();
    }

    /** Keyway, the Keyway of before, and others, in that order. */
    static List<Contender.Opener> joined(
            Contender.Opener keyway, List<Contender.Opener> before, List<Contender.Opener> others) {
        return Stream.of(List.of(keyway), before, others).flatMap(List::stream).toList();
    }

    /**
     * Runs the scenarios and prints a table for each.
     *
     * @param requests what the server has been asked so far, by its own count
     * @param alone who takes part where no lock is waited for
     * @param queued who takes part where all want the same lock
     */
    void compare(PrintStream out, LongSupplier requests, List<Contender.Opener> alone, List<Contender.Opener> queued)
            throws Exception {
        alone(out, requests, alone);
        comparison(out, requests)
                .run(
                        waiters + " threads of " + clients + " clients, the same lock",
                        queued,
                        clients,
                        waiters,
                        i -> "same");
    }

    /** Runs the scenario in which each client has one thread that waits, so that each pair is a hand-over. */
    void handOver(PrintStream out, LongSupplier requests, List<Contender.Opener> contenders) throws Exception {
        comparison(out, requests)
                .run(
                        clients + " clients with one thread each, the same lock",
                        contenders,
                        clients,
                        clients,
                        i -> "one");
    }

    /** How long a waiter of another client waits for a lock that is freed, while nothing else happens. */
    void wait(PrintStream out, LongSupplier requests, List<Contender.Opener> contenders) throws Exception {
        comparison(out, requests).wait("Two clients, the same lock: from a release to the other's grant", contenders);
    }

    /** Runs those of the scenarios in which no lock is waited for. */
    void alone(PrintStream out, LongSupplier requests, List<Contender.Opener> contenders) throws Exception {
        Comparison comparison = comparison(out, requests);
        comparison.run("One thread, a free lock", contenders, 1, 1, i -> "free");
        comparison.run("Eight threads, each its own lock", contenders, 1, 8, i -> "own-" + i);
    }

    private Comparison comparison(PrintStream out, LongSupplier requests) {
        return new Comparison(out, rounds, Duration.ofSeconds(warmUp), Duration.ofSeconds(seconds), requests);
    }
}
