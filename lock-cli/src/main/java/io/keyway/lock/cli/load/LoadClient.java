// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.peer.MemoryWorld;
import io.keyway.lock.tck.journal.Journal;
import io.keyway.lock.tck.journal.MachineClock;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.IntStream;

/**
 * The program of one client process of a load. Arguments: {@link ClientSettings}; the first line that it reads is the
 * URL, since a command line can be read by everybody. It writes its journal to standard output, and between its lines
 * others that begin with {@code load}. It says {@code load ready CLOCK}, then obeys each line:
 *
 * <ul>
 *   <li>{@code warm N}: takes and gives back one lock of all clients so often, or for two seconds, with a journal of
 *       its own, and then says {@code load warm};
 *   <li>{@code probe N}: asks for so many locks of its own at once, which it waits for a moment, and says {@code load
 *       probed} and how many it got;
 *   <li>{@code burst N}: carries out so many commands, each of which acquires or releases a lock at random, and says
 *       {@code load done};
 *   <li>{@code cut}, {@code heal}: cuts its link inside a memory world;
 *   <li>{@code end}, or the end of its input: gives back what it holds, says {@code load ended}, and ends.
 * </ul>
 */
public final class LoadClient {
    private static final Duration PROBE_LIMIT = Duration.ofMillis(500);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long WARM_NANOS = 2_000_000_000;

    private final BufferedReader in;
    private final Writer out;
    private final ClientSettings settings;
    private final BlockingQueue<String> orders = new LinkedBlockingQueue<>();

    LoadClient(ClientSettings settings, BufferedReader in, Writer out) {
        this.settings = settings;
        this.in = in;
        this.out = out;
    }

    /** Runs one client. */
    public static void main(String[] args) throws IOException, InterruptedException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Writer out = new BufferedWriter(
                new OutputStreamWriter(new FileOutputStream(FileDescriptor.out), StandardCharsets.UTF_8));
        new LoadClient(ClientSettings.parse(List.of(args)), in, out).run();
    }

    /** Until it is told to end. */
    void run() throws IOException, InterruptedException {
        String url = in.readLine();
        if (url == null) {
            return;
        }
        RequestCount count = new RequestCount();
        ClientOptions options = ClientOptions.defaults()
                .withName(settings.name())
                .withDefaults(LockOptions.none().withTtl(settings.leaseTime()));
        try (LockClient client = Locks.open(LockUrl.parse(url), options, LoadClient.class.getClassLoader(), count)) {
            say("ready " + MachineClock.now());
            LoadUser user = new LoadUser(settings, client, count, new Journal(out), this::say);
            Thread thread = new Thread(() -> obey(client, count, user), settings.name());
            thread.setDaemon(true);
            thread.start();
            for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
                if (line.equals("cut") || line.equals("heal")) {
                    client.unwrap(MemoryWorld.class).cut(line.equals("cut"));
                    say("linked");
                } else {
                    orders.add(line);
                }
            }
            thread.interrupt();
            thread.join();
            user.close();
            if (count.requests() >= 0) {
                say("requests " + count.requests());
            }
        } catch (RuntimeException e) {
            fail(e);
        }
        say("ended");
    }

    private void obey(LockClient client, RequestCount count, LoadUser user) {
        try {
            while (true) {
                String[] words = orders.take().split(" ", 2);
                int times = Integer.parseInt(words[1]);
                if (words[0].equals("warm")) {
                    warm(client, count, times);
                    say("warm");
                } else if (words[0].equals("probe")) {
                    say("probed " + probe(client, times));
                } else {
                    for (int i = 0; i < times; i++) {
                        user.step();
                    }
                    say("done");
                }
            }
        } catch (InterruptedException e) {
            // Told to end.
        } catch (RuntimeException e) {
            fail(e);
        }
    }

    /** Connects, and loads the code of the commands, before anything is measured. */
    private void warm(LockClient client, RequestCount count, int times) throws InterruptedException {
        ClientSettings own = settings.warmUp(PATIENCE);
        client.lock(own.prefix() + "/0")
                .tryAcquire(PATIENCE)
                .orElseThrow(() -> new IllegalStateException("a lock for warming up was not granted within 30 s"))
                .release();
        try (LoadUser user = new LoadUser(own, client, count, new Journal(out), this::warmed)) {
            long start = System.nanoTime();
            for (int i = 0; i < times && System.nanoTime() - start < WARM_NANOS; i++) {
                user.step();
                user.step();
            }
        }
        count.forget();
    }

    private void warmed(String line) {
        say(line);
        if (line.startsWith("error ")) {
            throw new IllegalStateException("a lock for warming up: " + line.substring("error ".length()));
        }
    }

    private long probe(LockClient client, int names) {
        List<CompletableFuture<Boolean>> attempts = IntStream.range(0, names)
                .mapToObj(i -> client.lock(settings.prefix() + "/probe-" + i)
                        .tryAcquireAsync(PROBE_LIMIT)
                        .thenApply(lease -> {
                            lease.ifPresent(Lease::releaseAsync);
                            return lease.isPresent();
                        })
                        .exceptionally(failure -> false))
                .toList();
        return attempts.stream().filter(CompletableFuture::join).count();
    }

    /** Whether another try can help decides which word it is. */
    private void fail(RuntimeException e) {
        boolean refused = e instanceof IllegalArgumentException
                || e instanceof InvalidLockUrlException
                || e instanceof UnsupportedFeatureException
                || (e instanceof LockUnavailableException unavailable && !unavailable.retryable());
        say((refused ? "refused " : "failed ") + String.valueOf(e.getMessage()).replace('\n', ' '));
    }

    private void say(String line) {
        try {
            out.write("load " + line + "\n");
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
