// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.process.ChildJvm;
import io.keyway.lock.peer.process.Signals;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Real processes in local mode while their host is killed, stopped and ended, again and again: never two believers, never a lower token, everybody goes on. Beliefs are compared on the machine's one monotonic
 * clock.
 */
class LocalTakeoverTest {
    private static final Duration TTL = Duration.ofSeconds(1);

    /** When a process believed to hold a name; {@code to} is when it last said so. */
    private record Belief(String name, long token, long from, long to) {}

    @TempDir
    Path directory;

    private final List<ChildJvm> workers = new ArrayList<>();
    private final List<Path> files = new ArrayList<>();

    @AfterEach
    void killAll() throws InterruptedException {
        for (ChildJvm worker : workers) {
            worker.close();
        }
    }

    @Test
    void threeProcessesOutliveTheirHosts() throws Exception {
        underFire(3, 6, 20261121);
    }

    @Test
    @Tag("soak")
    void tenProcessesOutliveTheirHosts() throws Exception {
        underFire(10, 60, Long.getLong("keyway.seed", 20261121));
    }

    private void underFire(int processes, int faults, long seed) throws Exception {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < processes; i++) {
            start();
        }
        for (int fault = 0; fault < faults; fault++) {
            awaitProgress("after " + fault + " faults of seed " + seed);
            ChildJvm host = host().orElse(workers.get(random.nextInt(workers.size())));
            switch (fault % 3) {
                case 0 -> {
                    host.kill9();
                    replace(host);
                }
                case 1 -> {
                    host.stop();
                    LockSupport.parkNanos(TTL.multipliedBy(3).toNanos());
                    host.cont();
                }
                default -> {
                    host.tell("end");
                    host.awaitExit();
                    replace(host);
                }
            }
        }
        awaitProgress("after the last fault of seed " + seed);
        for (ChildJvm worker : workers) {
            worker.tell("end");
            worker.awaitExit();
        }
        List<Belief> beliefs = beliefs();
        assertThat(beliefs).hasSizeGreaterThan(20 * faults);
        assertExclusive(beliefs);
    }

    private void start() throws IOException {
        Path file = directory.resolve("beliefs-" + files.size());
        files.add(file);
        String url = "lock:native:local://" + directory.resolve("locks") + "?ttl=" + TTL.toMillis() + "ms&maxTtl=2s";
        workers.add(ChildJvm.start(BeliefWorker.class, url, file.toString(), "2", Integer.toString(files.size())));
    }

    private void replace(ChildJvm gone) throws IOException {
        workers.remove(gone);
        start();
    }

    /** The worker that hosts now, if host.info names one. */
    private Optional<ChildJvm> host() {
        long pid = new Arbiter(directory.resolve("locks"))
                .info()
                .map(HostInfo::pid)
                .orElse(0L);
        return workers.stream().filter(worker -> worker.pid() == pid).findFirst();
    }

    /** Every process that lives gets a lock again. */
    private void awaitProgress(String when) throws IOException {
        List<Path> alive = files.subList(0, files.size());
        Map<Path, Long> sizes = new HashMap<>();
        for (Path file : alive) {
            sizes.put(file, size(file));
        }
        Signals.until(
                "progress of all processes " + when,
                () -> alive.stream()
                                .filter(file -> size(file) > sizes.get(file))
                                .count()
                        >= workers.size());
    }

    private static long size(Path file) {
        try {
            return Files.exists(file) ? Files.size(file) : 0;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private List<Belief> beliefs() throws IOException {
        List<Belief> beliefs = new ArrayList<>();
        for (Path file : files) {
            Map<Long, Belief> open = new HashMap<>();
            String text = Files.readString(file, StandardCharsets.UTF_8);
            // The last line of a process that was killed may be half a line.
            String whole = text.substring(0, text.lastIndexOf('\n') + 1);
            for (String line : whole.lines().toList()) {
                String[] words = line.split(" ", -1);
                long token = Long.parseLong(words[2]);
                long at = Long.parseLong(words[3]);
                long from = words[0].equals("begin") ? at : open.get(token).from();
                open.put(token, new Belief(words[1], token, from, at));
            }
            beliefs.addAll(open.values());
        }
        beliefs.sort(Comparator.comparing(Belief::name).thenComparingLong(Belief::from));
        return beliefs;
    }

    private static void assertExclusive(List<Belief> beliefs) {
        for (int i = 1; i < beliefs.size(); i++) {
            Belief before = beliefs.get(i - 1);
            Belief after = beliefs.get(i);
            if (before.name().equals(after.name())) {
                assertThat(after.from()).as("%s then %s", before, after).isGreaterThan(before.to());
                assertThat(after.token()).as("%s then %s", before, after).isGreaterThan(before.token());
            }
        }
    }
}
