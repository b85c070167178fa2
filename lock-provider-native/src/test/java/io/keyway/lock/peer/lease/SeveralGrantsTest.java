// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static io.keyway.lock.LockMode.EXCLUSIVE;
import static io.keyway.lock.LockMode.PERMITS;
import static io.keyway.lock.LockMode.SHARED;
import static io.keyway.lock.peer.lease.GrantWorld.MS;
import static io.keyway.lock.peer.lease.GrantWorld.TTL;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.kit.table.Entry;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowRules;
import io.keyway.lock.peer.queue.Admission;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Shared locks and permits: several grants of one name, at one client and at several, under an admission rule. */
class SeveralGrantsTest {
    private static final Admission LOCKS = Admission.LOCKS;
    private static final Admission SEMAPHORES = Admission.SEMAPHORES;

    private final GrantWorld world = new GrantWorld(LOCKS, 3);
    private final GrantWorld.Client c0 = world.clients.get(0);
    private final GrantWorld.Client c1 = world.clients.get(1);
    private final GrantWorld.Client c2 = world.clients.get(2);

    @Test
    void readersOfOneClientHoldTogetherEachWithATokenOfItsOwn() {
        long first = c0.acquire(SHARED);
        long second = c0.acquire(SHARED);
        long third = c1.acquire(SHARED);

        assertThat(world.holders()).containsExactly(first, second, third);
        c0.release(first);
        assertThat(world.holders()).containsExactly(second, third);
        assertThat(c0.believes(second)).isTrue();
        assertThat(c0.told(LockNotice.ReleaseDone.class))
                .extracting(LockNotice.ReleaseDone::answer)
                .containsOnly(Answer.DONE);
        assertThat(world.count(LockMessage.Recall.class))
                .as("no reader has a cache to recall from")
                .isZero();
    }

    @Test
    void aWriterIsNotOvertakenByReadersAndTheyFollowItTogether() {
        long reader = c0.acquire(SHARED);
        long writer = c1.acquire(EXCLUSIVE);
        long second = c0.acquire(SHARED);
        long third = c2.acquire(SHARED);

        assertThat(world.holders()).containsExactly(reader);
        c0.release(reader);
        assertThat(world.holders()).containsExactly(writer);
        c1.release(writer);
        assertThat(world.holders()).containsExactly(second, third);
    }

    @Test
    void readersBehindAWriterThatGivesUpHoldWithThoseBeforeIt() {
        long reader = c0.acquire(SHARED);
        long writer = c1.acquire(EXCLUSIVE);
        long second = c2.acquire(SHARED);

        c1.withdraw(writer);
        assertThat(world.holders()).containsExactly(reader, second);
        assertThat(c1.told(LockNotice.Withdrawn.class)).hasSize(1);
    }

    @Test
    void aWriterThatIsNotHeardIsPassedOverAndKeepsItsPlace() {
        long reader = c0.acquire(SHARED);
        long writer = c1.acquire(EXCLUSIVE);
        long second = c2.acquire(SHARED);
        c1.cut(true);
        world.advance(TTL * 5 / 8);
        long third = c2.acquire(SHARED);

        assertThat(world.holders()).containsExactly(reader, second, third);
        assertThat(world.goals).contains(LockGoal.WAITER_PASSED_OVER);
        c1.cut(false);
        c2.acquire(SHARED);
        c0.release(reader);
        c2.release(second);
        c2.release(third);
        assertThat(world.holders()).containsExactly(writer);
    }

    @Test
    void whoDoesNotWaitIsRefusedAtOnceByReadersAndByAWriterThatWaits() {
        long reader = c0.acquire(SHARED);
        long hopeful = c1.ask(EXCLUSIVE, 1, TTL, false);
        assertThat(c1.waiting).doesNotContain(hopeful);
        long joins = c1.ask(SHARED, 1, TTL, false);
        assertThat(world.holders()).containsExactly(reader, joins);
        c2.acquire(EXCLUSIVE);
        c1.ask(SHARED, 1, TTL, false);
        assertThat(c1.told(LockNotice.Refused.class))
                .extracting(refused -> refused.holders().size())
                .containsExactly(1, 2);
        assertThat(world.holders()).containsExactly(reader, joins);
    }

