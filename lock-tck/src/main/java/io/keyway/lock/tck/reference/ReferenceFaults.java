// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import io.keyway.lock.spi.NotExecutedException;
import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

/** What goes wrong between one client and the store. */
public final class ReferenceFaults {

    /** The verbs of a backend. */
    public enum Verb {
        /** Attempts. */
        ATTEMPT,
        /** Renewals. */
        RENEW,
        /** Releases. */
        RELEASE,
        /** Withdrawals. */
        WITHDRAW,
        /** Listing and breaking. */
        ADMIN
    }

    private final Map<Verb, Integer> dropped = new EnumMap<>(Verb.class);
    private final Map<Verb, Integer> failed = new EnumMap<>(Verb.class);
    private final Map<Verb, CountDownLatch> hung = new EnumMap<>(Verb.class);
    private boolean cut;

    /** Makes one without faults. */
    public ReferenceFaults() {}

    /** The next {@code count} calls are executed, but their replies are lost. */
    public synchronized void dropReplies(Verb verb, int count) {
        dropped.put(verb, count);
    }

    /** The next {@code count} calls fail before they are executed, and the backend knows it. */
    public synchronized void failBefore(Verb verb, int count) {
        failed.put(verb, count);
    }

    /** Calls block until {@link #resume}; they are executed then, however late. */
    public synchronized void hang(Verb verb) {
        hung.put(verb, new CountDownLatch(1));
    }

    /** Ends {@link #hang}. */
    public synchronized void resume(Verb verb) {
        CountDownLatch latch = hung.remove(verb);
        if (latch != null) {
            latch.countDown();
        }
    }

    /** While cut, no call arrives, and the backend cannot tell whether it did. */
    public synchronized void cut(boolean on) {
        cut = on;
    }

    <T> T call(Verb verb, Callable<T> executed) throws Exception {
        CountDownLatch latch;
        synchronized (this) {
            latch = hung.get(verb);
        }
        if (latch != null) {
            latch.await();
        }
        boolean drop;
        synchronized (this) {
            if (cut) {
                throw new IOException("connection reset");
            }
            if (take(failed, verb)) {
                throw new NotExecutedException("connection refused");
            }
            drop = take(dropped, verb);
        }
        T result = executed.call();
        if (drop) {
            throw new IOException("the reply was lost");
        }
        return result;
    }

    private static boolean take(Map<Verb, Integer> counts, Verb verb) {
        int left = counts.getOrDefault(verb, 0);
        if (left > 0) {
            counts.put(verb, left - 1);
        }
        return left > 0;
    }
}
