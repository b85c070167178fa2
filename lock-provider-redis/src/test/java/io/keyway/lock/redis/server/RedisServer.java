// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis.server;

import io.keyway.lock.tck.process.ChildProcess;
import io.keyway.lock.tck.process.Signals;
import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.stream.Stream;

/**
 * A process that serves Redis on the loopback address, its data in a folder of its own. What it has answered it still
 * knows after {@link #kill()} and {@link #restart()}: it appends to a file before it answers, and only the machine's
 * crash could lose that. Thread-bound to the test.
 */
public final class RedisServer implements AutoCloseable {
    private static final String HOST = "127.0.0.1";
    private static final Set<ChildProcess> RUNNING =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    static {
        Runtime.getRuntime()
                .addShutdownHook(new Thread(() -> List.copyOf(RUNNING).forEach(ChildProcess::close), "redis-servers"));
    }

    private final RedisExecutable executable;
    private final Path directory;
    private final int port;
    private final List<String> settings;
    private final String ready;
    private ChildProcess process;

    private RedisServer(RedisExecutable executable, Path directory, int port, List<String> settings, String ready) {
        this.executable = executable;
        this.directory = directory;
        this.port = port;
        this.settings = List.copyOf(settings);
        this.ready = ready;
        this.process = run();
    }

    /** Starts the server that the tests bring along, with these lines of configuration; returns when it serves. */
    public static RedisServer start(Path parent, String... settings) throws IOException, InterruptedException {
        return start(RedisExecutable.brought(), parent, settings);
    }

    /** Starts that server with these lines of configuration; returns when it serves. */
    public static RedisServer start(RedisExecutable executable, Path parent, String... settings)
            throws IOException, InterruptedException {
        RedisServer server = begin(executable, parent, Ports.free(), List.of(settings));
        server.awaitReady();
        return server;
    }

    /** As {@link #start}, and returns at once. */
    static RedisServer begin(RedisExecutable executable, Path parent, int port, List<String> settings)
            throws IOException {
        List<String> lines = new ArrayList<>(List.of(
                "port " + port,
                "bind " + HOST,
                "save \"\"",
                "appendonly yes",
                "appendfsync no", // everysec holds back writes while a sync is under way
                "repl-diskless-sync yes",
                "repl-diskless-sync-delay 0"));
        lines.addAll(settings);
        return new RedisServer(
                executable,
                Files.createDirectories(parent.resolve("redis-" + port)),
                port,
                lines,
                "Ready to accept connections");
    }

    /** Starts a sentinel with these lines of configuration; returns at once. */
    static RedisServer beginSentinel(RedisExecutable executable, Path parent, int port, List<String> settings)
            throws IOException {
        List<String> lines = new ArrayList<>(List.of("port " + port, "bind " + HOST));
        lines.addAll(settings);
        return new RedisServer(
                executable, Files.createDirectories(parent.resolve("sentinel-" + port)), port, lines, "Sentinel ID is");
    }

    private ChildProcess run() {
        try {
            Path file = directory.resolve("redis.conf");
            if (!Files.exists(file)) { // sentinels and nodes of a cluster write to it what they learn
                Files.write(file, settings);
            }
            List<String> command = new ArrayList<>(
                    List.of(executable.path().toString(), file.toString(), "--dir", directory.toString()));
            if (isSentinel()) {
                command.add("--sentinel");
            }
            ChildProcess started = ChildProcess.start(new ProcessBuilder(command).redirectErrorStream(true));
            RUNNING.add(started);
            return started;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean isSentinel() {
        return ready.startsWith("Sentinel");
    }

    void awaitReady() throws InterruptedException {
        process.line(line -> line.contains(ready));
    }

    /** Its port on 127.0.0.1. */
    public int port() {
        return port;
    }

    /** As {@code host:port}. */
    public String address() {
        return HOST + ":" + port;
    }

    /** The URL of a client. */
    public String url() {
        return "lock:redis://" + address() + "/0";
    }

    /** The URL of a client with these options, joined by ampersands. */
    public String url(String options) {
        return url() + "?" + options;
    }

    /** The version of the server. */
    public RedisExecutable executable() {
        return executable;
    }

    /** What it has printed. */
    public String log() {
        return process.out();
    }

    /** Sends a command on a connection of its own and returns the answer, its bytes as text. */
    public Object ask(String... words) {
        return Wire.ask(HOST, port, List.of(words));
    }

    /** The keys of locks and semaphores, of whatever prefix, that would stay if nobody used their names again. */
    public List<String> endless() {
        List<?> keys = (List<?>) ask("EVAL", """
                local endless = {}
                for _, key in ipairs(redis.call('KEYS', '*')) do
                  if string.find(key, '}:[ls]') and redis.call('PTTL', key) == -1 then
                    endless[#endless + 1] = key
                  end
                end
                return endless""", "0");
        return keys.stream().map(Object::toString).toList();
    }

    /** SIGKILL. */
    public void kill() throws InterruptedException {
        process.kill9();
    }

    /** Starts it again, after {@link #kill()}; returns when it serves, with all that it has answered. */
    public void restart() throws InterruptedException {
        process = run();
        awaitReady();
    }

    /** Starts it again without its data. */
    public void restartEmpty() throws IOException, InterruptedException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                if (!file.equals(directory) && !file.endsWith("redis.conf") && !file.endsWith("nodes.conf")) {
                    Files.delete(file);
                }
            }
        }
        restart();
    }

    /** Whether the process has not ended. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** SIGSTOP; returns when it stands still. */
    public void pause() throws IOException, InterruptedException {
        Signals.stop(process.pid());
    }

    /** SIGCONT; returns when it goes on. */
    public void resume() throws IOException, InterruptedException {
        Signals.cont(process.pid());
    }

    @Override
    public void close() throws InterruptedException {
        process.kill9();
        RUNNING.remove(process);
    }
}
