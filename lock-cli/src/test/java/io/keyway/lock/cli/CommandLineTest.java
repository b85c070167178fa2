// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Capacity;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.cli.supervisor.CommandClock;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the command says and how it exits, where no process has to be started. */
class CommandLineTest {
    @TempDir
    Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Map<String, String> environment = new HashMap<>();
    private CommandClock clock = CommandClock.SYSTEM;

    @BeforeEach
    void pointToTheDirectory() {
        environment.put("KEYWAY_URL", url());
        environment.put("PATH", System.getenv("PATH"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "64 |                              | say what to do: run, elect, show, break, providers, member, load, "
                        + "tck, simulate, trace, version or help.",
                "64 | fly                          | there is no command fly.",
                "64 | lock                         | there is no command lock; did you mean run?",
                "64 | status                       | there is no command status; did you mean show?",
                "64 | unlock                       | there is no command unlock; did you mean break?",
                "64 | versoin                      | there is no command versoin; did you mean version?",
                "64 | help fly                     | fly",
                "64 | run --wiat 5s n -- true      | there is no option --wiat; did you mean --wait?",
                "64 | run --wiat=5s n -- true      | there is no option --wiat=5s; did you mean --wait?",
                "64 | run --zzz n -- true          | there is no option --zzz.",
                "64 | simulate --algorithm paxos   | --algorithm: there is no paxos; there are lease, lamport, bakery,"
                        + " election, failover, bucket.",
                "64 | simulate --members 2         | --members: lease is simulated with 1 or 3, not with 2.",
                "64 | simulate --clients 7         | --clients: 7 is not within 1 to 6.",
                "64 | simulate --faults cut,fire   | --faults: there is no fire; there are any, delay, loss,",
                "64 | simulate --faults wall-step  | --faults: not all of wall-step happen with lease and 1 member ",
                "64 | simulate --slow client1=5    | --slow: client1=5 is no link with milliseconds, as client1:",
                "64 | simulate --slow client1:client2=5 | --slow: client1 and client2 have no link.",
                "64 | simulate --slow client9:member=5  | --slow: there is no client9; there are member, "
                        + "client1, client2.",
                "64 | simulate --plan /nothing/here     | /nothing/here cannot be read",
                "64 | shwo                         | there is no command shwo; did you mean show?",
                "64 | run                          | say what to run after --",
                "64 | run n                        | say what to run after --, as in: keyway run n -- sleep 5.",
                "64 | run n --                     | say what to run after --",
                "64 | run n true                   | put -- before the command: keyway run n -- true",
                "64 | run --wait 5s n ls -l a'b     | put -- before the command: keyway run --wait 5s n -- ls -l "
                        + "'a'\\''b'",
                "64 | run -- true                  | say which lock: keyway run NAME -- COMMAND",
                "64 | elect n                     | say what the leader runs after --, as in: keyway elect n --"
                        + " ./serve.sh",
                "64 | elect n true                | put -- before the command: keyway elect n -- true",
                "1  | elect --show n               | nobody leads n.",
                "64 | run --lock a --lock a -- true | has the name a twice",
                "64 | run --shared --lock a --lock b -- true | are for one lock, not for several by --lock",
                "64 | run --shard n -- true        | there is no option --shard; did you mean --shared?",
                "64 | show --jsn                   | there is no option --jsn; did you mean --json?",
                "64 | run --wait n -- true         | keyway: --wait: \"n\" is not a duration",
                "64 | run --wait 5 n -- true       | \"5\" is not a duration: write a whole number and a unit",
                "64 | run --ttl 99ms n -- true     | keyway: --ttl: ",
                "64 | run --ttl 25h n -- true      | 100ms to 24h",
                "64 | run --permits 2 n -- true    | --permits: \"2\" is not N/M with 1 <= N <= M, as in 1/4, or N/MxR",
                "64 | run --permits 7/3x2 n -- true | \"7/3x2\" is not N/M",
                "64 | run --permits 1/3x0 n -- true | \"1/3x0\" is not N/M",
                "64 | run --permits 1/3x n -- true | \"1/3x\" is not N/M",
                "64 | run --permits 0/4 n -- true  | is not N/M",
                "64 | run --permits 5/4 n -- true  | is not N/M",
                "64 | run --permits a/4 n -- true  | is not N/M",
                "64 | run --shared --permits 1/2 n -- true | exclude each other",
                "64 | run --shared --drain soft --wait 1s n -- true | exclude each other",
                "64 | run --drain soft n -- true | --drain needs --wait TIME",
                "64 | run --tree --permits 1/2 n -- true | --tree goes with --shared",
                "64 | run --tree --at-least 1s n -- true | --tree goes with --shared",
                "64 | run --tree --lock n --lock m -- true | are for one lock",
                "64 | run --drain hard --wait 1s n -- true | --drain: \"hard\" is not a duration",
                "64 | run --drain 25h --wait 1s n -- true | 1ms to 24h",
                "64 | run a//b -- true             | a//b",
                "64 | run --url lock: n -- true    | lock:",
                "64 | run --url nope n -- true     | nope",
                "125| run --url lock:native:local:///etc/passwd/locks n -- true | lock directory /etc/passwd/locks",
                "125| show --url lock:native:local:///etc/passwd | lock directory /etc/passwd",
                "125| run --url lock:native:local:///proc/locks/x n -- true | lock directory /proc/locks/x",
                "64 | run --url lock:nope://u:secret@h n -- true | No provider takes lock:nope://u:***@h",
                "127| run n -- no-such-program-here | no-such-program-here is not found on the PATH.",
                "64 | show a b                     | nothing is known about the argument b.",
                "64 | show a//b                    | a//b",
                "64 | member                       | Missing required options: '--listen=HOST:PORT', "
                        + "'--members=HOST:PORT,...'",
                "64 | member --listen a --members a:1 | \"a\" has no port: write host:port",
                "64 | member --listen a:1 --members b:1 | --members b:1 does not have --listen a:1; say with --node "
                        + "which of them this is.",
                "64 | member --listen a:1 --node c:1 --members b:1 | does not have --node c:1.",
                "64 | member --listen 0.0.0.0:7400 --node a:1 --members a:1 | --secret-file",
                "64 | member --listen 127.0.0.1:7400 --members 127.0.0.1:7400 --shards 65 | 65 shards: 1 to 64.",
                "64 | member --listen 127.0.0.1:7400 --members 127.0.0.1:7400 --token-floor -1 | option tokenFloor",
                "64 | member --listen 127.0.0.1:7400 --members 127.0.0.1:7400 --algorithm paxos | lease, agent,"
                        + " lamport, bakery and failover",
                "64 | member --listen 127.0.0.1:7400 --members 127.0.0.1:7400 --max-ttl 1ms | 100ms to 24h",
                "64 | member --listen 127.0.0.1:7400 --members 127.0.0.1:7400 --tls-cert x | --tls-key",
                "64 | member --listen a:1 --members a:1 --join b:1 | say one of them",
                "64 | member --listen 127.0.0.1:7400 --join 127.0.0.1:7401 --algorithm lamport | not by --join",
                "64 | member --listen 127.0.0.1:7400 --join 127.0.0.1:1 --algorithm bakery --init | say one of them",
                "64 | member --listen 127.0.0.1:7400 --join 127.0.0.1:1 --algorithm bakery --shards 2 | say 1,",
                "64 | member add nonsense          | has no port: write host:port",
                "64 | member list --url lock:native:mem://x | lock:native:failover: and lock:native:bakery: alone",
                "64 | break n                      | Missing required option: '--reason=TEXT'",
                "64 | break n --reason \"\"         | must say why",
                "1  | break n --reason x           | lock n is not held.",
                "1  | break n --reason x --semaphore | semaphore n is not held."
            })
    void aWrongCommandLineIsAnsweredByOneSentence(int code, String line, String sentence) {
        String[] words = line == null ? new String[0] : line.replace("\"\"", "").split(" +", -1);

        assertThat(execute(words)).isEqualTo(code);
        assertThat(err())
                .startsWith("keyway: ")
                .contains(sentence)
                .doesNotContain("\tat ")
                .doesNotContain("secret@")
                .doesNotContain("class path");
        assertThat(out()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"--shared,--shared needs read-write locks", "--permits=1/2,--permits needs semaphores"})
    void whatTheProviderLacksIsRefused(String option, String needs) {
        int code = execute("run", "--url", url() + "&without=read-write,semaphore", option, "n", "--", "true");

        assertThat(code).isEqualTo(64);
        assertThat(err())
                .contains(needs + ", which lock:table: lacks; ")
                .contains("lock:native:, lock:redis: and lock:zookeeper: have them.")
                .doesNotContain("lock:reference");
    }

    @ParameterizedTest
    @CsvSource({"--shared,--shared needs read-write locks", "--permits=1/2,--permits needs semaphores"})
    void lamportsQueueHasNeitherReadersNorPermits(String option, String needs) {
        int code = execute("run", "--url", "lock:native:lamport://127.0.0.1:1/x", option, "n", "--", "true");

        assertThat(code).isEqualTo(64);
        assertThat(err())
                .contains(needs + ", which lock:native:lamport: lacks; ")
                .contains("lock:native:, lock:redis:, ")
                .contains("have them.");
    }

    @Test
    void usageIsBrokenBetweenOptionsAndLeftOutWhereAValueAloneIsWrong() {
        assertThat(execute("run", "--zzz", "n", "--", "true")).isEqualTo(64);
        List<String> usage =
                err().lines().dropWhile(line -> !line.startsWith("Usage: ")).toList();
        assertThat(usage).hasSizeGreaterThan(2);
        assertThat(usage.subList(1, usage.size() - 1))
                .allMatch(line -> line.startsWith("  "))
                .allMatch(line -> line.length() <= 110);
        err.reset();
        assertThat(execute("run", "--ttl", "soon", "n", "--", "true")).isEqualTo(64);
        assertThat(err()).contains("--ttl", "More: keyway run --help").doesNotContain("Usage: ");
    }

    @Test
    void withoutListingShowSaysSo() {
        assertThat(execute("show", "--url", url() + "&without=list")).isEqualTo(64);
        assertThat(err()).contains("does not offer list");
    }

    @Test
    void nothingIsSaidToBeFreeWhereNobodyAnswers() {
        clock = new StepClock(nanos -> {
            throw new OutOfMemoryError("enough was seen");
        });
        execute("show", "--watch", "--url", "lock:redis://127.0.0.1:1");
        assertThat(err()).contains("not shown: lock:redis://127.0.0.1:1 is not available");
        assertThat(out()).isEmpty();
    }

    @Test
    void anErrorOfTheMachineHasASentenceAndADocumentedExitCodeToo() {
        clock = new StepClock(nanos -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        assertThat(execute("show", "n", "--watch")).isEqualTo(125);
        assertThat(err())
                .startsWith("keyway: ")
                .contains("unable to create native thread")
                .doesNotContain("\tat ");
    }

    @Test
    void aWordThatNamesAFileIsAWord() throws Exception {
        Path words = Files.writeString(directory.resolve("words"), "of a file");
        assertThat(execute("run", "n", "@" + words)).isEqualTo(64);
        assertThat(err()).startsWith("keyway: put -- before the command: keyway run n -- @" + words);
    }

    @Test
    void debuggingShowsWhere() {
        environment.put("KEYWAY_DEBUG", "1");

        assertThat(execute("run", "n")).isEqualTo(64);
        assertThat(err()).contains("\tat io.keyway.lock.cli.RunCommand");
    }

    @Test
    void nothingHeldIsSaidInWords() {
        assertThat(execute("show")).isZero();
        assertThat(out()).isEqualTo("No lock is held or waited for.\n");
        assertThat(execute("show", "n")).isZero();
        assertThat(out()).endsWith("n is free.\n");
        assertThat(execute("show", "--json")).isZero();
        assertThat(out()).endsWith("[]\n");
    }

    @Test
    void whereNobodyServesThisMachineNothingIsLocked() {
        environment.put("KEYWAY_URL", "lock:native:local://" + directory.resolve("locks"));

        nothingHeldIsSaidInWords();
        assertThat(execute("break", "n", "--reason", "x")).isEqualTo(1);
        assertThat(err()).isEqualTo("keyway: lock n is not held.\n");
    }

    @Test
    void locksOfThisProcessAloneAreWarnedOf() {
        assertThat(execute("show", "--url", "lock:native:mem://x")).isZero();
        assertThat(err()).startsWith("keyway: warning: lock:native:mem://x is of this process alone");
    }

    @Test
    void theOtherKindOfThatNameIsPointedTo() throws Exception {
        try (LockClient client = Locks.open(url());
                Lease permit = client.semaphore("api", Capacity.of(2)).acquire();
                Lease lock = client.lock("db").acquire()) {
            assertThat(execute("break", "api", "--reason", "x")).isEqualTo(1);
            assertThat(err()).isEqualTo("keyway: lock api is not held, but semaphore api is: use --semaphore.\n");
            assertThat(execute("break", "db", "--semaphore", "--reason", "x")).isEqualTo(1);
            assertThat(err()).endsWith("semaphore db is not held, but lock db is: use no --semaphore.\n");
            assertThat(permit.isHeld() && lock.isHeld()).isTrue();
        }
    }

    @Test
    void watchingTellsEachChangeOnce() throws Exception {
        try (LockClient client = Locks.open(url() + "&name=holder")) {
            List<Runnable> seconds = new ArrayList<>(List.of(
                    () -> {},
                    () -> {
                        assertThat(out()).as("seen twice, said once").isEqualTo("n is free.\n");
                        client.lock("n").acquireAsync().join();
                    },
                    () -> {
                        assertThat(out()).startsWith("n is free.\nn\n  held by     holder for ");
                        throw new IllegalStateException("enough");
                    }));
            clock = new StepClock(nanos -> {
                assertThat(nanos).isEqualTo(1_000_000_000);
                seconds.remove(0).run();
            });

            execute("show", "n", "--watch");

            assertThat(seconds).isEmpty();
            assertThat(err()).contains("enough");
        }
    }

    @Test
    void aHeldLockIsShownAndBrokenByItsToken() throws Exception {
        try (LockClient client = Locks.open(url() + "&name=holder");
                Lease lease = client.lock("nightly").acquire()) {
            assertThat(execute("show", "nightly")).isZero();
            assertThat(out()).matches("nightly\n  held by     holder for \\d+m?s, token " + lease.token() + "\n");

            assertThat(execute("break", "nightly", "--reason", "maintenance")).isZero();
            assertThat(out()).endsWith("token " + lease.token() + "\nBroken.\n");
            assertThat(lease.lost().toCompletableFuture().get().detail()).contains("maintenance");
        }
    }

    @Test
    void ofSeveralHoldersOneIsChosenByItsToken() throws Exception {
        try (LockClient client = Locks.open(url() + "&name=holder");
                Lease first = client.readWriteLock("n").read().acquire();
                Lease second = client.readWriteLock("n").read().acquire()) {
            assertThat(execute("break", "n", "--reason", "x")).isEqualTo(64);
            assertThat(err()).contains("lock n has 2 holders; choose one with --token.");

            assertThat(execute("break", "n", "--reason", "x", "--token", Long.toString(first.token())))
                    .isZero();
            first.lost().toCompletableFuture().get();
            assertThat(second.isHeld()).isTrue();
        }
    }

    @Test
    void theUrlOptionWinsOverTheVariable() {
        environment.put("KEYWAY_URL", "lock:nope://");

        assertThat(execute("show", "--url", url())).isZero();
        assertThat(execute("show")).isEqualTo(64);
        assertThat(err()).contains("lock:nope");
    }

    @Test
    void providersTellFeaturesAndOptions() {
        assertThat(execute("providers")).isZero();
        assertThat(out())
                .contains("Table 1\n  url       lock:table\n  features  read-write semaphore fencing fifo list break\n")
                .contains("  url       lock:native:lamport\n  features  fencing fifo list break wake-up\n")
                .contains("    without  features that it pretends not to have, by commas\n")
                .contains("  options of every provider\n    ttl ")
                .doesNotContain("A lock URL is ");
    }

    @Test
    void helpAboutTheKitHasItsOptions() {
        assertThat(execute("help", "tck")).isZero();
        assertThat(out()).contains("--profile").contains("--only");
    }

    @Test
    void providersPrintTheTablesOfADatabase() {
        assertThat(execute("providers", "--ddl", "postgresql")).isZero();
        assertThat(out()).contains("CREATE TABLE IF NOT EXISTS keyway_lock (").endsWith(");\n");

        assertThat(execute("providers", "--ddl", "lock:jdbc:postgresql://db/app?password=x&lock.table=app.locks"))
                .isZero();
        assertThat(out())
                .contains("CREATE SEQUENCE IF NOT EXISTS app.locks_token;")
                .contains("CREATE TABLE IF NOT EXISTS app.locks (")
                .contains("CREATE TABLE IF NOT EXISTS app.locks_setting (")
                .doesNotContain("password");

        assertThat(execute("providers", "--ddl", "lock:native:mem://none")).isEqualTo(64);
        assertThat(execute("providers", "--ddl", "db2")).isEqualTo(64);
        assertThat(err())
                .contains("no provider knows how to make tables in db2; known are h2, mariadb, mysql, postgresql");
    }

    @Test
    void theKitTestsTheProviderOfAUrl() {
        String report = "--report=" + directory.resolve("report");
        assertThat(execute("tck", "--url=lock:native:mem://tck", "--profile=smoke", "--only=LK-313", report))
                .as("%s", out())
                .isZero();
        assertThat(out()).contains("PASS          LK-313", "\nCOMPATIBLE: Keyway native");
        assertThat(directory.resolve("report/report.html")).exists();

        assertThat(execute("tck", "--url=lock:nope://x", report)).isEqualTo(3);
        assertThat(execute("tck")).isEqualTo(64);
        assertThat(err()).contains("nothing to test: give --url");
        assertThat(execute("tck", "--url=lock:native:mem://tck", "--profile=huge"))
                .isEqualTo(64);
        assertThat(err()).contains("there are smoke, quick and full");
    }

    @ParameterizedTest
    @CsvSource({
        "--help",
        "run --help",
        "show --help",
        "break --help",
        "providers --help",
        "tck --help",
        "--version",
        "version",
        "help",
        "help run",
        "list --help"
    })
    void helpIsNoError(String line) {
        assertThat(execute(line.split(" ", -1))).isZero();
        assertThat(out()).isNotEmpty();
        assertThat(err()).isEmpty();
    }

    private String url() {
        return "lock:table://" + directory + "?requestTimeout=10s";
    }

    private int execute(String... words) {
        Console console = new Console(utf8(out), utf8(err), false, false, environment, clock);
        return new CommandTree(console).execute(words);
    }

    private static PrintStream utf8(ByteArrayOutputStream bytes) {
        return new PrintStream(bytes, true, StandardCharsets.UTF_8);
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }
}
