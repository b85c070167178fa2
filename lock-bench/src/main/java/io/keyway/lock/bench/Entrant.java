// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A contender with its servers and the JVM of its clients.
 *
 * @param name in the table
 * @param store where its clients find it
 * @param runner that JVM
 */
record Entrant(String name, Store store, Program runner) implements AutoCloseable {

    /**
     * What a contender's clients are opened at.
     *
     * @param kind of {@link Runner}
     * @param address of that kind
     * @param servers the ids of its processes, with commas between, or the directory that its host serves
     * @param classPath of the clients
     * @param programs what ends with it
     */
    record Store(String kind, String address, String servers, String classPath, List<Program> programs) {}

    /**
     * Starts the JVM of its clients.
     *
     * @param more for {@link Runner}, beside where the store is
     */
    static Entrant start(Ground ground, String name, Store store, List<String> options, String... more)
            throws IOException {
        List<String> command = Program.java(
                options, store.classPath(), Runner.class.getName(), store.kind(), store.address(), store.servers());
        command.addAll(List.of(more));
        return new Entrant(name, store, ground.program("clients-" + name, command, Map.of()));
    }

    /** Starts the JVM of clients that run that workload at once, and waits for its end. */
    static Figures live(Ground ground, String name, Store store, List<String> options, Workload workload)
            throws IOException {
        String now = Long.toString(System.currentTimeMillis());
        Entrant entrant = start(ground, name, store, options, workload.name(), now);
        try {
            return Figures.parse(entrant.runner.answer());
        } finally {
            entrant.runner.close();
        }
    }

    /**
     * Opens its clients.
     *
     * @return what they do not offer of that; then none are open
     */
    Optional<String> begin(Workload workload, int clients) throws IOException {
        String answer = runner.ask("begin " + workload.name() + " " + clients);
        return answer.startsWith(Runner.REFUSED)
                ? Optional.of(answer.substring(Runner.REFUSED.length()))
                : Optional.empty();
    }

    Figures round(Duration time) throws IOException {
        return Figures.parse(runner.ask("round " + time.toSeconds()));
    }

    void end() throws IOException {
        runner.ask("end");
    }

    /** Ends its clients and those of its servers that serve nobody else. */
    @Override
    public void close() {
        runner.close();
        store.programs().forEach(Program::close);
    }
}
