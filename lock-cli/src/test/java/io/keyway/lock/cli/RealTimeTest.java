// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * No test decides by the machine's clock alone. A wait ends when its condition holds, and its limit goes through
 * Patience, which knows how slow and busy the machine is ({@code await()} without a limit does so by itself). Each
 * source of a test that uses the clock in another way is in {@code real-time.txt}, beneath what makes it safe.
 */
class RealTimeTest {
    private static final Path ROOT = Path.of("..");
    private static final Path LIST = Path.of("src/test/resources/io/keyway/lock/cli/real-time.txt");

    /** What is never right, and what to write instead. */
    private static final Map<Pattern, String> FORBIDDEN = Map.of(
            Pattern.compile("\\.(get|await|waitFor|orTimeout|atMost)\\([\\d_]+, (TimeUnit\\.)?SECONDS\\)"),
            "a limit that is the same on each machine: Patience.seconds(n); in lock-api minutes",
            Pattern.compile("\\.atMost\\((?!Patience\\.|time\\.plus\\(Patience\\.)[A-Z][^)]*\\)"),
            "a limit that is the same on each machine: Patience.of(...)",
            Pattern.compile("\\.withCheckLimit\\(\\s*+(?!Patience\\.)"),
            "a limit within which a run of the kit is opened, too: Patience.of(...)",
            Pattern.compile("\\.join\\(\\d[\\d_]{2,}\\)"),
            "a limit that is the same on each machine: Patience.of(...).toMillis()");

    /** Other uses of real time, which have to be listed. */
    private static final Map<String, Pattern> USES = Map.of(
            "reads the clock", Pattern.compile("System\\.nanoTime|currentTimeMillis|Instant\\.now\\("),
            "pauses", Pattern.compile("Thread\\.sleep\\(|(?:SECONDS|MINUTES)\\.sleep\\(|parkNanos\\("),
            "waits for a limit of its own",
                    Pattern.compile("@Timeout|completeOnTimeout\\(|\\.poll\\(\\d|, (?:TimeUnit\\.)?MILLISECONDS\\)"),
            "has a short lease or limit of requests",
                    Pattern.compile(
                            "[?&.;](?:ttl|maxTtl|requestTimeout|connectTimeout|sessionTimeout)=(?:\\d{1,4}ms|\\ds)\\b"
                                    + "|withTtl\\(Duration\\.of(?:Millis\\(\\d{1,4}\\)|Seconds\\(\\d\\))"
                                    + "|(?:TTL|SESSION) = Duration\\.of(?:Millis\\(\\d{1,4}\\)|Seconds\\(\\d\\))"));

    @Test
    void noTestHasALimitThatIsTheSameOnEachMachine() throws IOException {
        List<String> wrong = new ArrayList<>();
        for (Map.Entry<String, String> source : sources().entrySet()) {
            FORBIDDEN.forEach((pattern, instead) -> {
                boolean ofTheApi = source.getKey().startsWith("lock-api/") && instead.contains("Patience.of");
                if (!ofTheApi) {
                    pattern.matcher(source.getValue())
                            .results()
                            .forEach(found -> wrong.add(source.getKey() + ": " + found.group() + ": " + instead));
                }
            });
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void whoUsesRealTimeIsListedWithWhatMakesItSafe() throws IOException {
        Set<String> listed = new TreeSet<>();
        String reason = "";
        for (String line : Files.readAllLines(LIST)) {
            if (line.startsWith("#")) {
                reason = line;
            } else if (!line.isBlank()) {
                assertThat(reason.length()).as("what makes %s safe", line).isGreaterThan(20);
                assertThat(listed.add(line)).as("%s is listed once", line).isTrue();
            }
        }
        Map<String, String> found = new TreeMap<>();
        sources()
                .forEach((name, text) -> USES.forEach((use, pattern) -> {
                    if (pattern.matcher(text).find()) {
                        found.merge(name, use, (one, other) -> one + ", " + other);
                    }
                }));
        Map<String, String> unlisted = new TreeMap<>(found);
        unlisted.keySet().removeAll(listed);
        assertThat(unlisted)
                .as("sources that use real time, and are not in %s: does a busy machine change what they say?", LIST)
                .isEmpty();
        listed.removeAll(found.keySet());
        assertThat(listed)
                .as("what is listed, and uses no real time (any more)")
                .isEmpty();
    }

    /** The patterns find what they are for. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "future.get(20, TimeUnit.SECONDS)",
                "await().atMost(5, SECONDS)",
                "await().atMost(Duration.ofSeconds(5))",
                "await().atMost(PATIENCE)",
                "thread.join(60_000)",
                "process.waitFor(10, TimeUnit.SECONDS)",
                "config.withCheckLimit(Duration.ofSeconds(3))"
            })
    void aLimitIsFound(String line) {
        assertThat(FORBIDDEN.keySet()).anyMatch(pattern -> pattern.matcher(line).find());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "long begun = System.nanoTime();",
                "TimeUnit.MILLISECONDS.sleep(1)",
                "future.get(300, TimeUnit.MILLISECONDS)",
                "Locks.open(url + \"?ttl=1s\")",
                "\"&lock.requestTimeout=300ms\"",
                "options.withTtl(Duration.ofSeconds(2))",
                "static final Duration MAX_TTL = Duration.ofSeconds(1);"
            })
    void aUseIsFound(String line) {
        assertThat(USES.values()).anyMatch(pattern -> pattern.matcher(line).find());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "future.get(Patience.seconds(20), TimeUnit.SECONDS)",
                "await().atMost(Patience.of(PATIENCE))",
                "await().until(this::done)",
                "config.withCheckLimit(Patience.of(HANGS))",
                "\"?ttl=\" + Patience.leaseSeconds(2) + \"s\"",
                "static final Duration TTL = Patience.lease(Duration.ofSeconds(4));"
            })
    void whatGoesThroughPatienceIsFree(String line) {
        assertThat(FORBIDDEN.keySet())
                .noneMatch(pattern -> pattern.matcher(line).find());
        assertThat(USES.values()).noneMatch(pattern -> pattern.matcher(line).find());
    }

    /** All sources of tests, and of what only tests use, by their names; their texts on one line. */
    private static Map<String, String> sources() throws IOException {
        Map<String, String> sources = new TreeMap<>();
        try (Stream<Path> files = Files.walk(ROOT)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                String name = ROOT.relativize(file).toString().replace('\\', '/');
                boolean ofTests = name.contains("src/test/java/") || name.startsWith("lock-testing/src/main/");
                if (ofTests && !name.endsWith("/RealTimeTest.java") && !name.contains("/target/")) {
                    sources.put(name, Files.readString(file).replaceAll("\\n\\s+\\.", "."));
                }
            }
        }
        assertThat(sources).as("sources of tests").hasSizeGreaterThan(500);
        return sources;
    }
}
