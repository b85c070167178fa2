// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An attempt whose call or answer is under way for so long that something else has happened when it arrives. */
class LateAttemptTest {

    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final LockKey KEY = LockKey.lock(LockName.of("a"));

    /** Has one call arrive later, as if the network had kept it, or an answer, until the subscription stands. */
    private static final class LateLink implements RedisLink {
        private final RedisLink link;
        private boolean next;
        private Optional<RedisScript.Call> kept = Optional.empty();
        private volatile CountDownLatch subscribe = new CountDownLatch(0);
        private final CountDownLatch subscribed = new CountDownLatch(1);
        private boolean answersAfterSubscription;
        private Optional<Callable<Answer>> beforeTheAnswer = Optional.empty();
        private boolean losesTheAnswer;
        private final AtomicInteger messages = new AtomicInteger();

        LateLink(RedisLink link) {
            this.link = link;
        }

        Object arrive() throws Exception {
            return link.run(kept.orElseThrow(), Deadline.after(LIMIT));
        }

        @Override
        public Object run(RedisScript.Call call, Deadline deadline) throws Exception {
            if (next) {
                next = false;
                kept = Optional.of(call);
                throw new SocketTimeoutException("no answer");
            }
            Object reply = link.run(call, deadline);
            if (answersAfterSubscription) {
                subscribe.countDown();
                subscribed.await();
            }
            if (beforeTheAnswer.isPresent()) {
                Callable<Answer> first = beforeTheAnswer.get();
                beforeTheAnswer = Optional.empty();
                assertThat(first.call()).isEqualTo(Answer.DONE);
                await().atMost(Patience.of(LIMIT)).until(() -> messages.get() > 0);
                if (losesTheAnswer) {
                    losesTheAnswer = false;
                    throw new SocketTimeoutException("no answer");
                }
            }
            return reply;
        }

        @Override
        public void start(LockBackend.Signals signals, Deadline deadline) throws Exception {
            link.start(signals, deadline);
        }

        @Override
        public Acknowledged runAcknowledged(RedisScript.Call call, int replicas, Deadline deadline) throws Exception {
            return link.runAcknowledged(call, replicas, deadline);
        }

        @Override
        public List<Object> runAll(List<RedisScript.Call> calls, int replicas, Deadline deadline) throws Exception {
            return link.runAll(calls, replicas, deadline);
        }

        @Override
        public void listen(String channel, Consumer<String> message, Runnable whenSubscribed) throws Exception {
            subscribe.await();
            Consumer<String> counted = message.andThen(text -> messages.addAndGet(text.isEmpty() ? 0 : 1));
            link.listen(channel, counted, () -> {
                whenSubscribed.run();
                subscribed.countDown();
            });
        }

        @Override
        public void visitAll(Visit visit, Deadline deadline) throws Exception {
            link.visitAll(visit, deadline);
        }

        @Override
        public String floorKey(String prefix, String tag) {
            return link.floorKey(prefix, tag);
        }

        @Override
        public <T> Optional<T> unwrap(Class<T> type) {
            return link.unwrap(type);
        }

        @Override
        public void close() {
            link.close();
        }
    }

    @AutoClose
    private static RedisServer server;

    private HeardSignals signals;
    private LateLink link;
    private RedisBackend backend;

    @BeforeAll
    static void startTheServer(@TempDir Path directory) throws Exception {
        server = RedisServer.start(directory);
    }

    @BeforeEach
    void open() throws Exception {
        server.ask("FLUSHALL");
        signals = new HeardSignals();
        RedisSettings settings = TestSettings.of(server.url(), Duration.ofSeconds(5));
        link = new LateLink(new SingleLink(settings));
        backend = new RedisBackend(link, settings, RedisGuarantees.single());
        backend.start(signals, Incarnation.draw());
    }

    @AfterEach
    void close() throws Exception {
        backend.close();
        signals.close();
    }

    @Test
    void grantsNothingAfterTheRelease() throws Exception {
        Request request = request(1, true);
        loseTheNext(request);
        Attempt.Granted granted = (Attempt.Granted) backend.attempt(request, LIMIT);
        assertThat(backend.release(granted.grant(), LIMIT)).isEqualTo(Answer.DONE);
        assertThat(ScriptCodec.text(link.arrive())).isEqualTo("withdrawn");
        assertThat(backend.attempt(request(2, false), LIMIT)).isInstanceOf(Attempt.Granted.class);
    }

    @Test
    void grantsNothingAfterARefusal() throws Exception {
        Attempt.Granted holder = (Attempt.Granted) backend.attempt(request(1, true), LIMIT);
        Request request = request(2, false);
        loseTheNext(request);
        assertThat(backend.attempt(request, LIMIT)).isInstanceOf(Attempt.Waiting.class);
        backend.release(holder.grant(), LIMIT);
        assertThat(ScriptCodec.text(link.arrive())).isEqualTo("withdrawn");
    }