    @Test
    void permitsAreGivenInOrderAndNobodyPassesARequestForMany() {
        GrantWorld permits = new GrantWorld(SEMAPHORES, 2);
        GrantWorld.Client a = permits.clients.get(0);
        GrantWorld.Client b = permits.clients.get(1);
        long two = a.acquire(PERMITS, 2, TTL);
        long three = b.acquire(PERMITS, 3, TTL);
        long one = a.acquire(PERMITS, 1, TTL);

        assertThat(permits.holders())
                .as("one is left, and is not given past who wants three")
                .containsExactly(two);
        a.release(two);
        assertThat(permits.holders()).containsExactly(three);
        b.release(three);
        assertThat(permits.holders()).containsExactly(one);
        long more = b.acquire(PERMITS, 2, TTL);
        assertThat(permits.holders()).containsExactly(one, more);
    }

    @Test
    void aGrantThatCrossesItsWithdrawalGoesBackAndTheOthersStay() {
        long writer = c1.acquire(EXCLUSIVE);
        long first = c0.acquire(SHARED);
        long second = c0.acquire(SHARED);
        c0.cut(true);
        c1.release(writer);
        c0.withdraw(first);
        c0.cut(false);

        assertThat(world.holders()).containsExactly(second);
        long next = c2.acquire(EXCLUSIVE);
        c0.release(second);
        assertThat(world.holders()).containsExactly(next);
    }

    @Test
    void grantsOfDifferentTtlsLapseEachAtItsOwnTime() {
        long brief = c0.acquire(SHARED, 1, TTL / 4);
        long lasting = c0.acquire(SHARED, 1, TTL);
        c0.cut(true);

        world.advance(TTL / 4);
        assertThat(c0.believes(brief)).isFalse();
        assertThat(c0.believes(lasting)).isTrue();
        assertThat(c0.told(LockNotice.Ended.class))
                .extracting(LockNotice.Ended::cause)
                .containsExactly(LeaseLoss.Cause.EXPIRED);
        long writer = c1.acquire(EXCLUSIVE);
        world.advance(TTL);
        assertThat(c0.told(LockNotice.Ended.class)).hasSize(2);
        assertThat(world.holders()).containsExactly(writer);
    }

    @Test
    void doubtAndItsEndAreToldOfEachGrant() {
        c0.acquire(SHARED);
        c0.acquire(SHARED);
        c0.cut(true);
        world.advance(TTL * 11 / 16);
        assertThat(c0.told(LockNotice.Doubted.class)).hasSize(2);
        c0.cut(false);
        world.advance(MS);
        assertThat(c0.told(LockNotice.Certain.class)).hasSize(2);
        assertThat(c0.held).hasSize(2);
    }

    @Test
    void aUserWhoSeesALapseEndsItsOwnGrantAndSaysWhenItHasStopped() {
        long first = c0.acquire(SHARED);
        long second = c0.acquire(SHARED);
        long token = c0.token(first);
        c0.question(new LockCall.Lapse(token));

        assertThat(c0.told(LockNotice.Ended.class))
                .extracting(LockNotice.Ended::token)
                .containsExactly(token);
        long writer = c1.acquire(EXCLUSIVE);
        c0.release(second);
        assertThat(world.holders()).as("the first user has not stopped yet").isEmpty();
        c0.question(new LockCall.Release(token));
        assertThat(world.holders()).containsExactly(writer);
    }

    @Test
    void aSessionThatIsOverEndsAllGrantsAndTellsEachOnce() {
        c0.acquire(SHARED);
        c0.acquire(SHARED);
        long waits = c0.acquire(EXCLUSIVE);
        c0.lose("unknown session");
        assertThat(c0.told(LockNotice.Ended.class)).hasSize(2);
        assertThat(c0.held).isEmpty();
        c0.open();
        world.advance(2 * TTL);
        assertThat(c0.believes(waits)).as("its request went on").isTrue();
    }

