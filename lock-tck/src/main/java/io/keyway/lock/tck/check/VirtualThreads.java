// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** Virtual threads, where the JDK has them. */
public final class VirtualThreads {
    private VirtualThreads() {}

    /** Whether this JDK has them. */
    public static boolean available() {
        return Runtime.version().feature() >= 21;
    }

    /**
     * Starts one.
     *
     * @throws UnsupportedOperationException if this JDK has none
     */
    public static Thread start(Runnable work) {
        try {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            return (Thread) start.invoke(null, work);
        } catch (NoSuchMethodException | IllegalAccessException e) {
            throw new UnsupportedOperationException("this JDK has no virtual threads", e);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause());
        }
    }
}
