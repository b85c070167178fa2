// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.node;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.Locks;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process that takes locks and writes down when it believed to hold them, on the machine's monotonic clock: {@code begin name token at} and {@code end name token at}. Arguments: URL, file, names, seed.
 * With a fifth, a second worker runs there whose classes are another class loader's, and writes into that file. Ends when its standard input does, or says {@code end}; any other line is a file that it opens and closes. Its log is the file with {@code .log}.
 */
public final class BeliefWorker {
    private static final Duration WAIT = Duration.ofSeconds(30);
    private static final long LONGEST_USE = Duration.ofMillis(4).toNanos();

    private BeliefWorker() {}

    /** Made when the first line is logged, after the property that says where. */
    private static final class Log {
        static final Logger OF = LoggerFactory.getLogger(BeliefWorker.class);
    }

    public static void main(String[] args) throws Exception {
        System.setProperty("org.slf4j.simpleLogger.logFile", args[1] + ".log");
        List<Thread> works = new ArrayList<>();
        works.add(begin(() -> work(args[0], args[1], args[2], args[3])));
        if (args.length > 4) {
            works.add(begin(() -> workOfOtherClasses(args[0], args[4], args[2], args[3] + "9")));
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
            new FileInputStream(line).close();
            System.out.println("closed");
        }
        works.forEach(Thread::interrupt);
        for (Thread work : works) {
            work.join();
        }
    }

    private static Thread begin(Runnable run) {
        Thread work = new Thread(run, "work");
        work.setDaemon(true);
        work.start();
        return work;
    }

    private static void workOfOtherClasses(String... args) {
        try {
            List<URL> path = new ArrayList<>();
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
                path.add(Path.of(entry).toUri().toURL());
            }
            ClassLoader other = new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
            Thread.currentThread().setContextClassLoader(other);
            Class<?> twin = other.loadClass(BeliefWorker.class.getName());
            if (twin == BeliefWorker.class) {
                throw new IllegalStateException("the same classes");
            }
            twin.getDeclaredMethod("work", String.class, String.class, String.class, String.class)
                    .invoke(null, (Object[]) args);
        } catch (ReflectiveOperationException | IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Public for the worker of other classes. */
    public static void work(String url, String file, String names, String seed) {
        SplittableRandom random = new SplittableRandom(Long.parseLong(seed));
        int bound = Integer.parseInt(names);
        try (Writer out = Files.newBufferedWriter(Path.of(file), StandardCharsets.UTF_8);
                LockClient client = Locks.open(url, ClientOptions.defaults().withName("worker-" + seed))) {
            while (!Thread.interrupted()) {
                use(client, "name-" + random.nextInt(bound), random.nextLong(LONGEST_USE), out);
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
            Log.OF.info("a user was told: {}", e.getMessage());
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
            if (!lease.isHeld()) {
                lease.lost().thenAccept(loss -> Log.OF.info("a user was told: {}", loss.detail()));
            }
        }
    }

    private static void write(Writer out, String word, String name, long token, long at) throws IOException {
        out.write(String.format(Locale.ROOT, "%s %s %d %d%n", word, name, token, at));
        out.flush();
    }
}
