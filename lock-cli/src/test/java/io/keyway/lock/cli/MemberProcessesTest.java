// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.cluster.MemberList;
import io.keyway.lock.tck.process.ChildProcess;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * `keyway member` as real processes: how they start, what a crash and a lost directory cost, how a list is changed.
 * What they say is what an operator reads.
 */
@Execution(ExecutionMode.CONCURRENT) // each with members of its own
class MemberProcessesTest {
    /** Of leases of which a leader that lives loses none, however busy this machine is: in seconds. */
    private static final long TERM = Patience.leaseSeconds(4);

    private static final String OPEN = "is open";

    @TempDir
    Path directory;

    private final List<String> ids = new ArrayList<>();
    private final List<ChildProcess> started = new ArrayList<>();

    @BeforeEach
    void choosePorts() throws IOException {
        for (int i = 0; i < 4; i++) {
            ids.add("127.0.0.1:" + Ports.free());
        }
    }

    @AfterEach
    void end() {
        started.forEach(ChildProcess::close);
    }

    /** @param list the members, as numbers */
    private ChildProcess start(int self, String list, String... more) {
        return startWith("member-" + self, self, list, more);
    }

    private ChildProcess startWith(String data, int self, String list, String... more) {
        List<String> words = new ArrayList<>(List.of(
                Installation.get().script().toString(), "member", "--listen", ids.get(self), "--members", list(list)));
        words.addAll(List.of("--data", directory.resolve(data).toString()));
        words.addAll(List.of(more));
        ChildProcess process = ChildProcess.start(Map.of(), words);
        started.add(process);
        return process;
    }

    private String list(String numbers) {
        return String.join(",", numbers.chars().mapToObj(n -> ids.get(n - '0')).toList());
    }

    private static void endInOrder(ChildProcess member) throws Exception {
        member.signal("TERM");
        assertThat(member.exitCode()).as(member.err()).isZero();
        assertThat(member.err()).contains("has ended in order");
    }

    @Test
    void threeMembersLiveThroughACrashAndTheLossOfADirectory() throws Exception {
        String[] fresh = {"--init", "--max-ttl", "1s"};
        String[] again = {"--max-ttl", "1s"};
        ChildProcess a = start(0, "012", fresh);
        a.errLine("opens when its list is confirmed by");
        ChildProcess b = start(1, "012", fresh);
        ChildProcess c = start(2, "012", fresh);
        for (ChildProcess each : List.of(a, b, c)) {
            each.errLine("has opened under the list");
            assertThat(each.err()).doesNotContain("ERROR").doesNotContain("\tat ");
        }
        a.errLine("member " + ids.get(2) + " joined");

        c.kill9();
        a.errLine("member " + ids.get(2) + " left");
        c = start(2, "012", again);
        c.errLine(OPEN);
        a.errLine("member " + ids.get(2) + " has started anew");

        c.kill9();
        ChildProcess without = startWith("other", 2, "012", again);
        without.errLine("the member file is missing");
        without.errLine("and so by all");
        without.errLine("has opened under the list");

        endInOrder(a);
        ChildProcess back = start(0, "012", again);
        back.errLine(OPEN);
        assertThat(back.err()).doesNotContain("no grants for");
        endInOrder(b);
        endInOrder(without);
        endInOrder(back);
    }

    @Test
    @Tag("soak")
    void aClusterWithoutItsMajorityWarnsItsOperatorAndItsUsers() throws Exception {
        String[] options = {"--init", "--max-ttl", "5s", "--algorithm", "failover"};
        for (int i = 0; i < 3; i++) {
            start(i, "012", options);
        }
        for (ChildProcess each : List.copyOf(started)) {
            each.errLine("LOCK_READY at member");
        }
        started.get(1).kill9();
        started.get(2).kill9();
        ChildProcess alone = started.get(0);
        assertThat(alone.errLine("CLUSTER_DOWN at member")).contains("WARN").contains(ids.get(1), ids.get(2));
        assertThat(alone.errLine("grants nothing: too few members answer"))
                .contains("WARN")
                .contains("no answer from ")
                .contains(ids.get(1), ids.get(2));

        String url = "lock:native:failover://" + list("012") + "/keyway?maxTtl=5s&ttl=5s&requestTimeout=1s";
        ChildProcess run = keyway("run", "--url", url, "job", "--", "true");
        assertThat(run.errLine("2 of 3 members do not answer: ")).contains(ids.get(1), ids.get(2));
        alone.kill9();
        assertThat(run.errLine("none of the 3 members answers: ")).contains(ids.subList(0, 3));
        run.kill9();
        assertThat(run.err().lines())
                .as("a reason that comes back is shown once")
                .doesNotHaveDuplicates();
    }

    @Test
    @Tag("soak")
    void aFirstStartIsNotSaidToWaitForALease() throws Exception {
        start(0, "01", "--init").errLine("opens when its list is confirmed by");
        String url = "lock:native://" + list("01") + "/keyway";
        String name = nameOf(MemberList.parse(list("01")), 0);

        ChildProcess run = keyway("run", "--url", url, name, "--", "true");

        run.errLine(ids.get(0) + " runs for the first time, and waits until all members of its list have answered");
        start(1, "01", "--init");
        assertThat(run.exitCode()).as(run.err()).isZero();
    }

