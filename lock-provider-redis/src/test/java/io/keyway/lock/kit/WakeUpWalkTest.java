// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.redis.WalkServer;
import io.keyway.lock.redis.WalkStore.Fate;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.spi.Request;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Walks at random through what can happen between the machines of a few clients and a real server, one call, answer,
 * message or wish at a time, with lost calls and answers or without. Whenever nothing is under way, nobody may sleep
 * whose turn it is.
 */
class WakeUpWalkTest {
    private static final LockKey LOCK = LockKey.lock(LockName.of("m"));
    private static final LockKey PERMITS = LockKey.semaphore(LockName.of("s"));
    private static final int CAPACITY = 3;
    private static final int WISHES = 60;
    private static final long STEP_NANOS = 50_000;
    private static final long SOON_NANOS = 3_000_000_000L;

    @AutoClose
    private static RedisServer server;

    @AutoClose
    private static WalkServer eye;

    private final List<WalkClient> clients = new ArrayList<>();
    private final List<String> story = new ArrayList<>();
    private Random random;
    private boolean losses;
    private boolean breaks;
    private boolean lapses;
    private boolean races;
    private int wishes;
    private long now;

    @FunctionalInterface
    private interface Step {
        void happen() throws Exception;
    }

    @BeforeAll
    static void startTheServer(@TempDir Path directory) throws Exception {
        server = RedisServer.start(directory);
        eye = new WalkServer(server);
    }

    @Test
    void nobodySleepsWhoseTurnItIs() throws Exception {
        walks(1_085, 1_091, false, false);
    }

    @Test
    void nobodySleepsWhoseTurnItIsWhenCallsAndAnswersAreLost() throws Exception {
        walks(0, 6, true, false);
    }

    @Test
    void nobodySleepsAndNoTwoWriteWhenGrantsAreBroken() throws Exception {
        walks(0, 6, true, true);
    }

    /** Nobody is granted what another one lost so lately that it may not have stopped. */
    @Test
    void whoHasLostALeaseByTheClockHasTimeToStop() throws Exception {
        lapses = true;
        walks(10, 15, true, false);
    }

    /** And who asks for permits does not always know how many there are. */
    @Test
    @Tag("soak")
    void nobodySleepsWhoseTurnItIsWhenMessagesAreFasterThanAnswers() throws Exception {
        races = true;
        walks(0, 12, false, false);
        walks(0, 12, true, true);
    }

    @Test
    @Tag("soak")
    void nobodySleepsInManyWalks() throws Exception {
        races = true;
        walks(2_000, 2_300, false, false);
        walks(2_000, 2_300, true, false);
        walks(2_000, 2_300, true, true);
        races = false;
        walks(1_000, 1_150, false, false);
        walks(1_000, 1_150, true, false);
        walks(1_000, 1_150, false, true);
        walks(1_000, 1_150, true, true);
    }

    /**
     * The grant is broken, and the attempt that finds it so is not answered; the next one says that nobody believes in
     * it.
     */
    @Test
    void aGrantByMessageThatIsOlderThanALostAttemptIsNotBelieved() throws Exception {
        server.ask("FLUSHALL");
        eye.drain((incarnation, message) -> {});
        story.clear();
        try {
            for (int i = 0; i < 3; i++) {
                clients.add(new WalkClient(i, server, story));
                clients.get(i).ask(LOCK, LockMode.EXCLUSIVE, 1, 1, true);
                settle(clients.get(i));
            }
            WalkClient second = clients.get(1);
            clients.get(0).release(1);
            settle(clients.get(0));
            deliver();
            assertThat(second.messages).as(this::told).hasSize(1);

            second.breakGrant(LOCK, eye.tokens("keyway:{m}:l").get(0));
            second.recheck(LOCK);
            second.make(second.calls.get(0), Fate.NOT_ANSWERED);
            second.answer(second.answers.get(0));
            deliver();
            second.hear();
            assertThat(second.held).as(this::told).isEmpty();
            WalkClient third = clients.get(2);
            assertThat(third.messages).as(this::told).isEmpty();
            settle(second);
            deliver();
            third.hear();

            assertThat(third.held).as(this::told).hasSize(1);
            assertOneWriterAlone();
        } finally {
            clients.forEach(WalkClient::close);
            clients.clear();
        }
    }

