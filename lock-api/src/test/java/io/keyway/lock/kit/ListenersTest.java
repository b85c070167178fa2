// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.Subscription;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ListenersTest extends ReferenceClients {

    @Test
    void theStoryOfAWaitIsToldInOrder() throws Exception {
        LockClient a = open("a");
        LockClient b = open(manual, ClientOptions.defaults().withName("b").withEventExecutor(Runnable::run));
        List<LockEvent> events = new ArrayList<>();
        b.addListener(events::add);
        Lease held = a.lock("x").acquire();
        var waiting = b.lock("x").tryAcquireAsync(Duration.ofMinutes(1));
        time(a).advance(Duration.ofSeconds(3));
        held.close();
        waiting.get().orElseThrow().close();
        held = a.lock("x").acquire();
        var second = b.lock("x").tryAcquireAsync(Duration.ofSeconds(2));
        time(a).advance(Duration.ofSeconds(2));
        assertThat(second.get()).isEmpty();
        held.close();
        assertThat(types(events))
                .containsExactly(
                        LockEvent.Type.CONNECTED,
                        LockEvent.Type.WAITING,
                        LockEvent.Type.GRANTED,
                        LockEvent.Type.RELEASED,
                        LockEvent.Type.WAITING,
                        LockEvent.Type.WITHDRAWN);
        LockEvent granted = events.get(2);
        assertThat(granted.key()).isEqualTo(LockKey.lock(LockName.of("x")));
        assertThat(granted.token()).isPresent();
        assertThat(granted.after()).isEqualTo(Duration.ofSeconds(3));
        assertThat(events.get(5).after()).isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void eventsComeOneAtATimeAndInOrderThoughTheExecutorHasManyThreads() {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        try {
            EventDispatcher dispatcher = new EventDispatcher(pool);
            List<Long> seen = Collections.synchronizedList(new ArrayList<>());
            AtomicInteger inside = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();
            dispatcher.add(event -> {
                most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                seen.add(event.after().toNanos());
                inside.decrementAndGet();
            });
            for (int i = 0; i < 5000; i++) {
                dispatcher.emit(event(i));
            }
            assertThat(dispatcher.flush(PATIENCE)).isTrue();
            assertThat(seen).hasSize(5000).isSorted();
            assertThat(most).hasValue(1);
            assertThat(dispatcher.dropped()).isZero();
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void whatDoesNotFitIsCountedAndTheRestKeepsItsOrder() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        EventDispatcher dispatcher = new EventDispatcher(tasks::add);
        List<Long> seen = new ArrayList<>();
        dispatcher.add(event -> seen.add(event.after().toNanos()));
        for (int i = 0; i < EventDispatcher.CAPACITY + 100; i++) {
            dispatcher.emit(event(i));
        }
        assertThat(dispatcher.dropped()).isEqualTo(100);
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
        assertThat(seen).hasSize(EventDispatcher.CAPACITY).isSorted();
        dispatcher.emit(event(1));
        assertThat(tasks).as("it goes on afterwards").hasSize(1);
    }

    @Test
    void aListenerThatFailsHarmsNobody() {
        EventDispatcher dispatcher = new EventDispatcher(Runnable::run);
        List<LockEvent> seen = new ArrayList<>();
        dispatcher.add(event -> {
            throw new IllegalStateException("on purpose");
        });
        Subscription subscription = dispatcher.add(seen::add);
        dispatcher.emit(event(1));
        dispatcher.emit(event(2));
        assertThat(seen).hasSize(2);
        subscription.close();
        subscription.close();
        dispatcher.emit(event(3));
        assertThat(seen).hasSize(2);
    }

    @Test
    void anExecutorThatRefusesLosesEventsButNoFuture() {
        refuses(new RejectedExecutionException("on purpose"));
        refuses(new IllegalStateException("on purpose"));
    }

    private void refuses(RuntimeException why) {
        EventDispatcher dispatcher = new EventDispatcher(task -> {
            throw why;
        });
        dispatcher.add(event -> {
            throw new AssertionError("cannot be reached");
        });
        dispatcher.emit(event(1));
        assertThat(dispatcher.dropped()).isEqualTo(1);
        AtomicInteger completed = new AtomicInteger();
        dispatcher.complete(completed::incrementAndGet);
        assertThat(completed).hasValue(1);
        assertThat(dispatcher.flush(Duration.ofSeconds(60)))
                .as("nothing is left to tell")
                .isTrue();
    }

    @Test
    void listenersRunOnNoThreadOfAnEngine() throws Exception {
        LockClient client = open(
                "lock:reference://real?closeTimeout=2s",
                ClientOptions.defaults().withName("told"));
        var threads = ConcurrentHashMap.<String>newKeySet();
        CountDownLatch released = new CountDownLatch(1);
        client.addListener(event -> {
            threads.add(Thread.currentThread().getName());
            if (event.type() == LockEvent.Type.RELEASED) {
                released.countDown();
            }
        });
        client.lock("x").acquire().close();
        await().atMost(PATIENCE).until(() -> released.getCount() == 0);
        assertThat(threads).containsExactly("keyway-told-events");
    }

    private static LockEvent event(long after) {
        return new LockEvent(
                LockEvent.Type.WAITING,
                LockKey.lock(LockName.of("x")),
                OptionalLong.empty(),
                Optional.empty(),
                Duration.ofNanos(after));
    }
}
