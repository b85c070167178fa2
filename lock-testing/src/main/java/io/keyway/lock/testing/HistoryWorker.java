// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.journal.Journal;
import io.keyway.lock.tck.journal.MachineClock;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The program of a process whose users, three threads of one client, take locks at random; it writes their journal.
 * Arguments: URL, seed, names (comma-separated), journal, and a second journal for a second client whose classes are
 * another class loader's. With the system property {@value #CANDIDATE} it stands as a candidate for the election of the
 * first name instead; with {@value #TRANSACTIONS} one of its users takes most locks in transactions. It says {@code
 * ready CLOCK}, then obeys each line:
 *
 * <ul>
 *   <li>{@code tour}: finishes what it does, takes each name once, perhaps in transactions, says {@code toured
 *       CLOCK}, and stands still; a candidate goes on, and says it as soon as somebody leads;
 *   <li>{@code go}: takes locks at random again;
 *   <li>{@code open FILE}: opens and closes that file, as other code of the process might, and says {@code closed};
 *   <li>{@code end}, or the end of its input: closes its clients and ends.
 * </ul>
 */
public final class HistoryWorker implements AutoCloseable {
    /** Set for a process that is to stand for election. */
    static final String CANDIDATE = "keyway.candidate";

    /** The members of which a majority elects it, with commas between; empty for the one that has the name. */
    static final String ELECTORS = "keyway.electors";

    /** Set for a process of which one user takes most locks in transactions; its URL states the ttl. */
    static final String TRANSACTIONS = "keyway.transactions";

    private static final int USERS = 3;
    private static final int FAILED = 9;

    private final Journal journal;
    private final LockClient client;
    private final List<String> names;
    private final long seed;
    private final Pause pause = new Pause();
    private final List<Thread> threads = new ArrayList<>();
    private final boolean candidate = Boolean.getBoolean(CANDIDATE);
    private final Path beacon;
    /** Null if all take single locks alone. */
    private final @Nullable Duration transactionTtl;

    /** Opens a client and lets its users take locks. Public for the class loader of the second client. */
    public HistoryWorker(String url, String seed, String names, String file) throws IOException {
        this.seed = Long.parseLong(seed);
        this.names = List.of(names.split(",", -1));
        this.journal = new Journal(Path.of(file));
        this.client = Locks.open(url, ClientOptions.defaults().withName("worker-" + seed));
        this.beacon = Path.of(file).resolveSibling("leader");
        this.transactionTtl = Boolean.getBoolean(TRANSACTIONS)
                ? LockUrl.parse(url).option(CommonOptions.TTL).orElseThrow()
                : null;
        for (int i = 0; i < (candidate ? 1 : USERS); i++) {
            Runnable user = candidate
                    ? new CandidateUser(client, journal, this.names.get(0), electors(), beacon, this.seed)
                    : new RandomUser(
                            client, journal, this.names, pause, this.seed * USERS + i, i == 0 ? transactionTtl : null);
            Thread thread = new Thread(user, "user-" + seed + "-" + i);
            thread.setDaemon(true);
            thread.setUncaughtExceptionHandler(HistoryWorker::failed);
            thread.start();
            threads.add(thread);
        }
    }

    private static List<String> electors() {
        String electors = System.getProperty(ELECTORS, "");
        return electors.isEmpty() ? List.of() : List.of(electors.split(",", -1));
    }

    /** A user that ends unasked makes no history; nobody may take the process for a good one. */
    private static void failed(Thread user, Throwable why) {
        why.printStackTrace();
        Runtime.getRuntime().halt(FAILED);
    }

    /** Runs until told otherwise. */
    @SuppressWarnings("SystemOut") // the line protocol of this process
    public static void main(String[] args) throws Exception {
        long start = MachineClock.now();
        try (HistoryWorker worker = new HistoryWorker(args[0], args[1], args[2], args[3]);
                AutoCloseable twin = args.length > 4 ? twin(args[0], args[1] + "9", args[2], args[4]) : () -> {}) {
            System.out.println("ready " + start);
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
                if (line.equals("tour")) {
                    worker.tour();
                    System.out.println("toured " + MachineClock.now());
                } else if (line.equals("go")) {
                    worker.go();
                } else if (line.startsWith("open ")) {
                    new FileInputStream(line.substring("open ".length())).close();
                    System.out.println("closed");
                } else {
                    System.out.println("what? " + line);
                }
            }
        }
    }

    private static AutoCloseable twin(String... args) throws ReflectiveOperationException, MalformedURLException {
        List<URL> path = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            path.add(Path.of(entry).toUri().toURL());
        }
        ClassLoader other = new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
        Class<?> twin = other.loadClass(HistoryWorker.class.getName());
        if (twin == HistoryWorker.class) {
            throw new IllegalStateException("the same classes");
        }
        ClassLoader own = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(other);
        try {
            return (AutoCloseable) twin.getConstructor(String.class, String.class, String.class, String.class)
                    .newInstance((Object[]) args);
        } finally {
            Thread.currentThread().setContextClassLoader(own);
        }
    }

    private void go() {
        if (!candidate) {
            pause.end();
        }
    }

    private void tour() throws InterruptedException, IOException {
        if (candidate) {
            CandidateUser.awaitLeader(beacon, MachineClock.now());
            return;
        }
        RandomUser visitor = new RandomUser(client, journal, names, pause, seed, transactionTtl);
        pause.begin();
        visitor.visitAll((int) Math.floorMod(seed, (long) names.size())); // each process begins elsewhere
    }

    /** Stops taking locks and closes the client. */
    @Override
    public void close() throws IOException, InterruptedException {
        threads.forEach(Thread::interrupt);
        for (Thread thread : threads) {
            thread.join();
        }
        client.close();
        journal.close();
    }
}
