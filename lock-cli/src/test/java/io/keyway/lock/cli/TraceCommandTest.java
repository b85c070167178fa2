// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.Locks;
import io.keyway.lock.cli.supervisor.CommandClock;
import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.cluster.ClusterMember;
import io.keyway.lock.peer.cluster.MemberConfig;
import io.keyway.lock.peer.cluster.MemberList;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.security.SecuritySettings;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Ports;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pictures of members and clients that talk over sockets. */
class TraceCommandTest {
    private static final String SECRET = "correct horse battery staple";
    private static final Pattern EVENT = Pattern.compile(
            "\\{\"at\":(\\d+),\"kind\":\"(\\w+)\",\"process\":(\\d+)(?:,\"from\":(\\d+),\"sent\":(-?\\d+))?"
                    + "(?:,\"clock\":\\d+)?,\"text\":\"([^\"]*)\"\\}");
    private static final Pattern BAR = Pattern.compile("\\{\"process\":(\\d+),\"hold\":\"(\\w+)\","
            + "\"lock\":\"([^\"]*)\",\"token\":\"(\\d+)\",\"text\":\"([^\"]*)\",\"from\":(\\d+),\"to\":(\\d+)\\}");
    private static final Pattern PROCESS = Pattern.compile("\\{\"name\":\"([^\"]*)\",\"role\":\"(\\w+)\"\\}");

    @TempDir
    Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final List<ClusterMember> members = new ArrayList<>();
    private List<NodeId> ids = List.of();
    private Path traces;

    @BeforeEach
    void choosePorts() throws IOException {
        ids = List.of(NodeId.parse("127.0.0.1:" + Ports.free()), NodeId.parse("127.0.0.1:" + Ports.free()));
        traces = directory.resolve("traces");
    }

    @AfterEach
    void endTheMembers() {
        members.forEach(ClusterMember::close);
    }

    private ClusterMember member(int index, int of) throws IOException {
        return member(index, of, 2, "lease");
    }

    private ClusterMember member(int index, int of, int shards, String algorithm) throws IOException {
        ClusterMember member = ClusterMember.start(
                new MemberConfig(
                        ids.get(index),
                        new InetSocketAddress(
                                ids.get(index).host(), ids.get(index).port()),
                        new MemberList(ids.subList(0, of)),
                        MemberConfig.CLUSTER,
                        directory.resolve("member-" + index),
                        true,
                        Set.of(),
                        Duration.ofSeconds(10),
                        shards,
                        Security.of(new SecuritySettings(
                                Optional.of(SECRET),
                                Optional.empty(),
                                Optional.empty(),
                                Optional.empty(),
                                Optional.empty(),
                                Optional.empty(),
                                false,
                                false,
                                Optional.empty(),
                                UnaryOperator.identity())),
                        0,
                        false),
                algorithm,
                () -> {});
        members.add(member);
        return member;
    }

    private String url(int of) {
        return "lock:native://"
                + String.join(
                        ",", ids.subList(0, of).stream().map(NodeId::toString).toList()) + "/keyway?maxTtl=10s";
    }

    private LockClient client(String name, String more) {
        ClientOptions options = ClientOptions.defaults().with(CommonOptions.NAME, name);
        return Locks.open(url(1) + "&ttl=5s&secret=" + SECRET.replace(" ", "%20") + more, options);
    }

    private int keyway(String... words) {
        out.reset();
        err.reset();
        PrintStream toOut = new PrintStream(out, true, StandardCharsets.UTF_8);
        PrintStream toErr = new PrintStream(err, true, StandardCharsets.UTF_8);
        Map<String, String> environment = Map.of("KEYWAY_SECRET", SECRET, "KEYWAY_DIR", directory + "/local");
        return new CommandTree(new Console(toOut, toErr, false, false, environment, CommandClock.SYSTEM))
                .execute(words);
    }

    private String printed() {
        return out.toString(StandardCharsets.UTF_8) + err.toString(StandardCharsets.UTF_8);
    }

