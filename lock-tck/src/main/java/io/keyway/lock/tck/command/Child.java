// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.command;

import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.command.Wire.Message;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A {@link TckChild} seen from its parent: its reports, one by one, and its end. What the provider prints goes to a
 * log.
 */
final class Child implements AutoCloseable {
    private static final long EXIT_SECONDS = 10;

    private final Process process;
    private final BlockingQueue<Optional<Message>> reports = new LinkedBlockingQueue<>();
    private final Path log;

    private Child(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /**
     * Starts one, which has the provider on its class path, and reads the rest from standard input.
     *
     * @param place where it is to remove what another one has left, and do nothing else
     */
    static Child start(
            String url,
            TckConfig config,
            List<Path> providerPath,
            ServerCommands commands,
            Path log,
            Optional<String> place)
            throws IOException {
        List<String> classPath = new ArrayList<>(List.of(System.getProperty("java.class.path")));
        providerPath.forEach(entry -> classPath.add(entry.toString()));
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        String.join(File.pathSeparator, classPath),
                        TckChild.class.getName())
                .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        Child child = new Child(process, log);
        Thread reader = new Thread(child::read, "tck-child-" + process.pid());
        reader.setDaemon(true);
        reader.start();
        Message order = new Message.Order(url, config, log.toAbsolutePath().toString(), commands.fields(), place);
        try {
            // Kept open: its end tells the child that the parent is gone.
            OutputStream in = process.getOutputStream();
            in.write((Wire.line(order) + "\n").getBytes(StandardCharsets.UTF_8));
            in.flush();
        } catch (IOException e) {
            // It has ended already, and its reports will say so.
        }
        return child;
    }

    private void read() {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Optional<Message> report = Wire.parse(line);
                if (report.isPresent()) {
                    reports.add(report);
                } else {
                    Files.writeString(log, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                }
            }
        } catch (IOException e) {
            // The end, whatever the reason.
        }
        reports.add(Optional.empty());
    }

    /** What a wait for a report brought. */
    sealed interface News {
        /** A report. */
        record Report(Message message) implements News {}

        /** There will be no more. */
        record End(int exitCode) implements News {}

        /** Nothing, for as long as was allowed; the process is ended. */
        record Silence() implements News {}
    }

    /** Waits for the next report. */
    News next(Duration limit) throws InterruptedException {
        Optional<Message> report = reports.poll(limit.toMillis(), TimeUnit.MILLISECONDS);
        if (report == null) {
            close();
            return new News.Silence();
        }
        if (report.isEmpty()) {
            // The next call finds the end, too.
            reports.add(report);
        }
        return report.<News>map(News.Report::new).orElseGet(() -> new News.End(exitCode()));
    }

    /** Its output has ended, so the process ends in a moment. */
    private int exitCode() {
        try {
            if (!process.waitFor(EXIT_SECONDS, TimeUnit.SECONDS)) {
                close();
            }
            return process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return -1;
        }
    }

    /** Lets it end by itself for a moment, then ends it. */
    void finish() throws InterruptedException {
        if (!process.waitFor(EXIT_SECONDS, TimeUnit.SECONDS)) {
            close();
        }
    }

    /** Ends it and what it has started. */
    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