    @Test
    void afterARestartEachGrantIsReassertedAndKeepsItsToken() {
        long first = c0.acquire(SHARED);
        long second = c0.acquire(SHARED);
        long third = c1.acquire(SHARED);
        List<Long> tokens = List.of(c0.token(first), c0.token(second), c1.token(third));
        world.restart();
        long writer = c2.acquire(EXCLUSIVE);

        assertThat(world.holders()).containsExactly(first, second, third);
        assertThat(List.of(c0.token(first), c0.token(second), c1.token(third))).isEqualTo(tokens);
        assertThat(world.count(LockMessage.Reasserted.class)).isEqualTo(3);
        world.advance(5 * TTL);
        assertThat(world.holders())
                .as("after the quarantine they hold, and the writer waits")
                .containsExactly(first, second, third);
        c0.release(first);
        c0.release(second);
        c1.release(third);
        assertThat(world.holders()).containsExactly(writer);
        assertThat(c2.token(writer)).isGreaterThan(tokens.get(2));
    }

    @Test
    void aReleaseBeforeTheReassertionIsToldToTheNewMember() {
        long first = c0.acquire(SHARED);
        long second = c0.acquire(SHARED);
        world.restart(() -> c0.release(first));
        assertThat(c0.told(LockNotice.ReleaseDone.class))
                .extracting(LockNotice.ReleaseDone::answer)
                .containsExactly(Answer.DONE);
        assertThat(world.count(LockMessage.Release.class)).isEqualTo(1);
        assertThat(c0.held.keySet()).containsExactly(second);
    }

    @Test
    void aReassertionBesideOneThatItCannotStandWithIsAConflict() {
        long reader = c0.acquire(SHARED);
        long token = c0.token(reader);
        world.restart();
        Owner liar = new Owner("c1", Map.of());
        c1.raw(new LockMessage.Reassert(GrantWorld.KEY, 77, token + 5, token + 5, token + 5, EXCLUSIVE, 1, TTL, liar));
        assertThat(c0.held).isEmpty();
        assertThat(world.goals).contains(LockGoal.REASSERTIONS_IN_CONFLICT);
        assertThat(world.alarms.toString()).contains("held twice after a restart");
    }

    @Test
    void aFrozenGrantThatNobodyConfirmsEndsAtItsDeadline() {
        long reader = c0.acquire(SHARED);
        c0.acquire(SHARED);
        c0.lose("restarted");
        assertThat(c0.told(LockNotice.Doubted.class)).hasSize(2);
        assertThat(c0.believes(reader)).isTrue();
        world.advance(TTL);
        assertThat(c0.held).isEmpty();
        assertThat(c0.told(LockNotice.Ended.class)).hasSize(2);
    }

    @Test
    void aBreakEndsTheGrantOfItsTokenAndNoOther() {
        long first = c0.acquire(SHARED);
        long second = c0.acquire(SHARED);
        long token = c0.token(first);
        c2.question(new LockCall.Break(900, token, "a test", TTL));

        assertThat(c0.told(LockNotice.Ended.class)).singleElement().satisfies(ended -> {
            assertThat(ended.token()).isEqualTo(token);
            assertThat(ended.cause()).isEqualTo(LeaseLoss.Cause.BROKEN);
            assertThat(ended.detail()).contains("a test");
        });
        assertThat(world.holders()).containsExactly(second);
        assertThat(c2.told(LockNotice.Told.class))
                .extracting(LockNotice.Told::answer)
                .containsExactly(new LockMessage.Answer(GrantWorld.KEY, 900, true));
        c2.question(new LockCall.Break(901, token, "again", TTL));
        assertThat(c2.told(LockNotice.Told.class).get(1).answer())
                .isEqualTo(new LockMessage.Answer(GrantWorld.KEY, 901, false));
    }

    @Test
    void withAGuardABrokenGrantIsKeptUntilItsUserHasStoppedAndGoesOnBeingRenewed() {
        GrantWorld guarded = new GrantWorld(LOCKS, LockSettings.defaults().withStopBeforeRevoked(), 2);
        GrantWorld.Client a = guarded.clients.get(0);
        GrantWorld.Client b = guarded.clients.get(1);
        long first = a.acquire(SHARED);
        long second = a.acquire(SHARED);
        long token = a.token(first);
        b.question(new LockCall.Break(900, token, "a test", 9 * TTL));
        long writer = b.acquire(EXCLUSIVE);
        a.release(second);

        guarded.advance(3 * TTL);
        assertThat(guarded.holders()).isEmpty();
        assertThat(b.told(LockNotice.Told.class)).isEmpty();
        a.question(new LockCall.Release(token));
        assertThat(b.told(LockNotice.Told.class)).hasSize(1);
        assertThat(guarded.holders()).containsExactly(writer);
    }