    /** One keeps the lock in its cache, the other wants it. */
    private void handOver(String more) throws InterruptedException {
        try (LockClient first = client("first", more);
                LockClient second = client("second", more)) {
            LockOptions options = LockOptions.none().withMetadata(Map.of("why", "nobody's business"));
            first.lock("jobs/nightly").with(options).acquire().close();
            try (Lease lease = second.lock("jobs/nightly").acquire()) {
                assertThat(lease.isHeld()).isTrue();
            }
        }
    }

    /** Two transactions that wait for each other; one is aborted. */
    private void deadlock(String more) throws Exception {
        try (LockClient first = client("first", more);
                LockClient second = client("second", more);
                LockTransaction one = first.transaction();
                LockTransaction other = second.transaction()) {
            one.lock("a");
            other.lock("b");
            one.lockAsync("b", LockMode.EXCLUSIVE);
            other.lockAsync("a", LockMode.EXCLUSIVE);
            List<LockTransaction> both = List.of(one, other);
            Awaitility.await()
                    .atMost(Patience.of(Duration.ofSeconds(60)))
                    .until(() -> both.stream().anyMatch(each -> each.status() == LockTransaction.Status.ABORTED));
            LockTransaction left = one.status() == LockTransaction.Status.ABORTED ? other : one;
            (left == one ? other : one).close();
            assertThat(left.awaitAll(Duration.ofSeconds(60))).isTrue();
        }
    }

    @Test
    void aResolvedDeadlockIsDrawn() throws Exception {
        member(0, 1).startTrace();
        deadlock("&trace=" + traces);

        Path html = directory.resolve("deadlock.html");
        assertThat(keyway("trace", url(1) + "&trace=" + traces, "--html", html.toString()))
                .as(printed())
                .isZero();
        // The search and the confirmation went around, and who gave way says in which circle.
        assertThat(printed()).contains(" search of ", " confirm of ", "gives way, and is aborted with ");
        assertThat(printed())
                .containsPattern("gives way, and is aborted with (a|b): aborted of \\p{XDigit}+-\\d+:"
                        + " (first waits for b > second waits for a|second waits for a > first waits for b)");
        assertThat(Files.readString(html)).contains("gives way, and is aborted with ");
    }

    @Test
    void aRecallIsDrawnAsItHappened() throws Exception {
        member(0, 1).startTrace();
        handOver("&trace=" + traces);

        Path json = directory.resolve("run.json");
        Path html = directory.resolve("run.html");
        assertThat(keyway("trace", url(1) + "&trace=" + traces, "--json", json.toString(), "--html", html.toString()))
                .as(printed())
                .isZero();

        String run = Files.readString(json);
        List<MatchResult> processes = PROCESS.matcher(run).results().toList();
        assertThat(processes)
                .extracting(each -> each.group(1))
                .containsExactly(ids.get(0).toString(), "first", "second");
        List<MatchResult> events = EVENT.matcher(run).results().toList();
        assertThat(events).hasSize((int)
                run.lines().filter(line -> line.startsWith("{\"at\"")).count());
        // What was said between whom, in the order in which one caused the other.
        int asked = message(events, 0, 1, 0, "Acquire jobs/nightly");
        int granted = message(events, asked, 0, 1, "Granted jobs/nightly");
        int asks = message(events, granted, 2, 0, "Acquire jobs/nightly");
        int recalled = message(events, asks, 0, 1, "Recall jobs/nightly");
        int accepted = message(events, recalled, 1, 0, "Accepted jobs/nightly");
        message(events, accepted, 0, 2, "Granted jobs/nightly");
        for (MatchResult each : events) {
            if (each.group(2).equals("message")) {
                assertThat(number(each, 5)).as(each.group()).isLessThan(number(each, 1));
            }
        }
        assertThat(run).doesNotContain("\"lost\"").doesNotContain("somebody");
        long recall = number(events.get(recalled), 1);

        List<MatchResult> bars = BAR.matcher(run).results().toList();
        MatchResult firstBelief = bar(bars, 1, "belief", "exclusive");
        MatchResult secondBelief = bar(bars, 2, "belief", "exclusive");
        MatchResult firstGrant = bar(bars, 0, "authority", "exclusive to first");
        MatchResult secondGrant = bar(bars, 0, "authority", "exclusive to second");
        assertThat(bars).hasSize(4);
        // Belief lies within the grant; the cache keeps the grant until the recall; then it is the other's.
        assertThat(number(firstGrant, 6)).isLessThan(number(firstBelief, 6));
        assertThat(number(firstBelief, 7)).isLessThan(recall);
        assertThat(number(firstGrant, 7)).isGreaterThan(recall).isLessThanOrEqualTo(number(secondGrant, 6));
        assertThat(number(secondGrant, 6)).isLessThan(number(secondBelief, 6));
        assertThat(number(secondBelief, 7)).isLessThanOrEqualTo(number(secondGrant, 7));
        assertThat(Long.parseLong(secondBelief.group(4))).isGreaterThan(Long.parseLong(firstBelief.group(4)));

        assertThat(Files.readString(html)).contains("Recall jobs/nightly");
        assertThat(run + printed() + allTraces())
                .doesNotContain(SECRET)
                .doesNotContain("horse")
                .doesNotContain("business");
    }

