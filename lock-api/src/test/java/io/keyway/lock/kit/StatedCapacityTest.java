// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.keyway.lock.Capacity;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Lease;
import io.keyway.lock.LockUrl;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.Request;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a caller says of its capacity reaches the engine, and what the engine counts reaches the caller. */
class StatedCapacityTest extends ReferenceClients {

    private static final LockUrl URL = LockUrl.parse("lock:reference://stated?name=stated");

    /** What the engine was asked for: re-acquires by their arguments, requests as they are. */
    private final List<Object> asked = new ArrayList<>();

    private OptionalInt counted = OptionalInt.empty();
    private EngineClient client;

    @BeforeEach
    void openIt() {
        ReferenceWorld world = open(URL.toString(), ClientOptions.defaults()).unwrap(ReferenceWorld.class);
        SystemTime time = new SystemTime("stated");
        OpenRequest request =
                new OpenRequest(URL, ClientOptions.defaults(), getClass().getClassLoader(), time);
        ReferenceBackend backend = new ReferenceBackend(world, time, ReferenceBackend.FEATURES, "");
        Settings settings = Settings.of(request.url(), request.options(), request.time(), request::get);
        client = EngineClient.open(
                settings, heard(new StoreEngine(settings, backend, new WorkerThreads(request.clientName()))));
    }

    private LockEngine heard(LockEngine engine) {
        return wrapped(LockEngine.class, engine, (name, arguments) -> {
            if (name.equals("reacquire")) {
                asked.add(List.of(arguments[2], arguments[3]));
            }
            for (int i = 0; arguments != null && i < arguments.length; i++) {
                if (arguments[i] instanceof Request request) {
                    asked.add(request);
                } else if (arguments[i] instanceof LockEngine.Sink sink) {
                    arguments[i] = wrapped(LockEngine.Sink.class, sink, this::counting);
                }
            }
        });
    }

    private void counting(String name, Object[] arguments) {
        if (name.equals("granted")) {
            LockEngine.Hold hold = (LockEngine.Hold) arguments[0];
            arguments[0] = Proxy.newProxyInstance(
                    LockEngine.class.getClassLoader(),
                    new Class<?>[] {LockEngine.Hold.class},
                    (proxy, method, given) ->
                            method.getName().equals("permitsOut") ? counted : invoked(method, hold, given));
        }
    }

    private interface Before {
        void call(String name, Object[] arguments);
    }

    private static <T> T wrapped(Class<T> type, T to, Before before) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    before.call(method.getName(), arguments);
                    return invoked(method, to, arguments);
                }));
    }

    private static Object invoked(Method method, Object on, Object[] arguments) throws Throwable {
        try {
            return method.invoke(on, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @Test
    void theEngineIsToldTheCapacityOfTheCallAndWhatOneResourceHas() throws Exception {
        AtomicInteger printers = new AtomicInteger(3);
        DistributedSemaphore print = client.semaphore("print", Capacity.perResource(2, printers::get));
        print.acquire(4).close();
        printers.set(0);
        assertThat(print.tryAcquire()).isEmpty();
        client.semaphore("pool", Capacity.of(5)).acquire().close();
        client.lock("print").acquire().close();
        assertThat(asked.stream().filter(List.class::isInstance).distinct())
                .containsExactly(List.of(4, 6), List.of(1, 0), List.of(1, 5), List.of(1, 1));
        assertThat(asked.stream().filter(Request.class::isInstance).map(Request.class::cast))
                .extracting(Request::capacity, Request::perResource)
                .contains(tuple(6, 2), tuple(0, 2), tuple(5, 5), tuple(1, 1));
    }

    @Test
    void theLeaseTellsWhatTheAuthorityCounted() throws Exception {
        try (Lease lease = client.semaphore("pool", Capacity.of(5)).acquire(2)) {
            assertThat(lease.permitsOut()).as("a store that does not tell").isEmpty();
            counted = OptionalInt.of(4);
            assertThat(lease.permitsOut()).hasValue(4);
        }
    }
}