    @Test
    @Tag("soak")
    void aMajorityElectsWhileAMemberIsDead() throws Exception {
        for (int i = 0; i < 3; i++) {
            start(i, "012", "--init", "--max-ttl", TERM + "s");
        }
        for (ChildProcess each : List.copyOf(started)) {
            each.errLine("has opened under the list");
        }
        ChildProcess one = elect("one");
        one.errLine("one leads service under token");
        ChildProcess two = elect("two");
        two.errLine("/service, held by");
        started.get(0).kill9();
        one.kill9();
        two.errLine("two leads service under token");
        ChildProcess shown =
                ChildProcess.start(Map.of(), words("--show", "service").toList());
        started.add(shown);
        assertThat(shown.exitCode()).as(shown.err()).isZero();
        assertThat(shown.out()).startsWith("leads   two ");
        aRunSaysWhichMemberItWaitsFor();
    }

    /** It holds the first of its locks, and asks for the second, on which the member that is dead decides. */
    private void aRunSaysWhichMemberItWaitsFor() throws Exception {
        String second = "@" + ids.get(0) + "/second";
        String first = "";
        try (LockClient client = Locks.open(url() + "&requestTimeout=500ms")) {
            for (int i = 0; first.isEmpty() && i < 100; i++) {
                String name = String.valueOf(i);
                try {
                    client.lock(name).tryAcquire().orElseThrow().close();
                    first = name;
                } catch (LockException theDeadOne) {
                    assertThat(theDeadOne).hasMessageContaining(ids.get(0));
                }
            }
        }
        ChildProcess run = ChildProcess.start(
                Map.of(),
                List.of(
                        Installation.get().script().toString(),
                        "run",
                        "--url",
                        url(),
                        "--lock",
                        first,
                        "--lock",
                        second,
                        "--",
                        "true"));
        started.add(run);
        run.errLine("waiting for " + second + ": " + ids.get(0) + ": cannot connect");
    }

    private ChildProcess elect(String candidate) {
        ChildProcess elect = ChildProcess.start(
                Map.of(),
                Stream.concat(words("--as", candidate), Stream.of("service", "--", "sleep", "600"))
                        .toList());
        started.add(elect);
        return elect;
    }

    private Stream<String> words(String... more) {
        return Stream.concat(
                Stream.of(Installation.get().script().toString(), "elect", "--url", url(), "--at", list("012")),
                Stream.of(more));
    }

    private String url() {
        return "lock:native:agent://" + list("012") + "/keyway?maxTtl=" + TERM + "s&ttl=" + TERM / 2 + "s";
    }

    @Test
    void aMemberServesTheAlgorithmThatItIsTold() throws Exception {
        ChildProcess member = start(0, "0", "--init", "--max-ttl", "1s", "--algorithm", "lamport");
        member.errLine("has opened under the list");
        String members = "://" + list("0") + "/keyway?maxTtl=1s&ttl=1s&requestTimeout=5s";
        try (LockClient client = Locks.open("lock:native:lamport" + members);
                LockClient other = Locks.open("lock:native:lease" + members)) {
            assertThat(client.lock("job").tryAcquire()).isPresent();
            assertThatThrownBy(() -> other.lock("job").tryAcquire())
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining("the members serve lamport, this client asks for lease");
        }
        endInOrder(member);
    }

    @Test
    @Tag("soak")
    void aListIsChangedWhenAllMembersRunWithTheNewOne() throws Exception {
        for (ChildProcess each : List.of(
                start(0, "012", "--init", "--max-ttl", "1s"),
                start(1, "012", "--init", "--max-ttl", "1s"),
                start(2, "012", "--init", "--max-ttl", "1s"))) {
            each.errLine("has opened under the list");
        }
        endInOrder(started.get(2));
        endInOrder(started.get(0));
        ChildProcess refused = start(0, "013", "--max-ttl", "1s");
        assertThat(refused.exitCode()).isEqualTo(64);
        assertThat(refused.err()).contains("--removed " + ids.get(2)).contains("was " + sorted("012"));

        ChildProcess a = start(0, "013", "--max-ttl", "1s", "--removed", ids.get(2));
        a.errLine("member " + ids.get(1) + " cannot be talked to");
        assertThat(a.err()).contains("MEMBERS").contains(sorted("012")).contains(sorted("013"));
        ChildProcess d = start(3, "013", "--max-ttl", "1s");
        endInOrder(started.get(1));
        ChildProcess b = start(1, "013", "--max-ttl", "1s", "--removed", ids.get(2));
        for (ChildProcess each : List.of(a, b, d)) {
            each.errLine("has opened under the list " + sorted("013"));
        }
    }

