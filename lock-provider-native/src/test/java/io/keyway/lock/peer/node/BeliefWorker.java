// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.node;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.Locks;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * A process that takes locks and writes down when it believed to hold them, on the machine's monotonic clock: {@code begin name token at} and {@code end name token at}. Arguments: URL, file, names, seed.
 * Ends when its standard input does, or says {@code end}.
 */
public final class BeliefWorker {
    private static final Duration WAIT = Duration.ofSeconds(30);
    private static final long LONGEST_USE = Duration.ofMillis(4).toNanos();

    private BeliefWorker() {}

    public static void main(String[] args) throws Exception {
        Thread work = new Thread(() -> work(args), "work");
        work.setDaemon(true);
        work.start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
            // only the end matters
        }
        work.interrupt();
        work.join();
    }

    private static void work(String[] args) {
        SplittableRandom random = new SplittableRandom(Long.parseLong(args[3]));
        int names = Integer.parseInt(args[2]);
        try (Writer out = Files.newBufferedWriter(Path.of(args[1]), StandardCharsets.UTF_8);
                LockClient client = Locks.open(args[0], ClientOptions.defaults().withName("worker-" + args[3]))) {
            while (!Thread.interrupted()) {
                use(client, "name-" + random.nextInt(names), random.nextLong(LONGEST_USE), out);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void use(LockClient client, String name, long nanos, Writer out)
            throws InterruptedException, IOException {
        Optional<Lease> acquired;
        try {
            acquired = client.lock(name).tryAcquire(WAIT);
        } catch (LockException e) {
            return;
        }
        if (acquired.isEmpty()) {
            return;
        }
        try (Lease lease = acquired.get()) {
            long first = System.nanoTime();
            if (!lease.isHeld()) {
                return;
            }
            write(out, "begin", name, lease.token(), first);
            long last = first;
            for (long now = first; now - first < nanos; now = System.nanoTime()) {
                if (!lease.isHeld()) {
                    break;
                }
                last = now;
            }
            write(out, "end", name, lease.token(), last);
        }
    }

    private static void write(Writer out, String word, String name, long token, long at) throws IOException {
        out.write(String.format(Locale.ROOT, "%s %s %d %d%n", word, name, token, at));
        out.flush();
    }
}
