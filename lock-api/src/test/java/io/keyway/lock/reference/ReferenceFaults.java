// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.reference;

import io.keyway.lock.spi.NotExecutedException;
import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** What goes wrong between one client and the store: {@code client.unwrap(ReferenceFaults.class)}. */
public final class ReferenceFaults {

    private final Map<Verb, Integer> dropped = new EnumMap<>(Verb.class);
    private final Map<Verb, Integer> failed = new EnumMap<>(Verb.class);
    private final Map<Verb, CountDownLatch> hung = new EnumMap<>(Verb.class);
    private final Map<Verb, Integer> hanging = new EnumMap<>(Verb.class);
    private final BooleanSupplier down;
    private final Runnable broken;
    private final Consumer<Boolean> told;
    private boolean cut;
    private boolean lost;
    /** How many more calls are answered; negative if all are. */
    private int answersLeft = -1;

    /**
     * Makes one without faults.
     *
     * @param down whether nobody is there to be called
     * @param broken the store's side of a connection that ends
     * @param told the client's side: whether the connection stands
     */
    ReferenceFaults(BooleanSupplier down, Runnable broken, Consumer<Boolean> told) {
        this.down = down;
        this.broken = broken;
        this.told = told;
    }

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

    /** Whether a call has come that blocks because of {@link #hang}. */
    public synchronized boolean isHanging(Verb verb) {
        return hanging.getOrDefault(verb, 0) > 0;
    }

    /** Ends {@link #hang}. */
    public synchronized void resume(Verb verb) {
        CountDownLatch latch = hung.remove(verb);
        if (latch != null) {
            latch.countDown();
        }
    }

    /**
     * While cut, no call arrives, and the backend cannot tell whether one did; no signal arrives; the client is not
     * told.
     */
    public void cut(boolean on) {
        boolean breaks;
        synchronized (this) {
            breaks = on && !cut;
            cut = on;
        }
        if (breaks) {
            broken.run();
        }
    }

    /** While lost, calls are executed, and neither a reply nor a signal arrives; nobody is told. */
    public synchronized void loseReplies(boolean on) {
        lost = on;
        answersLeft = -1;
    }

    /** As {@link #loseReplies}, when so many calls have been answered. */
    public synchronized void loseRepliesAfter(int answers) {
        answersLeft = answers;
    }

    /** Whether calls arrive and replies too: it is neither cut nor are replies lost. */
    public synchronized boolean isWhole() {
        return !cut && !lost;
    }

    /** The connection breaks, which both sides see, and stands again at once. */
    public void reset() {
        broken.run();
        told.accept(false);
        told.accept(true);
    }

    <T> T call(Verb verb, Callable<T> executed) throws Exception {
        CountDownLatch latch;
        synchronized (this) {
            latch = hung.get(verb);
        }
        if (latch != null) {
            await(verb, latch);
        }
        boolean drop;
        synchronized (this) {
            if (cut || down.getAsBoolean()) {
                throw new IOException("connection reset");
            }
            if (take(failed, verb)) {
                throw new NotExecutedException("connection refused");
            }
            lost |= answersLeft == 0;
            answersLeft = Math.max(-1, answersLeft - 1);
            drop = take(dropped, verb) || lost;
        }
        T result = executed.call();
        if (drop) {
            throw new IOException("the reply was lost");
        }
        return result;
    }

    private void await(Verb verb, CountDownLatch latch) throws InterruptedException {
        count(verb, 1);
        try {
            latch.await();
        } finally {
            count(verb, -1);
        }
    }

    private synchronized void count(Verb verb, int more) {
        hanging.merge(verb, more, Integer::sum);
    }

    private static boolean take(Map<Verb, Integer> counts, Verb verb) {
        int left = counts.getOrDefault(verb, 0);
        if (left > 0) {
            counts.put(verb, left - 1);
        }
        return left > 0;
    }
}
