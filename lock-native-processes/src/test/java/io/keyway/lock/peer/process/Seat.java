// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import io.keyway.lock.tck.process.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** One member of a cluster: how it is started, its data directory, and its present process. */
final class Seat implements AutoCloseable {
    private final String id;
    private final int port;
    private final Path data;
    private final List<String> options;
    private final Path secret;
    private String members;
    private long maxTtlMillis;
    private String removed = "";
    private ChildJvm process;
    private boolean runs;
    private boolean stopped;
    private boolean listening;

    /** @param members the ids of all */
    Seat(String id, int port, Path data, List<String> options, String members, long maxTtlMillis, Path secret) {
        this.id = id;
        this.port = port;
        this.data = data;
        this.options = options;
        this.members = members;
        this.maxTtlMillis = maxTtlMillis;
        this.secret = secret;
    }

    String id() {
        return id;
    }

    /**
     * What its next start is given.
     *
     * @param members the ids of all
     * @param removed the ids of former members that have ended for good, separated by commas
     */
    void configure(String members, long maxTtlMillis, String removed) {
        this.members = members;
        this.maxTtlMillis = maxTtlMillis;
        this.removed = removed;
    }

    boolean runs() {
        return runs;
    }

    /** Starts it for the first time. */
    void init() {
        start("init");
    }

    /** Starts it again. */
    void begin() {
        start("again");
    }

    /** Starts it to be added to the members of its list. */
    void join() {
        start("join");
    }

    private void start(String how) {
        List<String> words = arguments();
        words.add(how);
        words.add(removed);
        process = ChildJvm.start(options, MemberProgram.class, words.toArray(String[]::new));
        runs = true;
        stopped = false;
        listening = false;
    }

    private List<String> arguments() {
        return new ArrayList<>(List.of(
                Integer.toString(port), id, members, data.toString(), Long.toString(maxTtlMillis), secret.toString()));
    }

    /** Waits until the process that was started last takes connections. */
    void awaitListening() throws InterruptedException {
        if (!listening) {
            process.await("listening");
            listening = true;
        }
    }

    /** The id of the member that leads, as its process has heard, which must not be stopped; empty if it has not. */
    String leader() {
        try {
            return process.ask(MemberProgram.LEADER, MemberProgram.LEADER);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while " + id + " was asked", e);
        }
    }

    /** SIGSTOP. */
    void stop() throws IOException, InterruptedException {
        process.stop();
        stopped = true;
    }

    /** SIGCONT, if it was stopped. */
    void cont() throws IOException, InterruptedException {
        if (stopped && runs) {
            process.cont();
        }
        stopped = false;
    }

    /** SIGKILL. */
    void kill() throws InterruptedException {
        process.kill9();
        runs = false;
    }

    /** As an operator ends it. */
    void end() throws IOException, InterruptedException {
        cont();
        process.tell("end");
        int status = process.awaitExit();
        if (status != 0) {
            throw new AssertionError("a member ended with status " + status + ": " + process.printed());
        }
        runs = false;
    }

    /** Throws away all that it has written; it must not run. */
    void wipe() throws IOException {
        if (!Files.exists(data)) {
            return;
        }
        try (Stream<Path> files = Files.walk(data)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    /** What its present process has printed. */
    String log() {
        return "--- " + String.join(" ", arguments()) + "\n" + (process == null ? "" : process.printed());
    }

    @Override
    public void close() throws InterruptedException {
        if (process != null) {
            process.close();
        }
    }
}
