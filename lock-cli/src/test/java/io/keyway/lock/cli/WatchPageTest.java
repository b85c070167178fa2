// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockStatus;
import io.keyway.lock.LockStatus.Holder;
import io.keyway.lock.LockStatus.Waiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What stands on the page of `keyway show --watch`, for windows of any size. */
class WatchPageTest {
    private static final long SECOND = 1_000_000_000;

    private final WatchPage page = new WatchPage("lock:native://a:7400/keyway");

    private static Holder holder(String client, long token, int seconds) {
        return new Holder(
                client,
                LockMode.EXCLUSIVE,
                1,
                OptionalLong.of(token),
                Duration.ofSeconds(seconds),
                Map.of("command", "backup.sh"));
    }

    private static LockStatus lock(String name, List<Holder> holders, int waiters) {
        List<Waiter> waiting = new ArrayList<>();
        for (int i = 1; i <= waiters; i++) {
            waiting.add(new Waiter(
                    "waiter-" + i, LockMode.SHARED, 1, OptionalLong.empty(), Duration.ofSeconds(40 - i), Map.of()));
        }
        return new LockStatus(LockKey.lock(name), holders, waiting);
    }

    private List<String> drawn(int rows, int columns) {
        String screen = page.draw(rows, columns, "12:34:56");
        assertThat(screen).startsWith("\033[H").endsWith("\033[J");
        List<String> lines = List.of(screen.substring(3, screen.length() - 3).split("\r\n", -1));
        assertThat(lines).hasSizeLessThanOrEqualTo(rows).allSatisfy(line -> {
            assertThat(line).endsWith("\033[K");
            assertThat(plain(line).length()).isLessThanOrEqualTo(columns);
        });
        return lines.stream().map(WatchPageTest::plain).toList();
    }

    private static String plain(String line) {
        return line.replaceAll("\033\\[[0-9]*[a-zA-Z]", "");
    }

    @Test
    void holdersWaitersAndMembers() {
        Holder kept = new Holder(
                "c",
                LockMode.EXCLUSIVE,
                1,
                OptionalLong.of(3),
                Duration.ofSeconds(2),
                Map.of(),
                Optional.of(Duration.ofSeconds(12)));
        Statuses found = new Statuses(
                List.of(lock("free/soon", List.of(kept), 0), lock("nightly", List.of(holder("root@a:1", 7, 38)), 2)),
                List.of("b:7400: no answer within 1 s"));
        page.looked(found, Map.of("a:7400", "answers", "b:7400", "no answer within 1 s"), 0);

        List<String> lines = drawn(24, 100);
        assertThat(lines.get(0)).isEqualTo("lock:native://a:7400/keyway  12:34:56");
        assertThat(lines.subList(1, 4))
                .containsExactly(
                        "  a:7400  answers",
                        "  b:7400  no answer within 1 s",
                        "2 held, 2 waiting; the longest for 39s, for nightly");
        // Those that somebody waits for come first.
        assertThat(lines.subList(5, 11))
                .containsExactly(
                        "nightly",
                        "  holds        38s  root@a:1  command=backup.sh  token 7",
                        "  waits  1     39s  waiter-1  shared",
                        "  waits  2     38s  waiter-2  shared",
                        "free/soon",
                        "  holds         2s  c  kept, free in 12s  token 3");
        assertThat(lines.get(23)).isEqualTo("q quits");
    }

    @Test
    void aMemberWhoseAddressBeginsAsAnothersIsNotTakenForIt() {
        Statuses found = new Statuses(List.of(), List.of("b:7400: no answer within 1 s"));

        assertThat(found.missing("b:7400")).contains("no answer within 1 s");
        assertThat(found.missing("b:740")).isEmpty();
        page.looked(found, Map.of("b:740", "answers"), 0);
        assertThat(drawn(24, 80)).contains("  b:740  answers", "  not shown: b:7400: no answer within 1 s");
    }

    @Test
    void aWindowOfAnySizeIsFilledAndNotPassed() {
        List<LockStatus> many = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            many.add(lock("jobs/with/a/long/name/" + i, List.of(holder("client-" + i, i, i)), 2));
        }
        page.looked(new Statuses(many, List.of()), Map.of(), 0);
        for (int rows = 1; rows < 60; rows++) {
            for (int columns : new int[] {1, 7, 20, 80, 200}) {
                assertThat(drawn(rows, columns)).hasSizeBetween(1, rows);
            }
        }
        assertThat(drawn(24, 80)).anyMatch(line -> line.startsWith("... ") && line.contains("more lines"));
        assertThat(drawn(24, 80).get(23)).isEqualTo("q quits");
    }

    @Test
    void theRateIsThatOfNewHolders() {
        for (int second = 0; second <= 20; second++) {
            // Two hand-overs a second.
            List<Holder> holders = List.of(holder("a", 2L * second, 0), holder("b", 2L * second + 1, 0));
            page.looked(new Statuses(List.of(lock("n", holders, 0)), List.of()), Map.of(), second * SECOND);
        }
        assertThat(drawn(24, 80).get(1)).isEqualTo("2 held, 0 waiting, 2.0 new holders seen a second");
        for (int second = 21; second <= 40; second++) {
            page.looked(
                    new Statuses(List.of(lock("n", List.of(holder("a", 40, 0)), 0)), List.of()),
                    Map.of(),
                    second * SECOND);
        }
        assertThat(drawn(24, 80).get(1)).isEqualTo("1 held, 0 waiting, 0.0 new holders seen a second");
    }

    @Test
    void textOfOthersMovesNoCursor() {
        page.looked(
                new Statuses(List.of(lock("n", List.of(holder("evil\033[2J\r\n", 1, 0)), 0)), List.of("x\033[H")),
                Map.of("y\033[1;1H", "z\n"),
                0);
        String screen = page.draw(24, 80, "12:34:56");
        assertThat(screen).doesNotContain("\033[2J").doesNotContain("\033[1;1H");
        assertThat(screen.substring(3)).doesNotContain("\033[H");
        assertThat(drawn(24, 80)).anyMatch(line -> line.contains("evil?[2J??"));
    }

    @Test
    void wideCharactersTakeTwoColumns() {
        assertThat(WatchPage.cut("\033[1m\u65e5\u672c\u8a9e\033[m", 5)).isEqualTo("\033[1m\u65e5\u672c");
    }

    @Test
    void nothingIsNothing() {
        page.looked(Statuses.NONE, Map.of(), 0);
        assertThat(drawn(24, 80)).contains("No lock is held or waited for.");
        page.looked(new Statuses(List.of(), List.of("nobody answers")), Map.of(), SECOND);
        assertThat(drawn(24, 80))
                .contains("  not shown: nobody answers")
                .doesNotContain("No lock is held or waited for.");
    }
}