    @Test
    void aStatusListsAllHoldersAndAllWaiters() {
        long first = c0.acquire(SHARED);
        long second = c0.acquire(SHARED);
        c1.acquire(EXCLUSIVE);
        c0.acquire(SHARED);
        c2.question(new LockCall.Show(900, TTL));

        LockMessage.Status status =
                (LockMessage.Status) c2.told(LockNotice.Told.class).get(0).answer();
        assertThat(status.holders())
                .extracting(Participant::token)
                .containsExactlyInAnyOrder(c0.token(first), c0.token(second));
        assertThat(status.waiters()).extracting(Participant::mode).containsExactlyInAnyOrder(EXCLUSIVE, SHARED);
    }

    @Test
    void aGrantThatItsClientDoesNotListLiesIdleAndOneGrantedSinceDoesNot() {
        long idle = c0.acquire(SHARED);
        long used = c0.acquire(SHARED);
        Participant use = new Participant(new Owner("c0", Map.of()), SHARED, 1, c0.token(used), 5 * MS);
        long busy = c1.acquire(SHARED);
        c0.cut(true);
        c2.question(new LockCall.Show(900, TTL));
        long since = c1.acquire(SHARED);
        c0.raw(new LockMessage.Use(GrantWorld.KEY, 1, List.of(use), List.of(), 0, true));

        LockMessage.Status status =
                (LockMessage.Status) c2.told(LockNotice.Told.class).get(0).answer();
        assertThat(c0.token(idle)).isPositive();
        assertThat(status.holders())
                .extracting(Participant::token)
                .containsExactly(c0.token(used), c1.token(busy), c1.token(since));
        assertThat(status.holders().get(0).nanos()).isEqualTo(5 * MS);
    }

    @Test
    @Tag("soak")
    void thousandsOfHoldersComeInSeveralPartsAndTheirPermitsAreCounted() {
        int many = 3_000;
        GrantWorld permits =
                new GrantWorld(SEMAPHORES, 2).withCapacity(2 * many).withoutCopies();
        for (int i = 0; i < many; i++) {
            permits.clients.get(0).acquire(PERMITS, 2, TTL);
        }
        permits.clients.get(1).question(new LockCall.Show(900, TTL));

        LockMessage.Status status = (LockMessage.Status)
                permits.clients.get(1).told(LockNotice.Told.class).get(0).answer();
        assertThat(status.holders()).hasSize(many);
        assertThat(status.out()).isEqualTo(2 * many);
        assertThat(status.more()).isZero();
    }

    @Test
    void nothingIsLeftOfANameThatNobodyUses() {
        long first = c0.acquire(SHARED);
        long second = c0.acquire(SHARED, 1, TTL / 2);
        c0.release(first);
        c0.release(second);
        world.advance(TTL);
        assertThat(c0.kept()).isEmpty();
        assertThat(world.residents()).isZero();
    }

    // Against the rules of rows

    /** What a store of rows would do, where nobody dies. */
    private static final class Rows extends RowRules {
        private final List<Entry> holders = new ArrayList<>();
        private final List<Entry> waiters = new ArrayList<>();

        private Row row() {
            return new Row(Stream.concat(holders.stream(), waiters.stream()).toList());
        }

        void ask(long id, LockMode mode, int permits, boolean queues) {
            LockKey key = new LockKey(LockKey.Kind.LOCK, LockName.of("a"));
            Request request = new Request(
                    id,
                    key,
                    mode,
                    permits,
                    GrantWorld.CAPACITY,
                    Duration.ofSeconds(8),
                    queues,
                    new Owner("c", Map.of()));
            if (queues || (isTurnOf(row(), null, request) && admits(row(), request))) {
                waiters.add(entry(request, Entry.State.WAITING));
            }
            serve();
        }

        private static Entry entry(Request request, Entry.State state) {
            return new Entry("c", request, state, request.id(), 0, 0, Long.MAX_VALUE, "", null);
        }

        private void serve() {
            while (!waiters.isEmpty() && admits(row(), waiters.get(0).request())) {
                holders.add(entry(waiters.remove(0).request(), Entry.State.HOLDING));
            }
        }

        void leave(long id) {
            holders.removeIf(entry -> entry.request().id() == id);
            waiters.removeIf(entry -> entry.request().id() == id);
            serve();
        }

