// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import java.lang.reflect.InvocationTargetException;

/** Virtual threads, where the JDK has them. */
final class VirtualThreads {
    private VirtualThreads() {}

    /** Whether this JDK has them. */
    static boolean available() {
        return Runtime.version().feature() >= 21;
    }

    /**
     * Makes one that is not started.
     *
     * @throws UnsupportedOperationException if this JDK has none
     */
    static Thread unstarted(Runnable work) {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (Thread) Class.forName("java.lang.Thread$Builder")
                    .getMethod("unstarted", Runnable.class)
                    .invoke(builder, work);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new UnsupportedOperationException("this JDK has no virtual threads", e);
        }
    }
}
