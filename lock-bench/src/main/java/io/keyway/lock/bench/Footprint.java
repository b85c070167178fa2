// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What many locks cost: held, and after their end. Heaps are what lives after a collection, as jcmd says. */
final class Footprint {
    private static final int LOCKS = 100_000;
    private static final int BEFORE = 2_000;
    private static final int THREADS = 8;
    private static final Duration WATCHED = Duration.ofSeconds(30);
    /** Leases and the like that outlast their use are over by then. */
    private static final Duration SETTLED = Duration.ofSeconds(2);

    private static final Pattern TOTAL = Pattern.compile("Total\\s+\\d+\\s+(\\d+)");

    private final Contender client;
    private final List<ProcessHandle> servers;

    Footprint(Contender client, List<ProcessHandle> servers) {
        this.client = client;
        this.servers = servers;
    }

    /**
     * Processor time of a client that holds {@value #LOCKS} locks and does nothing else, and the heap for each lock.
     */
    Figures held() throws Exception {
        List<ProcessHandle> here = List.of(ProcessHandle.current());
        eachOf("before", BEFORE, hold -> hold.free());
        long clientBefore = heap(here);
        long serverBefore = heap(servers);
        List<Contender.Hold> held = java.util.Collections.synchronizedList(new ArrayList<>());
        eachOf("held", LOCKS, held::add);
        long clientHeap = heap(here) - clientBefore;
        long serverHeap = heap(servers) - serverBefore;
        Thread.sleep(SETTLED.toMillis());
        Usage client = Usage.of(here);
        Usage server = Usage.of(servers);
        Thread.sleep(WATCHED.toMillis());
        Figures figures = new Figures()
                .with(Figures.FIGURE, percent(Usage.of(here).since(client)))
                .with("client%", percent(Usage.of(here).since(client)))
                .with("server%", percent(Usage.of(servers).since(server)))
                .with("clientBytes", (double) clientHeap / LOCKS)
                .with("serverBytes", (double) serverHeap / LOCKS);
        for (Contender.Hold hold : held) {
            hold.free();
        }
        return figures;
    }

    /** The heap that is left of {@value #LOCKS} names that were locked once each. */
    Figures once() throws Exception {
        List<ProcessHandle> here = List.of(ProcessHandle.current());
        eachOf("before", BEFORE, hold -> hold.free());
        Thread.sleep(SETTLED.toMillis());
        long clientBefore = heap(here);
        long serverBefore = heap(servers);
        eachOf("once", LOCKS, hold -> hold.free());
        Thread.sleep(SETTLED.toMillis());
        double clientLeft = (double) (heap(here) - clientBefore) / LOCKS;
        double serverLeft = (double) (heap(servers) - serverBefore) / LOCKS;
        return new Figures()
                .with(Figures.FIGURE, serverLeft)
                .with("clientBytes", clientLeft)
                .with("serverBytes", serverLeft);
    }

    private static double percent(Usage used) {
        return used.processor().toNanos() * 100.0 / WATCHED.toNanos();
    }

    private interface Use {
        void of(Contender.Hold hold) throws Exception;
    }

    private void eachOf(String prefix, int count, Use use) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Callable<Void>> tasks = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int first = i;
                tasks.add(() -> {
                    for (int each = first; each < count; each += THREADS) {
                        use.of(client.take(prefix + "/" + each));
                    }
                    return null;
                });
            }
            for (Future<Void> result : threads.invokeAll(tasks)) {
                result.get();
            }
        } finally {
            threads.shutdown();
        }
    }

    private static long heap(List<ProcessHandle> processes) throws IOException {
        long sum = 0;
        for (ProcessHandle process : processes) {
            Process jcmd = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "jcmd")
                                    .toString(),
                            Long.toString(process.pid()),
                            "GC.class_histogram")
                    .redirectErrorStream(true)
                    .start();
            String last = "";
            try (BufferedReader lines = jcmd.inputReader(StandardCharsets.UTF_8)) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    last = line;
                }
            }
            Matcher total = TOTAL.matcher(last);
            if (!total.find()) {
                throw new IOException("jcmd does not tell the heap of process " + process.pid() + ": " + last);
            }
            sum += Long.parseLong(total.group(1));
        }
        return sum;
    }
}
