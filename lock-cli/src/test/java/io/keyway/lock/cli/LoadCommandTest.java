// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.process.ChildProcess;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Ports;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** `keyway load` with real client processes. */
class LoadCommandTest {
    @TempDir
    Path directory;

    private final List<ChildProcess> started = new ArrayList<>();

    @AfterEach
    void end() throws Exception {
        started.forEach(ChildProcess::close);
        Path host = directory.resolve("locks/host.info");
        if (Files.exists(host)) {
            try (Stream<String> lines = Files.lines(host)) {
                lines.filter(line -> line.startsWith("pid="))
                        .map(line -> ProcessHandle.of(Long.parseLong(line.substring(4))))
                        .forEach(process -> process.ifPresent(ProcessHandle::destroyForcibly));
            }
        }
    }

    private ChildProcess keyway(String... words) {
        List<String> all = new ArrayList<>(List.of(Installation.get().script().toString()));
        all.addAll(List.of(words));
        ChildProcess process = ChildProcess.start(Map.of(), all);
        started.add(process);
        return process;
    }

    private String local() {
        return "lock:native:local://" + directory.resolve("locks");
    }

    private String member(String... options) throws Exception {
        String id = "127.0.0.1:" + Ports.free();
        List<String> words = new ArrayList<>(List.of("member", "--listen", id, "--members", id, "--init", "--data"));
        words.add(directory.resolve("member").toString());
        words.addAll(List.of(options));
        keyway(words.toArray(String[]::new)).errLine("is open");
        return "lock:native://" + id + "/keyway";
    }

    private static long number(String json, String key) {
        Matcher found = Pattern.compile("\"" + key + "\":(\\d+)").matcher(json.substring(json.indexOf("\"total\"")));
        assertThat(found.find()).as(json).isTrue();
        return Long.parseLong(found.group(1));
    }

    @Test
    void clientsShareLocksAndThePageHasAllOfIt() throws Exception {
        Path page = directory.resolve("page.html");
        ChildProcess load = keyway(
                "load",
                local(),
                "--clients",
                "2",
                "--ops",
                "10",
                "--locks",
                "3",
                "--wait",
                "100ms",
                "--html",
                page.toString(),
                "--json",
                "--partition-every",
                "10s");
        assertThat(load.exitCode()).as(load.err()).isZero();
        assertThat(load.err()).contains("cannot be cut").contains("the load runs without partitions");
        String json = load.out();
        assertThat(json).contains("\"broken\":{}").contains("\"partitionEveryMs\":null");
        assertThat(number(json, "commands")).isEqualTo(20);
        assertThat(number(json, "acquired")).isPositive();
        assertThat(number(json, "acquired") + number(json, "released") + number(json, "errors"))
                .isEqualTo(20);
        assertThat(Files.readString(page))
                .contains(json.strip())
                .doesNotContain("/*DATA*/")
                .doesNotContain("src=");
    }

    @Test
    void aBrokenRuleIsToldWithItsEvidenceAndAStatusOfItsOwn() throws Exception {
        ChildProcess load = keyway(
                "load",
                "lock:everybody://" + directory,
                "--clients",
                "2",
                "--ops",
                "20",
                "--locks",
                "1",
                "--hold",
                "5ms");
        assertThat(load.exitCode()).as(load.err()).isEqualTo(122);
        assertThat(load.out())
                .contains("BROKEN: R1")
                .contains("BROKEN: R5")
                .contains("client-1")
                .contains("client-2");
    }

    @Test
    @Tag("soak")
    void anInterruptEndsItWithASummary() throws Exception {
        ChildProcess load = keyway(
                "load",
                "lock:native:mem://interrupted",
                "--clients",
                "2",
                "--duration",
                "1h",
                "--locks",
                "2",
                "--wait",
                "50ms");
        load.errLine("acquired");
        load.signal("INT");
        assertThat(load.exitCode()).as(load.err()).isEqualTo(130);
        assertThat(load.out()).contains(", interrupted").contains("none broken");
    }

    @Test
    @Tag("soak")
    void whoCannotBeReachedIsSaid() throws Exception {
        ChildProcess load = keyway("load", "lock:native://127.0.0.1:" + Ports.free() + "/keyway?maxTtl=1s");
        assertThat(load.exitCode()).as(load.err()).isEqualTo(64);
        assertThat(load.err()).contains("ttl").contains("maxTtl");
    }

    @Test
    @Tag("soak")
    void clientsOfAClusterAreReallyCutOff() throws Exception {
        ChildProcess load = keyway(
                "load",
                member(),
                "--clients",
                "4",
                "--locks",
                "8",
                "--lease-time",
                "1s",
                "--wait",
                "300ms",
                "--partition-every",
                "2s",
                "--partition-for",
                "1500ms",
                "--duration",
                "9s",
                "--json");
        assertThat(load.exitCode()).as(load.err() + load.out()).isZero();
        assertThat(load.err()).contains("partition of 1500 ms between the servers and clients");
        assertThat(number(load.out(), "lost")).isPositive();
        assertThat(number(load.out(), "errors")).isPositive();
        assertThat(load.out()).contains("\"broken\":{}").contains("\"partitions\":4");
    }

    @Test
    @Tag("soak")
    void theSourcesExperimentTakesMilliseconds() throws Exception {
        ChildProcess with = keyway(
                "load",
                local(),
                "--json",
                "--clients",
                "10",
                "--burst",
                "1",
                "--ops",
                "2",
                "--locks",
                "1",
                "--lease-time",
                "5s",
                "--wait",
                "60s");
        assertThat(with.exitCode()).as(with.err()).isZero();
        assertThat(time(with.out())).isLessThan(500 * Patience.factor());
        ChildProcess without = keyway(
                "load",
                local(),
                "--json",
                "--clients",
                "4",
                "--burst",
                "1",
                "--ops",
                "2",
                "--locks",
                "1",
                "--lease-time",
                "1s",
                "--wait",
                "60s",
                "--no-recall");
        assertThat(without.exitCode()).as(without.err()).isZero();
        assertThat(time(without.out())).isBetween(3_000.0, 30_000.0);
    }

    private static double time(String json) {
        Matcher found = Pattern.compile("\"timeMs\":([0-9.]+)").matcher(json);
        assertThat(found.find()).isTrue();
        return Double.parseDouble(found.group(1));
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = {"mutual-exclusion", "partition-client", "partition-server", "cached"})
    void theFourTestsOfTheSourcePassEverywhere(String scenario) throws Exception {
        for (String url : List.of("lock:native:mem://x", local(), member(), "lock:table://" + directory)) {
            ChildProcess played = keyway("load", url, "--scenario", scenario, "--lease-time", "2s");
            assertThat(played.exitCode()).as(url + played.out() + played.err()).isZero();
            assertThat(played.out()).startsWith(scenario + ": passed: ");
        }
    }
}