        List<Long> held() {
            return holders.stream().map(entry -> entry.request().id()).toList();
        }
    }

    private record Ask(LockMode mode, int permits) {}

    private static final List<Ask> MODES = List.of(new Ask(EXCLUSIVE, 1), new Ask(SHARED, 1));
    private static final List<Ask> COUNTS = List.of(new Ask(PERMITS, 1), new Ask(PERMITS, 2), new Ask(PERMITS, 3));

    /** All queues of four requests of two clients, and all orders in which their holders release. */
    @Test
    void everyShortQueueIsServedAsTheRulesOfRowsWould() {
        int runs = 0;
        for (List<Ask> alphabet : List.of(MODES, COUNTS)) {
            int queues = (int) Math.pow(alphabet.size(), 4);
            for (int queue = 0; queue < queues; queue++) {
                int[] choices = new int[4];
                do {
                    runShortQueue(alphabet, queue, choices);
                    runs++;
                } while (choices[0] >= 0);
            }
        }
        assertThat(runs).isGreaterThan(200);
    }

    /** {@code choices}: who of those that hold releases, at each step; made the next ones, or -1 if there are none. */
    private static void runShortQueue(List<Ask> alphabet, int queue, int[] choices) {
        GrantWorld world = new GrantWorld(alphabet == MODES ? LOCKS : SEMAPHORES, 2).withoutCopies();
        Rows rows = new Rows();
        int rest = queue;
        for (int i = 0; i < choices.length; i++) {
            Ask ask = alphabet.get(rest % alphabet.size());
            rest /= alphabet.size();
            long request = world.clients.get(i % 2).acquire(ask.mode(), ask.permits(), TTL);
            rows.ask(request, ask.mode(), ask.permits(), true);
            world.advance(MS);
            assertThat(world.holders()).isEqualTo(rows.held());
        }
        int lastChoice = -1;
        for (int i = 0; i < choices.length; i++) {
            List<Long> held = rows.held();
            assertThat(held).as("somebody holds as long as anybody wants to").isNotEmpty();
            lastChoice = choices[i] < held.size() - 1 ? i : lastChoice;
            long request = held.get(choices[i]);
            world.clients.get((int) (request - 1) % 2).release(request);
            rows.leave(request);
            world.advance(MS);
            assertThat(world.holders()).isEqualTo(rows.held());
        }
        assertThat(world.holders()).isEmpty();
        if (lastChoice < 0) {
            choices[0] = -1;
        } else {
            choices[lastChoice]++;
            Arrays.fill(choices, lastChoice + 1, choices.length, 0);
        }
    }

    /** Longer histories, with requests that do not wait and users who give up. */
    @Test
    void randomHistoriesAreServedAsTheRulesOfRowsWould() {
        long granted = 0;
        for (int seed = 0; seed < 40; seed++) {
            Random random = new Random(seed);
            List<Ask> alphabet = seed % 2 == 0 ? MODES : COUNTS;
            GrantWorld world = new GrantWorld(alphabet == MODES ? LOCKS : SEMAPHORES, 3).withoutCopies();
            Rows rows = new Rows();
            for (int step = 0; step < 60; step++) {
                GrantWorld.Client client = world.clients.get(random.nextInt(3));
                List<Long> held = List.copyOf(client.held.keySet());
                List<Long> waiting = List.copyOf(client.waiting);
                int what = random.nextInt(10);
                if (what < 4) {
                    Ask ask = alphabet.get(random.nextInt(alphabet.size()));
                    boolean queues = what > 0;
                    rows.ask(client.ask(ask.mode(), ask.permits(), TTL, queues), ask.mode(), ask.permits(), queues);
                } else if (what < 9 && !held.isEmpty()) {
                    long request = held.get(random.nextInt(held.size()));
                    client.release(request);
                    rows.leave(request);
                    granted++;
                } else if (!waiting.isEmpty()) {
                    long request = waiting.get(random.nextInt(waiting.size()));
                    client.withdraw(request);
                    rows.leave(request);
                }
                world.advance(MS);
                assertThat(world.holders()).as("seed %s, step %s", seed, step).isEqualTo(rows.held());
            }
        }
        assertThat(granted).isGreaterThan(300);
    }
}
