// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import io.keyway.lock.LockUrl;
import io.keyway.lock.peer.local.HostLauncher;
import io.keyway.lock.tck.proxy.FaultProxy;
import io.keyway.lock.tck.proxy.ServerProxies;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.channels.Pipe;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One client of a load, as its master sees it: a process of its own, or, for locks that no other process sees, a
 * thread of this one. Its links may be cut.
 */
final class LoadProcess implements AutoCloseable {
    /** Ctrl-C is the master's. */
    private static final String IGNORING = "trap '' INT TERM HUP QUIT; exec \"$@\"";

    private final @Nullable Process process;
    private final Writer orders;
    private final Thread reader;
    private final @Nullable ServerProxies links;

    private LoadProcess(
            @Nullable Process process,
            Writer orders,
            Reader lines,
            @Nullable ServerProxies links,
            String name,
            Consumer<String> heard) {
        this.process = process;
        this.orders = orders;
        this.links = links;
        this.reader = new Thread(() -> read(new BufferedReader(lines), heard), "load-" + name);
        reader.setDaemon(true);
        reader.start();
    }

    /**
     * Starts a process.
     *
     * @param links its own way to the servers, or null if it has no way that can be cut
     * @param heard is told each line, by a thread of this client's own, and {@code load gone} last
     */
    static LoadProcess start(
            ClientSettings settings, LockUrl url, @Nullable ServerProxies links, Consumer<String> heard)
            throws IOException {
        List<String> words = new ArrayList<>(List.of("/bin/sh", "-c", IGNORING, "keyway-load"));
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.addAll(List.of(
                "-Xrs",
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                "-XX:CompileThresholdScaling=0.1"));
        words.addAll(List.of("-Xshare:auto", "-Xlog:disable", "-Xlog:all=error,cds=off:stderr"));
        words.addAll(List.of("-Dio.netty.jfr.enabled=false", "-Djava.util.logging.config.file=/dev/null"));
        words.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=off");
        String archive = System.getProperty("keyway.archive");
        if (archive != null) {
            words.add("-XX:SharedArchiveFile=" + archive);
        }
        words.addAll(List.of("-cp", HostLauncher.classPath(), LoadClient.class.getName()));
        words.addAll(settings.words());
        Process process = new ProcessBuilder(words)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        LoadProcess started = new LoadProcess(
                process,
                new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8)),
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8),
                links,
                settings.name(),
                heard);
        started.tell(url.reveal());
        return started;
    }

    /** Starts a thread of this process, for locks that are inside it. */
    static LoadProcess inside(ClientSettings settings, LockUrl url, Consumer<String> heard) throws IOException {
        Pipe to = Pipe.open();
        Pipe from = Pipe.open();
        LoadClient client = new LoadClient(
                settings,
                new BufferedReader(Channels.newReader(to.source(), StandardCharsets.UTF_8)),
                new BufferedWriter(Channels.newWriter(from.sink(), StandardCharsets.UTF_8)));
        Thread thread = new Thread(
                () -> {
                    try (Pipe.SinkChannel end = from.sink()) {
                        client.run();
                        end.close();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                settings.name());
        thread.setDaemon(true);
        thread.start();
        LoadProcess started = new LoadProcess(
                null,
                new BufferedWriter(Channels.newWriter(to.sink(), StandardCharsets.UTF_8)),
                Channels.newReader(from.source(), StandardCharsets.UTF_8),
                null,
                settings.name(),
                heard);
        started.tell(url.reveal());
        return started;
    }

    private static void read(BufferedReader lines, Consumer<String> heard) {
        try (lines) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                heard.accept(line);
            }
        } catch (IOException e) {
            // It is gone.
        }
        heard.accept("load gone");
    }

    /** Sends a line; nothing if it is gone. */
    synchronized void tell(String line) {
        try {
            orders.write(line + "\n");
            orders.flush();
        } catch (IOException e) {
            // Its last line says so.
        }
    }

    /**
     * Nothing that it sends arrives, and nothing that is sent to it.
     *
     * @return whether that is so already, and not soon
     */
    boolean cut() {
        if (links == null) {
            tell("cut");
        } else {
            links.all(FaultProxy::blackHole);
        }
        return links != null;
    }

    void heal() {
        if (links == null) {
            tell("heal");
        } else {
            links.all(FaultProxy::heal);
        }
    }

    /** Waits for its end after {@code end}; kills it if it does not come. */
    void end(long seconds) throws InterruptedException {
        reader.join(TimeUnit.SECONDS.toMillis(seconds));
        close();
    }

    @Override
    public void close() {
        if (process != null) {
            process.destroyForcibly();
        }
        if (links != null) {
            links.close();
        }
    }
}
