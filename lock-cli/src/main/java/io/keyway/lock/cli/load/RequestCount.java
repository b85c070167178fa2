// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import io.keyway.lock.spi.Interceptor;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.RaisingEngine;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Stands below a client and counts: the calls to a store that have a time limit, each of which is a request, and the
 * acquires that needed no message. An engine of a provider's own does not show its messages.
 */
final class RequestCount implements Interceptor {
    private final AtomicLong requests = new AtomicLong();
    private volatile boolean counting;
    private volatile boolean servedFromCache;

    @Override
    public LockBackend backend(LockBackend backend) {
        counting = true;
        return before(LockBackend.class, backend);
    }

    @Override
    public LockEngine engine(LockEngine engine) {
        return engine instanceof RaisingEngine raising
                ? before(RaisingEngine.class, raising)
                : before(LockEngine.class, engine);
    }

    /** The requests to the store up to now; negative if nobody counts them. */
    long requests() {
        return counting ? requests.get() : -1;
    }

    /** What was counted up to now does not count. */
    void forget() {
        requests.set(0);
    }

    /** Before an acquire; for the one thread that acquires. */
    void beginAcquire() {
        servedFromCache = false;
    }

    /** Whether the acquire that has begun last needed no message. */
    boolean tookFromCache() {
        return servedFromCache;
    }

    private <T> T before(Class<T> type, T to) {
        InvocationHandler handler = (proxy, method, arguments) -> {
            if (counting && Arrays.asList(method.getParameterTypes()).contains(Duration.class)) {
                requests.incrementAndGet();
            }
            Object answer = pass(to, method, arguments);
            if (method.getName().equals("reacquire") && Boolean.TRUE.equals(answer)) {
                servedFromCache = true;
            }
            return answer;
        };
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static Object pass(Object to, Method method, Object... arguments) throws Throwable {
        try {
            return method.invoke(to, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
