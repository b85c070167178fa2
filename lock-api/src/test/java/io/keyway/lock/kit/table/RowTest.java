// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** A row as text, and what the rules keep up whatever is asked of it. */
class RowTest {

    private static final LockKey KEY = LockKey.semaphore("käse/1");
    private static final LockKey LOCK = LockKey.lock("orders/7");
    private static final Duration TTL = Duration.ofSeconds(10);

    private final RowRules rules = new RowRules();
    private final RowVerbs verbs = new RowVerbs(rules);

    @Test
    void aTextLeadsBackToItsRow() {
        Owner owner = new Owner("näme with blanks", Map.of("a", "1\n2", "-", ""));
        Request request = new Request(5, KEY, LockMode.PERMITS, 2, 9, TTL, true, owner, Duration.ofMillis(3), 3);
        Entry holder = new Entry("c1", request, Entry.State.HOLDING, 17, -5, Long.MAX_VALUE, 3, "", null);
        Entry upgraded = Entry.begin("c2", request, Entry.State.HOLDING, 9)
                .stamped(4, 8)
                .converted(request, 11)
                .broken("wörd - * \"quoted\"\nline");
        Entry waiter = Entry.begin("", request, Entry.State.WAITING, 9);
        Row row = new Row(List.of(holder, upgraded, waiter, Entry.begin("c", request, Entry.State.WITHDRAWN, 1)));
        String text = row.text();
        assertThat(Row.parse(KEY, text)).isEqualTo(row);
        assertThat(text).matches("[ -~\n]*");
        assertThat(text.lines()).hasSize(5);
        assertThat(Row.parse(KEY, Row.FREE.text())).isEqualTo(Row.FREE);
    }

    @Test
    void anEntryBeginsOnceAsAWaiterAsAGrantAsAConversionAndAsAMemory() {
        Request reads = new Request(1, LOCK, LockMode.SHARED, 1, 1, TTL, true, new Owner("somebody", Map.of()));
        Request writes = new Request(2, LOCK, LockMode.EXCLUSIVE, 1, 1, TTL, true, new Owner("somebody", Map.of()));
        Entry waiter = Entry.begin("c", reads, Entry.State.WAITING, 9);
        assertThat(waiter.begins()).isTrue();
        assertThat(waiter.stamped(3, 4).begins()).isFalse();
        assertThat(waiter.stamped(3, 4).heardNow(9).begins()).isFalse();
        assertThat(waiter.upgrading(3).begins()).isTrue();
        Entry holder = Entry.begin("c", reads, Entry.State.HOLDING, 9);
        assertThat(holder.begins()).isTrue();
        Entry held = holder.stamped(3, 4);
        assertThat(held.heardNow(9).begins()).isFalse();
        assertThat(held.broken("because").begins()).isFalse();
        Entry converted = held.converted(writes, 9);
        assertThat(converted.begins())
                .as("though it is held since the same time")
                .isTrue();
        assertThat(converted.id()).isNotEqualTo(held.id());
        assertThat(converted.stamped(5, 6).known().heardNow(9).begins()).isFalse();
        assertThat(Entry.begin("c", reads, Entry.State.WITHDRAWN, 9).begins()).isTrue();
    }

    /** Each client counts its requests from one. */
    @Test
    void aWaiterAsksWhenTheOneBeforeItMayBeOverThoughBothHaveOneId() {
        Request request = new Request(1, LOCK, LockMode.EXCLUSIVE, 1, 1, TTL, true, new Owner("somebody", Map.of()));
        Entry holder = new Entry("c1", request, Entry.State.HOLDING, 17, 0, 0, TTL.toNanos(), "", null);
        Entry dead = new Entry("c2", request, Entry.State.WAITING, 0, 0, 0, TTL.toNanos() / 10, "", null);
        Entry waiter = new Entry("c3", request, Entry.State.WAITING, 0, 0, 0, TTL.toNanos(), "", null);
        Row row = new Row(List.of(holder, dead, waiter));
        RowRules.Look told = new RowRules.Look(0, true);
        assertThat(rules.recheckWithin(row, waiter, request, told)).isEqualTo(TTL.dividedBy(10));
        assertThat(rules.recheckWithin(row, dead, request, told))
                .as("the first itself")
                .isEqualTo(TTL.dividedBy(4));
    }

