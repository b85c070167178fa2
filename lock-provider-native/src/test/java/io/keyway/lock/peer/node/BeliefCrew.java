// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.process.Signals;
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
import java.util.regex.Pattern;

/** Processes that take the locks of one directory, and what they believed, on the machine's one monotonic clock. */
final class BeliefCrew implements AutoCloseable {
    static final Duration TTL = Duration.ofSeconds(1);
    static final String MAX_TTL = "2s";

    /** When a process believed to hold a name; {@code to} is when it last said so. */
    private record Belief(String name, long token, long from, long to) {}

    private final Path directory;
    private final String options;
    private final List<ChildJvm> workers = new ArrayList<>();
    private final List<Path> files = new ArrayList<>();
    private final Map<String, Integer> known = new HashMap<>();

    /** @param options of the URL, each with a leading ampersand */
    BeliefCrew(Path directory, String options) {
        this.directory = directory;
        this.options = options;
    }

    /** The directory in which they meet. */
    Path locks() {
        return directory.resolve("locks");
    }

    ChildJvm start() throws IOException {
        return start(false);
    }

    /** @param twin the process has two workers, each with classes of its own */
    ChildJvm start(boolean twin) throws IOException {
        Path file = directory.resolve("beliefs-" + files.size());
        files.add(file);
        String url = "lock:native:local://" + locks() + "?ttl=" + TTL.toMillis() + "ms&maxTtl=" + MAX_TTL + options;
        List<String> arguments = new ArrayList<>(List.of(url, file.toString(), "2", Integer.toString(files.size())));
        if (twin) {
            Path second = directory.resolve("beliefs-" + files.size());
            files.add(second);
            arguments.add(second.toString());
        }
        ChildJvm worker = ChildJvm.start(BeliefWorker.class, arguments.toArray(String[]::new));
        workers.add(worker);
        return worker;
    }

    List<ChildJvm> workers() {
        return workers;
    }

    void replace(ChildJvm gone) throws IOException {
        workers.remove(gone);
        start();
    }

    /** The worker that hosts now, if host.info names one. */
    Optional<ChildJvm> host() {
        long pid = new Arbiter(locks()).info().map(HostInfo::pid).orElse(0L);
        return workers.stream().filter(worker -> worker.pid() == pid).findFirst();
    }

    /** Waits for it. */
    ChildJvm awaitHost() {
        Signals.until("one of the workers hosts", () -> host().isPresent());
        return host().orElseThrow();
    }

    /** Every process that lives gets a lock again. */
    void awaitProgress(String when) {
        awaitProgress(when, workers.size());
    }

    /** So many of them get a lock again. */
    void awaitProgress(String when, int most) {
        Map<Path, Long> sizes = new HashMap<>();
        for (Path file : files) {
            sizes.put(file, size(file));
        }
        Signals.until(
                "progress of all processes " + when,
                () -> files.stream()
                                .filter(file -> size(file) > sizes.get(file))
                                .count()
                        >= most);
    }

    /** Waits until one of them has written that into its log, again if it was waited for before. */
    void awaitLog(String text) {
        int before = known.getOrDefault(text, 0);
        Signals.until("a log says: " + text, () -> logged(text) > before);
        known.put(text, logged(text));
    }

    /** How often they have written that. */
    int logged(String text) {
        int times = 0;
        for (Path file : files) {
            Path log = Path.of(file + ".log");
            try {
                if (Files.exists(log)) {
                    times += Files.readString(log, StandardCharsets.UTF_8).split(Pattern.quote(text), -1).length - 1;
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
        return times;
    }

    private static long size(Path file) {
        try {
            return Files.exists(file) ? Files.size(file) : 0;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Ends all in order, and checks that never two believed in one name, and that tokens rose. */
    void endAndCheck(int least) throws IOException, InterruptedException {
        for (ChildJvm worker : workers) {
            worker.tell("end");
            worker.awaitExit();
        }
        List<Belief> beliefs = beliefs();
        assertThat(beliefs).hasSizeGreaterThan(least);
        for (int i = 1; i < beliefs.size(); i++) {
            Belief before = beliefs.get(i - 1);
            Belief after = beliefs.get(i);
            if (before.name().equals(after.name())) {
                assertThat(after.from()).as("%s then %s", before, after).isGreaterThan(before.to());
                assertThat(after.token()).as("%s then %s", before, after).isGreaterThan(before.token());
            }
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

    @Override
    public void close() throws InterruptedException {
        for (ChildJvm worker : workers) {
            worker.close();
        }
    }
}
