// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.process.Patience;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Whoever asked too early is told when his turn has come, whatever other requests of his client are doing. */
class WakeUpTest extends OnOneServer {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final LockKey PERMITS = LockKey.semaphore(LockName.of("a"));
    private static final LockKey LOCK = LockKey.lock(LockName.of("a"));

    @Test
    void oneThatAskedAfterAnotherOfItsClientWasToldIsToldToo() throws Exception {
        Grant one = open.granted(permit(1));
        Grant two = open.granted(permit(2));
        open.waits(told(permit(3)));
        open.waits(told(permit(4)));
        open.release(one);
        assertMessages(1);
        // Not yet its turn: the one before has been told, and has not asked.
        open.waits(told(permit(4)));
        open.release(two);
        assertMessages(2);
        open.granted(told(permit(3)));
        open.granted(told(permit(4)));
    }

    @Test
    void anotherOfTheClientThatLeavesRoomIsTold() throws Exception {
        Grant writer = open.granted(lock(1, LockMode.EXCLUSIVE));
        open.waits(told(lock(2, LockMode.SHARED)));
        assertThat(backend.convert(writer, lock(3, LockMode.SHARED), LIMIT)).isInstanceOf(Attempt.Granted.class);
        assertMessages(1);
        open.granted(told(lock(2, LockMode.SHARED)));
    }

    @Test
    void theMessageNamesThoseWhoseTurnHasCome() throws Exception {
        Grant writer = open.granted(lock(1, LockMode.EXCLUSIVE));
        open.waits(told(lock(2, LockMode.SHARED)));
        open.waits(told(lock(3, LockMode.SHARED)));
        open.waits(told(lock(4, LockMode.EXCLUSIVE)));
        open.release(writer);
        assertHeard("recheck lock a 2", "recheck lock a 3");
        assertMessages(1);
        assertThat(signals.heard).doesNotContain("recheck lock a 4");
    }

    @Test
    void whoWasToldAndThenHadToWaitForAnUpgradeIsToldAgain() throws Exception {
        open.granted(lock(1, LockMode.SHARED));
        Grant reader = open.granted(lock(2, LockMode.SHARED));
        open.waits(lock(3, LockMode.EXCLUSIVE));
        open.waits(told(lock(4, LockMode.SHARED)));
        backend.withdraw(lock(3, LockMode.EXCLUSIVE), LIMIT);
        assertMessages(1);
        Request upgrade = lock(5, LockMode.EXCLUSIVE);
        assertThat(backend.convert(reader, upgrade, LIMIT)).isInstanceOf(Attempt.Waiting.class);
        open.waits(told(lock(4, LockMode.SHARED)));
        backend.withdraw(upgrade, LIMIT);
        assertMessages(2);
        open.granted(told(lock(4, LockMode.SHARED)));
    }

    @Test
    void whoeverFindsADeadReaderTellsTheUpgradeThatWaitedForIt() throws Exception {
        Request upgrade = lock(2, LockMode.EXCLUSIVE);
        open.granted(request(3, LOCK, LockMode.SHARED, Duration.ofSeconds(2)));
        Attempt asked = backend.convert(open.granted(lock(1, LockMode.SHARED)), upgrade, LIMIT);
        // Two seconds for two calls: where the other reader is dead by then, nothing can be seen.
        assumeThat(asked).isInstanceOf(Attempt.Waiting.class);
        assertHeardWhileAsking("recheck lock a 2", lock(4, LockMode.EXCLUSIVE));
    }

    @Test
    void whoeverFindsADeadUpgradeTellsThoseWhoWaitedForIt() throws Exception {
        waitsForAnUpgradeThatDies();
        assertHeardWhileAsking("recheck lock a 4", lock(6, LockMode.EXCLUSIVE));
    }

    /** The fourth request waits, for an upgrade of a reader alone. */
    private void waitsForAnUpgradeThatDies() throws Exception {
        open.granted(lock(1, LockMode.SHARED));
        Grant reader = open.granted(lock(2, LockMode.SHARED));
        open.waits(lock(3, LockMode.EXCLUSIVE));
        open.waits(told(lock(4, LockMode.SHARED)));
        assertThat(backend.convert(reader, request(5, LOCK, LockMode.EXCLUSIVE, SHORT), LIMIT))
                .isInstanceOf(Attempt.Waiting.class);
        backend.withdraw(lock(3, LockMode.EXCLUSIVE), LIMIT);
    }

    @Test
    void aConversionThatFindsADeadUpgradeTellsThoseWhoWaitedForIt() throws Exception {
        waitsForAnUpgradeThatDies();
        Grant none = new Grant(99, LOCK, 1, LONG, "");
        await().atMost(Patience.of(LIMIT)).untilAsserted(() -> {
            assertThat(backend.convert(none, lock(6, LockMode.EXCLUSIVE), LIMIT))
                    .isInstanceOf(Attempt.Refused.class);
            assertThat(signals.heard).contains("recheck lock a 4");
        });
    }

    @Test
    void whoeverFindsThatAHoldersKeyHasExpiredGrantsTheLockToTheNext() throws Exception {
        open.granted(request(1, LOCK, LockMode.EXCLUSIVE, Duration.ofSeconds(2)));
        Attempt asked = backend.attempt(lock(2, LockMode.EXCLUSIVE), LIMIT);
        assumeThat(asked).isInstanceOf(Attempt.Waiting.class);
        await().atMost(Patience.of(LIMIT))
                .until(() -> server.ask("EXISTS", "keyway:{a}:l").equals(0L));
        open.waits(lock(3, LockMode.EXCLUSIVE));
        await().atMost(Patience.of(LIMIT)).until(() -> !signals.granted.isEmpty());
        assertThat(signals.granted.get(0).request()).isEqualTo(lock(2, LockMode.EXCLUSIVE));
    }

