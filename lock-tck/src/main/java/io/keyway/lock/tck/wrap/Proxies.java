// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.wrap;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/** Objects of an interface that stand before another one; each is equal to itself alone. */
public final class Proxies {
    /** What is done instead of a call. */
    @FunctionalInterface
    public interface Instead {
        /** Returns what the call returns, or throws what it throws; {@code arguments} may be changed. */
        @Nullable
        Object call(Object proxy, Method method, @Nullable Object[] arguments) throws Throwable;
    }

    private Proxies() {}

    /** A new object of that interface. */
    public static <T> T of(Class<T> type, Instead instead) {
        return type.cast(of(instead, type));
    }

    /** A new object of those interfaces. */
    public static Object of(Instead instead, Class<?>... types) {
        return Proxy.newProxyInstance(types[0].getClassLoader(), types, handler(instead));
    }

    private static InvocationHandler handler(Instead instead) {
        return (proxy, method, given) -> {
            @Nullable Object[] arguments = given == null ? new Object[0] : given;
            return switch (method.getName()) {
                case "equals" -> proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> instead.call(proxy, method, arguments);
            };
        };
    }

    /** Makes the call of that object. */
    public static @Nullable Object pass(Object to, Method method, @Nullable Object... arguments) throws Throwable {
        try {
            return method.invoke(to, arguments);
        } catch (InvocationTargetException e) {
            throw e.getTargetException();
        }
    }
}