    @Test
    void grantsNothingAfterTheWithdrawal() throws Exception {
        Request request = request(1, true);
        loseTheNext(request);
        backend.withdraw(request, LIMIT);
        assertThat(ScriptCodec.text(link.arrive())).isEqualTo("withdrawn");
    }

    @Test
    void takesNoBrokenGrantAwayFromItsHolder() throws Exception {
        Request request = request(1, true);
        loseTheNext(request);
        Grant grant = ((Attempt.Granted) backend.attempt(request, LIMIT)).grant();
        assertThat(backend.breakGrant(KEY, grant.token(), "for a test", LIMIT)).isTrue();
        Object unheard = link.arrive();
        assertThat(backend.attempt(request(2, false), LIMIT))
                .as("what another is told after a late attempt was answered " + unheard)
                .isInstanceOf(Attempt.Waiting.class);
        assertThat(backend.release(grant, LIMIT)).isEqualTo(Answer.NOT_HELD);
        assertThat(backend.attempt(request(2, false), LIMIT)).isInstanceOf(Attempt.Granted.class);
    }

    @Test
    void goesOnAfterTheReleaseOfWhatWasBrokenUnheard() throws Exception {
        Request request = request(1, true);
        loseTheNext(request);
        long unheard = (Long) link.arrive();
        assertThat(backend.breakGrant(KEY, unheard, "for a test", LIMIT)).isTrue();
        Grant broken =
                ((Attempt.Waiting) backend.attempt(request, LIMIT)).broken().orElseThrow();
        assertThat(broken.token()).isEqualTo(unheard);
        assertThat(backend.release(broken, LIMIT)).isEqualTo(Answer.NOT_HELD);
        Attempt.Granted anew = (Attempt.Granted) backend.attempt(request, LIMIT);
        assertThat(anew.grant().token()).isGreaterThan(broken.token());
    }

    @Test
    void whoMayHaveMissedAMessageAsksAgainSoon() throws Exception {
        link.subscribe = new CountDownLatch(1);
        assertThat(backend.attempt(request(1, true), LIMIT)).isInstanceOf(Attempt.Granted.class);
        link.answersAfterSubscription = true;
        Attempt.Waiting waiting = (Attempt.Waiting) backend.attempt(request(2, true), LIMIT);
        assertThat(waiting.recheckWithin()).isLessThan(Duration.ofSeconds(1));
        Attempt.Waiting again = (Attempt.Waiting) backend.attempt(request(2, true), LIMIT);
        assertThat(again.recheckWithin()).isGreaterThan(Duration.ofSeconds(1));
    }

    @Test
    void aGrantByAMessageThatIsFasterThanTheAnswerNeedsNoOtherAttempt() throws Exception {
        Attempt.Granted holder = (Attempt.Granted) backend.attempt(request(1, true), LIMIT);
        link.beforeTheAnswer = Optional.of(() -> backend.release(holder.grant(), LIMIT));
        Attempt.Granted next = (Attempt.Granted) backend.attempt(request(2, true), LIMIT);
        assertThat(next.grant().token()).isGreaterThan(holder.grant().token());
        assertThat(signals.heard).noneMatch(said -> said.startsWith("recheck"));
        assertThat(signals.granted).isEmpty();
        assertThat(backend.release(next.grant(), LIMIT)).isEqualTo(Answer.DONE);
    }

    @Test
    void aGrantByAMessageWhoseAttemptHadNoAnswerIsFoundByTheNext() throws Exception {
        Attempt.Granted holder = (Attempt.Granted) backend.attempt(request(1, true), LIMIT);
        link.beforeTheAnswer = Optional.of(() -> backend.release(holder.grant(), LIMIT));
        link.losesTheAnswer = true;
        assertThatThrownBy(() -> backend.attempt(request(2, true), LIMIT)).isInstanceOf(IOException.class);
        Attempt.Granted next = (Attempt.Granted) backend.attempt(request(2, true), LIMIT);
        assertThat(next.grant().token()).isGreaterThan(holder.grant().token());
        assertThat(backend.release(next.grant(), LIMIT)).isEqualTo(Answer.DONE);
        assertThat(backend.attempt(request(3, false), LIMIT)).isInstanceOf(Attempt.Granted.class);
    }

    private void loseTheNext(Request request) {
        link.next = true;
        assertThatThrownBy(() -> backend.attempt(request, LIMIT)).isInstanceOf(IOException.class);
    }

    private static Request request(long id, boolean queue) {
        return new Request(
                id, KEY, LockMode.EXCLUSIVE, 1, 1, Duration.ofMinutes(5), queue, new Owner("late", Map.of()));
    }
}
