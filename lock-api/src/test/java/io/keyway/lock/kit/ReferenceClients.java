// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.reference.ManualTime;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceFaults;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.OpenRequest;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;

/**
 * What the tests of the kit share: clients of one reference world for each test, on a manual clock unless they say
 * otherwise.
 */
abstract class ReferenceClients {

    private static final AtomicInteger WORLDS = new AtomicInteger();

    /** A world of this test's own: what a test before it could not give back in time is not in its way. */
    final String manual = "lock:reference://test" + WORLDS.incrementAndGet() + "?clock=manual&closeTimeout=2s";

    static final Duration PATIENCE = Duration.ofSeconds(20);

    private final List<LockClient> opened = new ArrayList<>();

    @AfterEach
    void closeClients() {
        opened.forEach(LockClient::close);
    }

    LockClient open(String name) {
        return open(manual, ClientOptions.defaults().withName(name));
    }

    LockClient open(String url, ClientOptions options) {
        LockClient client = Locks.open(url, options);
        opened.add(client);
        return client;
    }

    /** A client of the other one's world, with an altered engine, the machine's clock and threads of that name. */
    final EngineClient beside(
            LockClient other, LockUrl url, String name, ClientOptions options, UnaryOperator<LockEngine> altered) {
        SystemTime time = new SystemTime(name);
        OpenRequest request = new OpenRequest(url, options, getClass().getClassLoader(), time);
        ReferenceWorld world = other.unwrap(ReferenceWorld.class);
        ReferenceBackend backend = new ReferenceBackend(world, time, ReferenceBackend.FEATURES, "");
        Settings settings = Settings.of(request.url(), request.options(), request.time(), request::get);
        return EngineClient.open(
                settings, altered.apply(new StoreEngine(settings, backend, new WorkerThreads(request.clientName()))));
    }

    /** Calls that method of it, for a proxy of it. */
    static Object invoke(Object on, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(on, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    static ManualTime time(LockClient client) {
        return client.unwrap(ReferenceWorld.class).time().orElseThrow();
    }

    static ReferenceFaults faults(LockClient client) {
        return client.unwrap(ReferenceFaults.class);
    }

    static ReferenceStore store(LockClient client) {
        return client.unwrap(ReferenceStore.class);
    }

    static LockKey key(String name) {
        return LockKey.lock(LockName.of(name));
    }

    static int waiters(LockClient client, String name) {
        try {
            return client.admin()
                    .show(key(name))
                    .map(status -> status.waiters().size())
                    .orElse(0);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void awaitWaiters(LockClient client, String name, int count) {
        await().atMost(PATIENCE).until(() -> waiters(client, name) == count);
    }

    /** Runs {@code work} on a thread of its own; the future has its result. */
    static <T> Running<T> inThread(Callable<T> work) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(work.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return new Running<>(thread, result);
    }

    record Running<T>(Thread thread, CompletableFuture<T> result) {
        T get() throws Exception {
            return result.get(PATIENCE.toSeconds(), java.util.concurrent.TimeUnit.SECONDS);
        }
    }

    /** Collects events; the executor of the client must be told apart from the test's thread by the caller. */
    static List<LockEvent.Type> types(List<LockEvent> events) {
        synchronized (events) {
            return events.stream().map(LockEvent::type).toList();
        }
    }

    static void assertEmpty(LockClient client) {
        assertThat(store(client).isEmpty()).as("the store is empty").isTrue();
    }

    static List<String> threadsOf(String client) {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("keyway-" + client + "-"))
                .toList();
    }
}