    private static void settle(WalkClient client) {
        while (!client.calls.isEmpty() || !client.answers.isEmpty()) {
            if (client.answers.isEmpty()) {
                client.make(client.calls.get(0), Fate.ANSWERED);
            } else {
                client.answer(client.answers.get(0));
            }
        }
    }

    private void walks(long from, long to, boolean withLosses, boolean withBreaks) throws Exception {
        for (long seed = from; seed < to; seed++) {
            server.ask("FLUSHALL");
            random = new Random(seed);
            losses = withLosses;
            breaks = withBreaks;
            wishes = 0;
            story.clear();
            story.add("seed " + seed);
            try {
                int count = 1 + random.nextInt(3);
                for (int i = 0; i < count; i++) {
                    clients.add(new WalkClient(i, server, story));
                }
                walk();
            } finally {
                clients.forEach(WalkClient::close);
                clients.clear();
            }
        }
    }

    private void walk() throws Exception {
        while (true) {
            now += STEP_NANOS;
            clients.forEach(client -> client.at(now));
            List<Step> steps = steps();
            if (steps.isEmpty() && !retry()) {
                assertNobodySleeps();
                assertWhatIsGrantedIsKnown();
                if (wishes >= WISHES
                        && clients.stream().allMatch(client -> client.held.isEmpty() && client.lapsed.isEmpty())) {
                    assertThat(clients).as(this::told).allMatch(client -> client.wanted.isEmpty());
                    return;
                }
            }
            next(steps);
            deliver();
            assertOneWriterAlone();
            assertNoMorePermitsThanThereAre();
            assertNoKeyIsEndless();
        }
    }