    @Test
    void aTextOfAnotherProgramIsRefused() {
        assertThatThrownBy(() -> Row.parse(KEY, "rows3\nHOLDING"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("semaphore käse/1")
                .hasMessageContaining("rows3");
        assertThatThrownBy(() -> Row.parse(KEY, "rows2\nHOLDING c 1"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no entry: HOLDING c 1");
    }

    /** One client of the random run, and what the rules have said to it. */
    private record Asked(String client, Request request) {}

    @Test
    void whateverIsAskedTwoNeverHoldWhatExcludesEachOtherAndTokensRise() {
        for (int seed = 0; seed < 300; seed++) {
            run(new SplittableRandom(seed));
        }
    }

    private void run(SplittableRandom random) {
        Row row = Row.FREE;
        long now = Long.MAX_VALUE - 50_000_000_000L;
        long version = 0;
        long lastToken = 0;
        List<Asked> asked = new ArrayList<>();
        for (int i = 0; i < 120; i++) {
            now += random.nextLong(random.nextInt(10) == 0 ? 12_000_000_000L : 300_000_000L);
            row = rules.expired(row, now);
            if (asked.isEmpty() || random.nextInt(3) == 0) {
                LockMode mode = random.nextBoolean() ? LockMode.SHARED : LockMode.EXCLUSIVE;
                asked.add(new Asked(
                        "c" + random.nextInt(4),
                        new Request(i, LOCK, mode, 1, 1, TTL, random.nextInt(3) > 0, new Owner("o", Map.of()))));
            }
            Asked one = asked.get(random.nextInt(asked.size()));
            Row after = act(random, row, one, i, now);
            String text = after.text();
            row = Row.parse(LOCK, text).stamped(++version, now);
            List<Entry> holders = row.holders();
            assertThat(holders.size() <= 1
                            || holders.stream()
                                    .allMatch(holder -> holder.request().mode() == LockMode.SHARED))
                    .as(text)
                    .isTrue();
            for (Entry holder : holders) {
                assertThat(holder.token()).as(text).isPositive();
            }
            if (after.grants()) {
                assertThat(version).isGreaterThan(lastToken);
                lastToken = version;
            }
            assertThat(row.entries().stream().map(Entry::id)).as(text).doesNotHaveDuplicates();
            assertThat(row.waiters().stream().skip(1))
                    .as(text)
                    .noneMatch(waiter -> waiter.state() == Entry.State.UPGRADING);
        }
    }

    /** Random requests for permits, each answer judged. */
    private static final class Permits {
        private final RowRules rules = new RowRules();
        private final RowVerbs verbs = new RowVerbs(rules);
        private final SplittableRandom random;
        private final List<Asked> asked = new ArrayList<>();
        private Row row = Row.FREE;
        private long now;
        private int passed;
        private int waited;

        Permits(SplittableRandom random) {
            this.random = random;
        }

        void step(int number) {
            now += random.nextLong(random.nextInt(20) == 0 ? TTL.toNanos() : TTL.toNanos() / 50);
            row = rules.expired(row, now);
            RowRules.Look look = new RowRules.Look(now, true);
            List<Entry> holders = row.holders();
            if (!holders.isEmpty() && random.nextInt(3) == 0) {
                Entry holder = holders.get(random.nextInt(holders.size()));
                change(verbs.release(row, holder.client(), holder.grant(), false, now)
                        .row());
                return;
            }
            if (asked.isEmpty() || random.nextInt(3) == 0) {
                int capacity = random.nextInt(5);
                int permits = capacity == 0 ? 1 : 1 + random.nextInt(capacity);
                Owner owner = new Owner("o", Map.of());
                asked.add(new Asked(
                        "c" + random.nextInt(3),
                        new Request(
                                number, KEY, LockMode.PERMITS, permits, capacity, TTL, random.nextInt(4) > 0, owner)));
            }
            Asked one = asked.get(random.nextInt(asked.size()));
            if (random.nextInt(8) == 0) {
                change(verbs.withdraw(row, one.client(), one.request(), true).row());
                asked.remove(one);
                return;
            }
            boolean held = row.holder(one.client(), one.request().id()) != null;
            long out = row.permitsOut();
            List<Entry> before = row.waiters().stream()
                    .takeWhile(
                            waiter -> !waiter.isOf(one.client(), one.request().id()))
                    .toList();
            boolean granted =
                    verbs.attempt(row, one.client(), one.request(), look).answer() instanceof Attempt.Granted;
            if (granted && !held) {
                judgeGrant(one.request(), out, before);
            } else if (!granted) {
                judgeRefusal(one.request(), out, before);
            }
            change(verbs.attempt(row, one.client(), one.request(), look).row());
        }

        private void change(Row after) {
            row = after.stamped(now + 1, now);
        }

        private void judgeGrant(Request granted, long out, List<Entry> before) {
            assertThat(out + granted.permits()).as(row::text).isLessThanOrEqualTo(granted.capacity());
            assertThat(before)
                    .as(() -> "passed by " + granted + " in " + row.text())
                    .allMatch(waiter -> waiter.request().capacity() < granted.capacity())
                    .noneMatch(waiter -> mayGo(waiter, out, before));
            passed += before.isEmpty() ? 0 : 1;
        }

        /** It fits, and no other of those before it states as much. */
        private static boolean mayGo(Entry waiter, long out, List<Entry> queue) {
            return out + waiter.request().permits() <= waiter.request().capacity()
                    && queue.stream()
                            .takeWhile(other -> !other.equals(waiter))
                            .allMatch(other -> other.request().capacity()
                                    < waiter.request().capacity());
        }

        private void judgeRefusal(Request refused, long out, List<Entry> before) {
            boolean fits = out + refused.permits() <= refused.capacity();
            boolean widest = before.stream().allMatch(waiter -> waiter.request().capacity() < refused.capacity());
            boolean others = before.stream().anyMatch(waiter -> mayGo(waiter, out, before));
            assertThat(fits && widest && !others)
                    .as(() -> refused + " in " + row.text())
                    .isFalse();
            Entry told = rules.next(row, null);
            assertThat(told == null || row.waiters().contains(told)).isTrue();
            waited++;
        }
    }

    @Test
    void whoStatesALargerCapacityPassesThoseThatTheirOwnRefusesAndNobodyElse() {
        int passed = 0;
        int waited = 0;
        for (int seed = 0; seed < 60; seed++) {
            Permits run = new Permits(new SplittableRandom(seed));
            for (int i = 0; i < 150; i++) {
                run.step(i);
            }
            passed += run.passed;
            waited += run.waited;
        }
        assertThat(passed).isGreaterThan(50);
        assertThat(waited).isGreaterThan(1000);
    }

    @Test
    void aDeadWaiterBehindOneThatIsRefusedStopsNobody() {
        Owner owner = new Owner("o", Map.of());
        RowRules.Look look = new RowRules.Look(0, true);
        Row row = verbs.attempt(Row.FREE, "h", permits(1, 2, 2, TTL, owner), look)
                .row()
                .stamped(1, 0);
        row = verbs.attempt(row, "n", permits(2, 1, 1, TTL.multipliedBy(9), owner), look)
                .row()
                .stamped(2, 0);
        row = verbs.attempt(row, "w", permits(3, 1, 3, TTL, owner), look).row().stamped(2, 0);
        assertThat(row.holders()).as("one more fits").hasSize(2);
        row = verbs.attempt(row, "x", permits(4, 2, 3, TTL.dividedBy(2), owner), look)
                .row()
                .stamped(3, 0);
        row = verbs.attempt(row, "y", permits(5, 1, 3, TTL.multipliedBy(9), owner), look)
                .row()
                .stamped(3, 0);
        assertThat(row.waiters()).hasSize(3);
        assertThat(rules.nextExpiry(row)).hasValue(TTL.dividedBy(2).toNanos());
        Row later = rules.expired(row, TTL.dividedBy(2).toNanos());
        assertThat(later.waiters())
                .extracting(waiter -> waiter.request().id())
                .as("without the dead one in the middle")
                .containsExactly(2L, 5L);
    }

    @Test
    void aTextKeepsWhatASoftWriterWaitsFor() {
        for (Duration quiet : List.of(Duration.ZERO, TTL.dividedBy(3))) {
            Row row = new Row(List.of(
                    Entry.begin("c", writer(quiet), Entry.State.YIELDING, 9).stamped(0, 7)));
            assertThat(Row.parse(LOCK, row.text())).isEqualTo(row);
        }
    }

    @Test
    void aSoftWriterIsToldWhenItsTimeHasComeAndNotBefore() {
        Request writer = writer(TTL);
        Row row = verbs.attempt(Row.FREE, "c", writer, new RowRules.Look(0, true))
                .row()
                .stamped(0, 0);
        assertThat(verbs.noticesFor("c", row, TTL.toNanos() - 1))
                .as("its next word would be a change, and tell it again")
                .isEmpty();
        assertThat(verbs.noticesFor("c", row, TTL.toNanos())).containsExactly(new Notice.Turn("c", LOCK, writer.id()));
        assertThat(verbs.noticesFor("other", row, TTL.toNanos())).isEmpty();
    }

    private static Request writer(Duration quiet) {
        Owner owner = new Owner("w", Map.of());
        return new Request(1, LOCK, LockMode.EXCLUSIVE, 1, 1, TTL, true, owner).withQuiet(Optional.of(quiet));
    }

    private static Request permits(long id, int permits, int capacity, Duration ttl, Owner owner) {
        return new Request(id, KEY, LockMode.PERMITS, permits, capacity, ttl, true, owner);
    }

    private Row act(SplittableRandom random, Row row, Asked one, int step, long now) {
        RowRules.Look look = new RowRules.Look(now, true);
        String client = one.client();
        Request request = one.request();
        List<Entry> holders = row.holders();
        Grant grant = holders.isEmpty()
                ? new Grant(request.id(), LOCK, 1, TTL, "")
                : holders.get(random.nextInt(holders.size())).grant();
        return switch (random.nextInt(8)) {
            case 0 -> verbs.release(row, client, grant, false, now).row();
            case 1 -> verbs.withdraw(row, client, request, false).row();
            case 2 -> verbs.renew(row, client, grant).row();
            case 3 -> verbs.breakGrant(row, grant.token(), "why").row();
            case 4 -> {
                Request wanted = new Request(
                        1000 + step,
                        LOCK,
                        random.nextBoolean() ? LockMode.EXCLUSIVE : LockMode.SHARED,
                        1,
                        1,
                        TTL,
                        true,
                        request.owner());
                String whose = holders.isEmpty() ? client : holders.get(0).client();
                Grant held = holders.isEmpty() ? grant : holders.get(0).grant();
                yield verbs.convert(row, whose, held, wanted, look).row();
            }
            default -> verbs.attempt(row, client, request, look).row();
        };
    }

    @Test
    void aPlaceThatIsKeptIsNoGrantAndEndsWithItsTime() {
        Request request = new Request(
                1, LOCK, LockMode.EXCLUSIVE, 1, 1, TTL, true, new Owner("o", Map.of()), Duration.ofSeconds(30));
        RowRules.Look look = new RowRules.Look(0, true);
        Row held = verbs.attempt(Row.FREE, "c", request, look).row().stamped(3, 0);
        Grant grant = held.holders().get(0).grant();
        Row kept = verbs.release(held, "c", grant, true, 5).row();
        assertThat(verbs.renew(kept, "c", grant).answer()).isEqualTo(Answer.NOT_HELD);
        assertThat(verbs.attempt(kept, "c", request, look).answer()).isInstanceOf(Attempt.Waiting.class);
        long end = Duration.ofSeconds(30).toNanos();
        assertThat(rules.expired(kept, end - 1).isFree()).isFalse();
        assertThat(rules.expired(kept, end).isFree()).isTrue();
        Row dead = rules.expired(held, TTL.toNanos());
        assertThat(dead.holders().get(0).state()).isEqualTo(Entry.State.KEPT);
        assertThat(rules.expired(dead, end).isFree()).isTrue();
    }
}