    @Test
    @Tag("soak")
    void whoLooksOrWaitsLearnsWhatAMemberCannotDo() throws Exception {
        for (int self : List.of(0, 1)) {
            start(self, "01", "--init");
        }
        for (ChildProcess each : List.copyOf(started)) {
            each.errLine("has opened under the list");
        }
        String url = "lock:native://" + list("01") + "/keyway";
        MemberList members = MemberList.parse(list("01"));
        String here = nameOf(members, 0);
        String there = nameOf(members, 1);
        ChildProcess one = keyway("run", "--url", url, here, "--", "sleep", "600");
        ChildProcess other = keyway("run", "--url", url, "--ttl", "60s", there, "--", "sleep", "600");
        Awaitility.await().atMost(Patience.of(Duration.ofSeconds(60))).until(() -> {
            ChildProcess both = keyway("show", "--url", url);
            return both.exitCode() == 0
                    && both.out().contains(here)
                    && both.out().contains(there);
        });
        other.kill9();
        started.get(1).kill9();

        ChildProcess shown = keyway("show", "--url", url);
        assertThat(shown.exitCode()).isEqualTo(125);
        assertThat(shown.out()).contains(here).contains("command=sleep").doesNotContain(there);
        assertThat(shown.err()).contains("keyway: not shown: " + ids.get(1) + ": ");

        ChildProcess again = start(1, "01");
        again.errLine("no grants for");
        assertThat(again.err().lines().skip(1)).allMatch(line -> line.contains(" " + ids.get(1) + " "));
        ChildProcess waiting = keyway("run", "--wait", "2s", "--url", url, there, "--", "true");
        assertThat(waiting.exitCode()).as("nobody is said to hold it").isEqualTo(125);
        assertThat(waiting.err())
                .contains("waiting for " + there + ": " + ids.get(1)
                        + " was just started, or has taken over, and grants nothing for another ");

        ChildProcess wrong = keyway("show", "--url", url + "?maxTtl=30s");
        assertThat(wrong.exitCode()).isEqualTo(64);
        assertThat(wrong.err()).contains("the members run with maxTtl=1m, this client with maxTtl=30s");
        assertThat(keyway("show", "--url", "lock:native://" + list("01") + "/other")
                        .exitCode())
                .isEqualTo(64);
        one.signal("TERM");
        assertThat(one.exitCode()).isEqualTo(143);
    }

    private ChildProcess keyway(String... words) {
        List<String> all = new ArrayList<>(List.of(Installation.get().script().toString()));
        all.addAll(List.of(words));
        ChildProcess process = ChildProcess.start(Map.of(), all);
        started.add(process);
        return process;
    }

    private String nameOf(MemberList members, int member) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> "job-" + i)
                .filter(name -> members.owner(name).toString().equals(ids.get(member)))
                .findFirst()
                .orElseThrow();
    }

    private String sorted(String numbers) {
        return numbers.chars()
                .mapToObj(n -> ids.get(n - '0'))
                .sorted((one, other) -> Integer.compare(port(one), port(other)))
                .reduce((one, other) -> one + "," + other)
                .orElseThrow();
    }

    private static int port(String id) {
        return Integer.parseInt(id.substring(id.indexOf(':') + 1));
    }

    @Test
    @Tag("soak")
    void aMemberThatIsRemovedEndsByItself() throws Exception {
        String[] first = {"--init", "--max-ttl", "2s", "--algorithm", "bakery"};
        for (int self : List.of(0, 1, 2)) {
            start(self, "012", first);
        }
        String url = "lock:native:bakery://" + list("012") + "/keyway?maxTtl=2s&ttl=2s";

        ChildProcess remove = keyway("member", "remove", ids.get(2), "--url", url);
        assertThat(remove.exitCode()).as(remove.err()).isZero();
        assertThat(remove.out().lines()).containsExactlyInAnyOrder(ids.get(0), ids.get(1));
        ChildProcess removed = started.get(2);
        assertThat(removed.exitCode()).as(removed.err()).isZero();
        assertThat(removed.err()).contains("this member was removed from its cluster, and has ended.");
        ChildProcess rest = keyway("member", "list", "--url", url);
        assertThat(rest.exitCode()).as(rest.err()).isZero();
        assertThat(rest.out().lines()).containsExactlyInAnyOrder(ids.get(0), ids.get(1));
    }

    @Test
    void whatIsWrongIsSaidInOneSentence() throws Exception {
        ChildProcess first = start(0, "0", "--init");
        first.errLine(OPEN);
        ChildProcess second = startWith("member-0", 1, "1");
        assertThat(second.exitCode()).isEqualTo(125);
        assertThat(second.err()).contains("is in use by process " + first.pid());
        ChildProcess third = startWith("other", 0, "0");
        assertThat(third.exitCode()).isEqualTo(125);
        assertThat(third.err()).contains("cannot listen on " + ids.get(0));
        endInOrder(first);
        ChildProcess again = start(0, "0", "--init");
        assertThat(again.exitCode()).isEqualTo(64);
        assertThat(again.err()).contains("has a member file");
    }
}