    private List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        for (WalkClient client : clients) {
            client.calls.forEach(call -> steps.add(() -> make(client, call)));
            client.answers.forEach(answer -> steps.add(() -> client.answer(answer)));
            if (!client.messages.isEmpty()) {
                steps.add(client::hear);
            }
        }
        return steps;
    }

    /** Between the call and its answer another client may be faster, and the message of that. */
    private void make(WalkClient client, WalkClient.Call call) {
        if (races && random.nextInt(4) == 0) {
            client.store.meanwhile(() -> {
                List<WalkClient> others = clients.stream()
                        .filter(other -> other != client && !other.calls.isEmpty())
                        .toList();
                if (!others.isEmpty()) {
                    WalkClient other = any(others);
                    other.make(any(other.calls), Fate.ANSWERED);
                }
                deliver();
                while (!client.messages.isEmpty()) {
                    client.hear();
                }
                return null;
            });
        }
        client.make(call, fate());
    }

    private Fate fate() {
        if (!losses || random.nextInt(12) > 0) {
            return Fate.ANSWERED;
        }
        return random.nextBoolean() ? Fate.NOT_SENT : Fate.NOT_ANSWERED;
    }

    private boolean retry() {
        boolean retried = false;
        for (WalkClient client : clients) {
            retried |= client.tick(SOON_NANOS);
        }
        now += retried ? SOON_NANOS : 0;
        return retried;
    }

    private void next(List<Step> steps) throws Exception {
        if (lapses && wishes < WISHES && random.nextInt(40) == 0) {
            long span = WalkClient.TTL.toNanos() / 4;
            any(clients).sleep(random.nextBoolean() ? span : 3 * span);
            return;
        }
        List<WalkClient> losers =
                clients.stream().filter(client -> !client.lapsed.isEmpty()).toList();
        if (!losers.isEmpty() && (steps.isEmpty() || random.nextInt(8) == 0)) {
            WalkClient loser = any(losers);
            loser.stop(any(List.copyOf(loser.lapsed.keySet())));
            return;
        }
        boolean idle = steps.isEmpty();
        boolean held = clients.stream().anyMatch(client -> !client.held.isEmpty());
        if (wishes < WISHES && (idle ? !held || random.nextBoolean() : random.nextInt(6) == 0)) {
            wishes++;
            wish(any(clients));
        } else if (held && (idle || random.nextInt(4) == 0)) {
            List<WalkClient> holders =
                    clients.stream().filter(client -> !client.held.isEmpty()).toList();
            WalkClient holder = any(holders);
            holder.release(any(List.copyOf(holder.held.keySet())));
        } else if (!idle) {
            any(steps).happen();
        }
    }

    private void wish(WalkClient client) throws Exception {
        int kind = random.nextInt(14);
        if (kind == 0 && breaks) {
            breakOne(client);
        } else if (kind < 7) {
            client.ask(LOCK, kind % 2 == 0 ? LockMode.EXCLUSIVE : LockMode.SHARED, 1, 1, kind < 6);
        } else if (kind < 9) {
            int permits = 1 + random.nextInt(2);
            int capacity = races ? CAPACITY - 1 + random.nextInt(3) : CAPACITY;
            client.ask(PERMITS, LockMode.PERMITS, permits, capacity, random.nextInt(6) > 0);
        } else if (kind < 11 && !client.wanted.isEmpty()) {
            client.giveUp(any(List.copyOf(client.wanted)));
        } else if (!breaks) {
            // An upgrade that is broken before its client hears of it would keep its place for its ttl.
            List<Long> holders = client.held.entrySet().stream()
                    .filter(each -> each.getValue().key().equals(LOCK) && !client.changes(each.getKey()))
                    .map(each -> each.getKey())
                    .toList();
            if (!holders.isEmpty()) {
                client.change(any(holders), random.nextInt(4) > 0);
            }
        }
    }

    private void breakOne(WalkClient operator) throws Exception {
        List<Long> tokens = eye.tokens("keyway:{m}:l");
        if (!tokens.isEmpty()) {
            operator.breakGrant(LOCK, any(tokens));
        }
    }

    private void deliver() {
        eye.drain((incarnation, message) -> clients.stream()
                .filter(client -> client.store.incarnation().equals(incarnation))
                .forEach(client -> client.messages.add(message)));
    }

    private void assertNobodySleeps() {
        List<String> sleepers = new ArrayList<>(eye.inTurn("keyway:{m}:l"));
        sleepers.addAll(eye.inTurn("keyway:{s}:s"));
        assertThat(sleepers).as(this::told).isEmpty();
    }

    /** Who asks for a downgrade writes no more, and hears later than others that it reads. */
    private void assertOneWriterAlone() {
        List<LockMode> modes = clients.stream()
                .flatMap(client -> Stream.concat(client.held.keySet().stream(), client.lapsed.keySet().stream())
                        .filter(id -> client.mode(id) != LockMode.PERMITS)
                        .map(id -> client.changes(id) ? LockMode.SHARED : client.mode(id)))
                .toList();
        if (modes.size() > 1) {
            assertThat(modes).as(this::told).containsOnly(LockMode.SHARED);
        }
    }

    private void assertNoMorePermitsThanThereAre() {
        List<Request> out = clients.stream().flatMap(WalkClient::permits).toList();
        int capacity = out.stream().mapToInt(Request::capacity).max().orElse(0);
        assertThat(out.stream().mapToInt(Request::permits).sum()).as(this::told).isLessThanOrEqualTo(capacity);
    }

    private void assertNoKeyIsEndless() {
        List<String> endless = new ArrayList<>(eye.endless("keyway:{m}:l"));
        endless.addAll(eye.endless("keyway:{s}:s"));
        assertThat(endless).as(this::told).isEmpty();
    }

    private void assertWhatIsGrantedIsKnown() {
        List<String> held = new ArrayList<>(eye.holders("keyway:{m}:l"));
        held.addAll(eye.holders("keyway:{s}:s"));
        List<String> known = clients.stream()
                .flatMap(client -> Stream.concat(client.held.keySet().stream(), client.lapsed.keySet().stream())
                        .map(id -> client.store.incarnation() + ":" + id))
                .toList();
        assertThat(known).as(this::told).containsAll(held);
    }

    private String told() {
        return String.join("\n", story);
    }

    private <T> T any(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }
}
