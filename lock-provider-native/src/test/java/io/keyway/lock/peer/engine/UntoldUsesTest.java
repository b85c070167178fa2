// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.peer.MemoryWorld;
import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.memory.MemoryWorlds;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A thread that has taken a cached lock stands still before it has told its sink. */
class UntoldUsesTest {
    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Duration STEP = Duration.ofMillis(10);
    private static final LockKey X = LockKey.lock(LockName.of("x"));

    private final NativeEngine engine = engine();
    private final MemoryWorld world = engine.unwrap(MemoryWorld.class).orElseThrow();

    private static NativeEngine engine() {
        Cells cells = new Cells("mem:untold", TTL, Algorithms.standard(), Authenticator.none());
        Guarantee promise = new Guarantee(Grade.TIMED, "");
        return new NativeEngine(
                "c",
                Algorithms.standard(),
                Duration.ofSeconds(2),
                EnumSet.of(Feature.BREAK),
                new Guarantees(promise, promise, promise, promise, Duration.ofMillis(100), TTL),
                listener -> new MemoryWorlds()
                        .join(
                                "untold",
                                true,
                                (epoch, now, quarantine) ->
                                        cells.member("untold", epoch, now + quarantine, Horizon.NONE),
                                cells.quarantine(),
                                cells::client,
                                listener));
    }

    @AfterEach
    void close() {
        engine.close();
    }

    /** Writes down what it is told, and stands still while it is told of its grant. */
    private static final class SlowSink implements LockEngine.Sink {
        final ConcurrentLinkedQueue<String> told = new ConcurrentLinkedQueue<>();
        final CountDownLatch called = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        volatile long token;

        @Override
        public void granted(LockEngine.Hold hold, long granted) {
            token = granted;
            called.countDown();
            try {
                goOn.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            told.add("granted");
        }

        @Override
        public void doubt(String why) {
            told.add("doubt");
        }

        @Override
        public void certain() {
            told.add("certain");
        }

        @Override
        public void ended(LeaseLoss.Cause cause, String detail) {
            told.add("ended " + cause);
        }

        @Override
        public void waiting(OptionalInt ahead, List<Owner> holders) {
            told.add("waiting");
        }

        @Override
        public void closed(String why) {}

        @Override
        public void refused(List<Owner> holders) {
            told.add("refused");
        }

        @Override
        public void failed(LockException e) {
            told.add(e.toString());
        }
    }

    private static final class FirstSink implements LockEngine.Sink {
        LockEngine.Hold hold;
        long token;

        @Override
        public void granted(LockEngine.Hold granted, long first) {
            hold = granted;
            token = first;
        }

        @Override
        public void doubt(String why) {}

        @Override
        public void certain() {}

        @Override
        public void ended(LeaseLoss.Cause cause, String detail) {}

        @Override
        public void waiting(OptionalInt ahead, List<Owner> holders) {}

        @Override
        public void closed(String why) {}

        @Override
        public void refused(List<Owner> holders) {}

        @Override
        public void failed(LockException e) {
            throw e;
        }
    }

    /** A thread that has the cached lock, and stands still in the call of that sink. */
    private Thread take(SlowSink sink) throws InterruptedException {
        FirstSink first = new FirstSink();
        Owner owner = new Owner("c", Map.of());
        engine.submit(new Request(1, X, LockMode.EXCLUSIVE, 1, 1, TTL, true, owner), first);
        world.advance(STEP);
        first.hold.release(first.token);
        world.advance(STEP);
        Thread taker = new Thread(() -> engine.reacquire(X, LockMode.EXCLUSIVE, 1, 1, TTL, Map.of(), sink), "taker");
        taker.start();
        sink.called.await();
        assertThat(sink.token).isGreaterThan(first.token);
        return taker;
    }

    private void goOn(Thread taker, SlowSink sink) throws InterruptedException {
        sink.goOn.countDown();
        taker.join();
        world.advance(STEP);
    }

    @Test
    void theEndOfItsGrantIsToldAfterTheGrant() throws Exception {
        SlowSink sink = new SlowSink();
        Thread taker = take(sink);

        engine.breakGrant(X, sink.token, "test", Duration.ofSeconds(5));
        world.advance(STEP);
        assertThat(sink.told).isEmpty();

        goOn(taker, sink);
        assertThat(sink.told).containsExactly("granted", "ended BROKEN");
    }

    @Test
    void doubtAndItsEndAreToldAfterTheGrantAndInTheirOrder() throws Exception {
        SlowSink sink = new SlowSink();
        Thread taker = take(sink);

        world.cut(true);
        world.advance(Duration.ofSeconds(6));
        world.cut(false);
        world.advance(Duration.ofSeconds(1));
        assertThat(sink.told).isEmpty();

        goOn(taker, sink);
        assertThat(sink.told).containsExactly("granted", "doubt", "certain");
    }

    @Test
    void whatIsHeardWhileTheOthersAreKeptComesAfterThem() throws Exception {
        SlowSink sink = new SlowSink();
        Thread taker = take(sink);

        world.cut(true);
        world.advance(Duration.ofSeconds(6));
        world.cut(false);
        world.advance(Duration.ofSeconds(1));
        sink.goOn.countDown();
        taker.join();
        // No time passes before the member hears of it, so that nobody has looked again.
        engine.breakGrant(X, sink.token, "test", Duration.ofSeconds(5));
        world.advance(STEP);

        assertThat(sink.told).containsExactly("granted", "doubt", "certain", "ended BROKEN");
    }
}