    /** The place of that message, behind that one. */
    private static int message(List<MatchResult> events, int behind, int from, int to, String text) {
        for (int i = behind; i < events.size(); i++) {
            MatchResult each = events.get(i);
            if (each.group(2).equals("message")
                    && number(each, 4) == from
                    && number(each, 3) == to
                    && each.group(6).contains(text)) {
                return i;
            }
        }
        throw new AssertionError("no " + text + " from " + from + " to " + to + " behind " + behind + " in "
                + events.stream().map(MatchResult::group).toList());
    }

    private static MatchResult bar(List<MatchResult> bars, int process, String hold, String text) {
        return bars.stream()
                .filter(each -> number(each, 1) == process
                        && each.group(2).equals(hold)
                        && each.group(3).equals("jobs/nightly")
                        && each.group(5).equals(text))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no " + hold + " " + text + " in "
                        + bars.stream().map(MatchResult::group).toList()));
    }

    private static long number(MatchResult of, int group) {
        return Long.parseLong(of.group(group));
    }

    private String allTraces() throws IOException {
        StringBuilder all = new StringBuilder();
        try (Stream<Path> files = Files.list(traces)) {
            for (Path each : files.toList()) {
                all.append(Files.readString(each));
            }
        }
        return all.toString();
    }

    @Test
    void whoLooksIsDrawnOnlyWhereThatIsWanted() throws Exception {
        member(0, 1).startTrace();
        try (LockClient client = client("first", "")) {
            client.lock("n").acquire();
            assertThat(client.admin().show(LockKey.lock("n"))).isPresent();
        }
        assertThat(keyway("trace", url(1), "--lock", "n")).isZero();
        assertThat(printed()).contains("Acquire n").doesNotContain("Show n").doesNotContain("Status n");
        assertThat(keyway("trace", url(1), "--lock", "n", "--heartbeats")).isZero();
        assertThat(printed()).contains("Acquire n").contains("Show n").contains("Status n");
    }

    @Test
    void whatAGrantOfLamportsQueueWaitedForIsShownWithTheLock() throws Exception {
        member(0, 2, 1, "lamport").startTrace();
        member(1, 2, 1, "lamport").startTrace();
        String url = url(2).replace("lock:native:", "lock:native:lamport:");
        try (LockClient client = Locks.open(url + "&secret=" + SECRET.replace(" ", "%20"))) {
            for (String name : List.of("another", "jobs/nightly")) {
                client.lock(name)
                        .tryAcquire(Patience.of(Duration.ofSeconds(60)))
                        .orElseThrow()
                        .close();
            }
        }
        assertThat(keyway("trace", url, "--lock", "jobs/nightly")).as(printed()).isZero();
        assertThat(printed()).containsSubsequence("Request stamp=", "Ack stamp=", "Granted jobs/nightly");
        assertThat(printed().lines().filter(line -> line.contains("Ack stamp=")))
                .as("those of this request alone")
                .hasSize(1);
    }

    @Test
    void nothingIsRecordedWhileItIsOff() throws Exception {
        member(0, 1);
        handOver("");

        assertThat(keyway("trace", url(1))).isEqualTo(ExitCode.UNAVAILABLE);
        assertThat(printed()).contains("nobody has recorded anything").contains("--on");
        assertThat(traces).doesNotExist();
    }

    @Test
    void recordingBeginsAndEndsAtRunTime() throws Exception {
        member(0, 1);
        handOver("");
        assertThat(keyway("trace", url(1), "--on")).isZero();
        assertThat(printed()).isEqualTo(ids.get(0) + " records.\n");

        handOver("");
        assertThat(keyway("trace", url(1), "--off")).isZero();
        assertThat(printed()).isEqualTo(ids.get(0) + " records no more.\n");
        try (LockClient third = client("third", "")) {
            third.lock("jobs/nightly").acquire().close();
        }

        assertThat(keyway("trace", url(1))).as(printed()).isZero();
        // Of clients that write down nothing, what the member saw.
        assertThat(printed())
                .contains("  first ")
                .contains("  second\n")
                .contains("Recall jobs/nightly")
                .doesNotContain("third");
        assertThat(printed().lines().filter(line -> line.contains("Recall jobs/nightly")))
                .hasSize(1);
    }

    @Test
    void whoeverHeldBeforeTheRecordingIsSeen() throws Exception {
        member(0, 1);
        try (LockClient holder = client("holder", "");
                Lease lease = holder.lock("jobs/nightly").acquire()) {
            assertThat(keyway("trace", url(1), "--on")).isZero();
            Path json = directory.resolve("run.json");
            assertThat(keyway("trace", url(1), "--json", json.toString()))
                    .as(printed())
                    .isZero();
            assertThat(Files.readString(json)).contains("\"token\":\"" + lease.token() + "\"");
        }
    }

    @Test
    void aMemberThatGivesNoAnswerIsNamed() throws Exception {
        member(0, 2).startTrace();
        member(1, 2).startTrace();
        members.remove(1).close();

        assertThat(keyway("trace", url(2))).isEqualTo(ExitCode.UNAVAILABLE);
        assertThat(printed()).contains("not shown, " + ids.get(1) + ": ").contains("records from now on");
    }

    @Test
    void whatClientsWroteIsEnough() throws Exception {
        member(0, 1);
        handOver("&trace=" + traces);

        assertThat(keyway("trace", "--files", traces.toString(), "--lock", "jobs/nightly"))
                .as(printed())
                .isZero();
        assertThat(printed())
                .contains("asks for jobs/nightly, exclusive")
                .contains("Granted jobs/nightly")
                .doesNotContain("Hello");
        assertThat(keyway("trace", "--files", traces.toString(), "--lock", "another"))
                .isZero();
        assertThat(printed()).contains(": 0 events");
    }

    @Test
    void whatCannotBeIsRefused() throws IOException {
        assertThat(keyway("trace", "--on", "--off")).isEqualTo(ExitCode.USAGE);
        assertThat(keyway("trace", "--files", directory.resolve("nowhere").toString()))
                .isEqualTo(ExitCode.USAGE);
        assertThat(printed()).contains("nowhere cannot be read");
        assertThat(keyway("trace", "lock:native:mem://w")).isEqualTo(ExitCode.USAGE);
        assertThat(printed()).contains("nobody records at lock:native:mem://w");
        assertThat(keyway("trace", "lock:redis://127.0.0.1:1")).isEqualTo(ExitCode.USAGE);
        assertThat(printed()).contains("nobody records at lock:redis://127.0.0.1:1");
        Path other = Files.writeString(directory.resolve("other"), "root:x:0");
        assertThat(keyway("trace", "--files", other.toString())).isEqualTo(ExitCode.USAGE);
        assertThat(printed()).contains("it is no trace");
        assertThat(keyway("trace")).isEqualTo(ExitCode.UNAVAILABLE);
        assertThat(printed()).contains("nobody serves the locks of");
        assertThat(keyway("trace", url(1) + "&connectTimeout=100ms")).isEqualTo(ExitCode.UNAVAILABLE);
        assertThat(printed()).contains("is not available");
    }
}