    @Test
    void theNextWriterIsGrantedByTheReleaseItselfForTheTermOfItsAttempt() throws Exception {
        Grant held = open.granted(lock(1, LockMode.EXCLUSIVE));
        open.waits(lock(2, LockMode.EXCLUSIVE));
        open.waits(lock(3, LockMode.EXCLUSIVE));
        long answered = System.nanoTime();
        String end = ofSecond("cmsgpack.unpack(redis.call('HGET', KEYS[2], ARGV[1]))[4]");
        long waited = System.nanoTime() - answered;

        open.release(held);

        await().atMost(Patience.of(LIMIT)).until(() -> !signals.granted.isEmpty());
        HeardSignals.Granted next = signals.granted.get(0);
        assertThat(next.request()).isEqualTo(lock(2, LockMode.EXCLUSIVE));
        assertThat(next.word().grant().token()).isGreaterThan(held.token());
        assertThat(next.word().age().toNanos()).isGreaterThan(waited);
        assertThat(ofSecond("select(2, struct.unpack('<dd', redis.call('HGET', KEYS[1], ARGV[1])))"))
                .isEqualTo(end);
        open.waits(lock(3, LockMode.EXCLUSIVE));
        assertThat(open.granted(lock(2, LockMode.EXCLUSIVE)))
                .isEqualTo(next.word().grant());
    }

    @Test
    void aGrantByAMessageThatIsOlderThanTheLastAnswerIsNotBelieved() throws Exception {
        open.granted(lock(1, LockMode.EXCLUSIVE));
        open.waits(lock(2, LockMode.EXCLUSIVE));
        String attempt = ofSecond("cmsgpack.unpack(redis.call('HGET', KEYS[2], ARGV[1]))[10]");
        open.waits(lock(2, LockMode.EXCLUSIVE));
        server.ask("PUBLISH", "keyway:c:" + open.client, "G 2:" + attempt + ":99 keyway:{a}:l");
        assertHeard("recheck lock a 2");
        assertThat(signals.granted).isEmpty();
    }

    @Test
    void whereReplicasHaveToAcknowledgeNothingIsGrantedByAMessage() {
        RedisLink link = new SingleLink(TestSettings.of(server.url(), LIMIT));
        Notifications messages = new Notifications(
                link, new RedisKeys(link, "keyway:"), signals, open.client, null, false, new ScriptCodec());
        assertThat(messages.queueing(lock(2, LockMode.EXCLUSIVE), 5, false))
                .asString(StandardCharsets.UTF_8)
                .isEqualTo("q");
    }

    /** What a script finds of the second request. */
    private String ofSecond(String value) {
        String script = "return string.format('%.0f', " + value + ")";
        return String.valueOf(server.ask("EVAL", script, "2", "keyway:{a}:l", "keyway:{a}:lw", open.client + ":2"));
    }

    /** As after a fail-over to a server that is older than the one at which it began to wait. */
    @Test
    void aClientWithShardedChannelsIsToldByItsOwnWhereNobodyListensToThem() throws Exception {
        Grant holder = open.granted(lock(1, LockMode.EXCLUSIVE));
        open.waits(lock(2, LockMode.EXCLUSIVE));
        String id = ((List<?>) server.ask("ZRANGE", "keyway:{a}:lq", "0", "0"))
                .get(0)
                .toString();
        RedisScript attempt = RedisScript.of("token", "attempt-free", "common", "asked", "attempt");
        String[] keys = {"keyway:{a}:l", "keyway:{a}:lw", "keyway:{a}:lq", "keyway:{a}:lx:" + id, "keyway:floor"};
        List<String> words = new ArrayList<>(List.of("EVAL", new String(attempt.text(), StandardCharsets.UTF_8), "5"));
        words.addAll(List.of(keys));
        words.addAll(List.of(id, "300000", "X1;", "1", "qs"));
        assertThat(server.ask(words.toArray(new String[0]))).isInstanceOf(List.class);
        open.release(holder);
        assertHeard("recheck lock a 2");
        assertMessages(1);
    }

    private void assertHeardWhileAsking(String hint, Request request) {
        await().atMost(Patience.of(LIMIT)).untilAsserted(() -> {
            open.waits(request);
            assertThat(signals.heard).contains(hint);
        });
    }

    private void assertHeard(String... hints) {
        await().atMost(Patience.of(LIMIT))
                .untilAsserted(() -> assertThat(signals.heard).contains(hints));
    }

    private void assertMessages(int count) {
        assertThat(OneBackend.calls(server, "publish")).isEqualTo(count);
    }

    private static Request permit(long id) {
        return request(id, PERMITS, LockMode.PERMITS, LONG);
    }

    private static Request lock(long id, LockMode mode) {
        return request(id, LOCK, mode, LONG);
    }

    /** One that has to ask itself when its turn has come: a lock is kept for nobody who may have died in the queue. */
    private static Request told(Request each) {
        return new Request(
                each.id(),
                each.key(),
                each.mode(),
                each.permits(),
                each.capacity(),
                each.ttl(),
                true,
                each.owner(),
                Duration.ofMillis(1));
    }

    private static Request request(long id, LockKey key, LockMode mode, Duration ttl) {
        return new Request(id, key, mode, 1, key.equals(LOCK) ? 1 : 2, ttl, true, new Owner("a", Map.of()));
    }
}
