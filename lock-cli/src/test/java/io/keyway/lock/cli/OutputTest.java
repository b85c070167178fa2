// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockStatus;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.cli.supervisor.CommandClock;
import io.keyway.lock.peer.Opening;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OutputTest {
    private static final LockStatus LOCK = new LockStatus(
            LockKey.lock(LockName.of("db/orders")),
            List.of(holder(
                    "anna@build:7", LockMode.EXCLUSIVE, 1, 9_007_199_254_740_993L, 125, Map.of("command", "make"))),
            List.of(
                    waiter("ben@build:8", LockMode.EXCLUSIVE, 1, 3, Map.of("command", "ls")),
                    waiter("cleo \"c\"\n@build:9", LockMode.SHARED, 1, 0, Map.of())));

    private static final LockStatus SEMAPHORE = new LockStatus(
            LockKey.semaphore(LockName.of("gpu")),
            List.of(
                    holder("a", LockMode.PERMITS, 1, 4, 7_260, Map.of()),
                    holder("b", LockMode.PERMITS, 2, 5, 90_000, Map.of("z", "1", "a", "2"))),
            List.of());

    private static final LockStatus BUCKETS =
            new LockStatus(SEMAPHORE.key(), SEMAPHORE.holders(), List.of(), List.of(2, 1));

    @Test
    void peopleReadALinePerHolderAndWaiter() {
        assertThat(StatusText.of(List.of(LOCK, SEMAPHORE))).isEqualTo("""
            db/orders
              held by     anna@build:7 for 2m 5s, token 9007199254740993, command=make
              waiting  1  ben@build:8 for 3s, command=ls
              waiting  2  cleo "c"?@build:9 for 0ms, shared
            gpu (semaphore)
              held by     a for 2h 1m, 1 permit, token 4
              held by     b for 1d 1h, 2 permits, token 5, a=2, z=1
            """);
    }

    @Test
    void bucketsOfASemaphoreAreShownWhereTheyAreTold() {
        assertThat(StatusText.of(List.of(BUCKETS))).startsWith("gpu (semaphore), permits out [2, 1]\n  held by     a ");
        assertThat(Json.array(List.of(BUCKETS))).endsWith("\"waiters\":[],\"buckets\":[2,1]}]");
        assertThat(Json.array(List.of(SEMAPHORE))).endsWith("\"waiters\":[],\"buckets\":[]}]");
    }

    @Test
    void aSoftWriterIsShownApart() {
        LockStatus.Waiter writer = waiter("dan@build:1", LockMode.EXCLUSIVE, 1, 61, Map.of());
        LockStatus drained = new LockStatus(
                LockKey.lock("site"),
                List.of(holder("a", LockMode.SHARED, 1, 4, 5, Map.of())),
                List.of(),
                List.of(),
                List.of(writer));

        assertThat(StatusText.of(List.of(drained))).isEqualTo("""
            site
              held by     a for 5s, shared, token 4
              yielding    dan@build:1 for 1m 1s
            """);
        assertThat(Json.array(List.of(drained)))
                .endsWith("\"waiters\":[],\"softWriters\":[{\"client\":\"dan@build:1\",\"mode\":\"EXCLUSIVE\","
                        + "\"permits\":1,\"token\":null,\"sinceMs\":61000,\"metadata\":{}}]}]");
    }

    @Test
    void programsReadJson() {
        assertThat(Json.array(List.of(LOCK)))
                .isEqualTo("[{\"kind\":\"LOCK\",\"name\":\"db/orders\",\"holders\":[{\"client\":\"anna@build:7\","
                        + "\"mode\":\"EXCLUSIVE\",\"permits\":1,\"token\":9007199254740993,\"sinceMs\":125000,"
                        + "\"metadata\":{\"command\":\"make\"}}],\"waiters\":[{\"client\":\"ben@build:8\","
                        + "\"mode\":\"EXCLUSIVE\",\"permits\":1,\"token\":null,\"sinceMs\":3000,"
                        + "\"metadata\":{\"command\":\"ls\"}},{\"client\":\"cleo \\\"c\\\"\\u000a@build:9\","
                        + "\"mode\":\"SHARED\",\"permits\":1,\"token\":null,\"sinceMs\":0,\"metadata\":{}}]}]");
        assertThat(Json.array(List.of())).isEqualTo("[]");
    }

    @Test
    void aWaiterIsToldTheHolderAndItsPlace() {
        WaitingNotice.Situation second = WaitingNotice.describe(LOCK, "ben@build:8", Optional.empty());

        assertThat(second.fixed())
                .isEqualTo("waiting for db/orders, held by anna@build:7 (make); place 1 of 2 in the queue");
        assertThat(second.moving())
                .isEqualTo("waiting for db/orders, held by anna@build:7 (make) for 2m 5s; place 1 of 2 in the queue");
    }

    @Test
    void aWaiterAtAMemberThatGrantsNothingIsToldForHowLong() {
        LockStatus nobody = new LockStatus(
                LockKey.lock(LockName.of("g")),
                List.of(),
                List.of(waiter("ben@build:8", LockMode.EXCLUSIVE, 1, 3, Map.of())));
        Opening opening = new Opening("127.0.0.1:7402", Duration.ofMillis(37_400), false);

        WaitingNotice.Situation now = WaitingNotice.describe(nobody, "ben@build:8", Optional.of(opening));

        assertThat(now.moving())
                .isEqualTo("waiting for g: 127.0.0.1:7402 was just started, or has taken over, and grants"
                        + " nothing for another 38s;"
                        + " place 1 of 1 in the queue");
        assertThat(now.fixed()).as("told once in a log").doesNotContain("38s");
        Opening first = new Opening("127.0.0.1:7402", Duration.ofMinutes(1), true);
        assertThat(WaitingNotice.describe(nobody, "ben@build:8", Optional.of(first))
                        .moving())
                .isEqualTo("waiting for g: 127.0.0.1:7402 runs for the first time, and waits until all members of its"
                        + " list have answered; place 1 of 1 in the queue");
        assertThat(WaitingNotice.describe(LOCK, "ben@build:8", Optional.of(opening))
                        .moving())
                .as("somebody holds it")
                .doesNotContain("restarted");
    }

    @Test
    void aWaiterAtALockThatIsKeptIsToldForHowLong() {
        LockStatus.Holder kept = kept("anna@build:7", Duration.ofSeconds(200));
        LockStatus done = new LockStatus(LockKey.lock("job"), List.of(kept), List.of());
        assertThat(WaitingNotice.describe(done, "c", Optional.empty()).moving())
                .isEqualTo("waiting for job, kept after anna@build:7 (make), free in 3m 20s");

        LockStatus some = new LockStatus(
                LockKey.semaphore("jobs"), List.of(kept, holder("b", LockMode.PERMITS, 1, 5, 90, Map.of())), List.of());
        assertThat(WaitingNotice.describe(some, "c", Optional.empty()).moving())
                .isEqualTo("waiting for jobs, held by b and 1 more for 1m 30s");
    }

    private static LockStatus.Holder kept(String client, Duration left) {
        return new LockStatus.Holder(
                client,
                LockMode.EXCLUSIVE,
                1,
                OptionalLong.of(4),
                Duration.ofSeconds(100),
                Map.of("command", "make"),
                Optional.of(left));
    }

    @Test
    void severalHoldersAreCounted() {
        assertThat(WaitingNotice.describe(SEMAPHORE, "c", Optional.empty()).fixed())
                .isEqualTo("waiting for gpu, held by a and 1 more");
    }

    @Test
    void aFailureNamesWhoDidNotAnswerUnlessItsMessageDoes() {
        String server = "local:/locks (host: process 7)";
        assertThat(Failures.message(new LockUnavailableException("no answer", null, server, null)))
                .isEqualTo("no answer (local:/locks (host: process 7)).");
        assertThat(Failures.message(new LockUnavailableException("nobody hosts /locks", null, "local:/locks", null)))
                .isEqualTo("nobody hosts /locks.");
        assertThat(Failures.message(new LockUnavailableException("no answer", null, null, null)))
                .isEqualTo("no answer.");
    }

    @Test
    void longOptionsOfAUrlAreLeftOut() {
        String hosts = "lock:native://127.0.0.1:7401,127.0.0.1:7402/keyway";
        String map = "?addressMap=127.0.0.1:7401>10.1.2.3:9001,127.0.0.1:7402>10.1.2.3:9002&ttl=10s";
        assertThat(Failures.message(new LockUnavailableException(
                        "No answer about lock x within 2s from " + hosts + map + ". Try again.", null, null, null)))
                .isEqualTo("No answer about lock x within 2s from " + hosts + ". Try again.");
        assertThat(Failures.message(new LockUnavailableException("from " + hosts + "?ttl=5s: no", null, null, null)))
                .isEqualTo("from " + hosts + "?ttl=5s: no.");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a:1 is not available: refused. Try again.|a:1 is not available: refused; retrying",
                "no answer from a:1. Try again, or raise requestTimeout.|no answer from a:1; retrying",
                "no answer. The request was withdrawn; try again, or wait longer.|no answer; retrying",
                "could not be asked at a:1: refused. Nothing was sent; try again.|"
                        + "could not be asked at a:1: refused; retrying",
                "unknown host x.invalid|unknown host x.invalid; retrying"
            })
    void nobodyIsToldToTryAgainWhileKeywayDoes(String message, String told) {
        assertThat(Failures.trouble(new LockUnavailableException(message, null, null, null)))
                .isEqualTo(told);
    }

    @Test
    void eachWarningIsToldOnce() {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(err, true, StandardCharsets.UTF_8);
        Console console = new Console(stream, stream, false, false, Map.of(), CommandClock.SYSTEM);
        PrintStream log = new Warnings(console).stream();
        log.println("warning: ä is open to all");
        log.print("warning: the rest ");
        log.println("follows");
        log.println("warning: ä is open to all");
        log.println();
        assertThat(err.toString(StandardCharsets.UTF_8))
                .isEqualTo("keyway: warning: ä is open to all\nkeyway: warning: the rest follows\n");
    }

    @ParameterizedTest
    @CsvSource({
        "0,0ms",
        "999,999ms",
        "1000,1s",
        "59999,59s",
        "7500,7.5s",
        "7400,7s",
        "11500,11s",
        "60000,1m",
        "61000,1m 1s",
        "3600000,1h",
        "-5,0ms"
    })
    void durationsAreShort(long millis, String text) {
        assertThat(Durations.show(Duration.ofMillis(millis))).isEqualTo(text);
    }

    private static LockStatus.Holder holder(
            String client, LockMode mode, int permits, long token, long seconds, Map<String, String> metadata) {
        return new LockStatus.Holder(
                client, mode, permits, OptionalLong.of(token), Duration.ofSeconds(seconds), metadata);
    }

    private static LockStatus.Waiter waiter(
            String client, LockMode mode, int permits, long seconds, Map<String, String> metadata) {
        return new LockStatus.Waiter(
                client, mode, permits, OptionalLong.empty(), Duration.ofSeconds(seconds), metadata);
    }
}
