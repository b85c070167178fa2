// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.tck.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** How a check says that the provider broke the rule, or that it cannot tell. */
public abstract class Expectations {
    /** A step of a check. */
    @FunctionalInterface
    public interface Act {
        void run() throws Exception;
    }

    private final List<String> notes = new CopyOnWriteArrayList<>();

    /** Fails the check unless {@code ok}; {@code otherwise} says what was seen and what should have been. */
    public void expect(boolean ok, String otherwise) {
        if (!ok) {
            throw CheckFailure.of(otherwise, null);
        }
    }

    /**
     * Fails the check if that was seen, for what no delay of this process or of the machine can have brought about.
     * Such a failure is told at once, where another on a busy machine is tried again.
     */
    public void never(boolean seen, String text) {
        if (seen) {
            throw CheckFailure.certain(text);
        }
    }

    /** Fails the check unless the two are equal. */
    public void expectEqual(String what, @Nullable Object expected, @Nullable Object actual) {
        if (!Objects.equals(expected, actual)) {
            throw CheckFailure.of(what + " should be " + expected + ", and is " + actual, null);
        }
    }

    /** Fails the check unless the call throws such an exception; returns that. */
    public <E extends Throwable> E expectThrows(String what, Class<E> type, Callable<?> call)
            throws InterruptedException {
        Object returned;
        try {
            returned = call.call();
        } catch (Throwable e) {
            return expectType(what, type, e);
        }
        throw CheckFailure.of(what + " should throw " + type.getSimpleName() + ", and returned " + returned, null);
    }

    /** As {@link #expectThrows(String, Class, Callable)}, of a call that returns nothing. */
    public <E extends Throwable> E expectThrows(String what, Class<E> type, Act call) throws InterruptedException {
        return expectThrows(what, type, () -> {
            call.run();
            return "normally";
        });
    }

    /** Fails the check unless the exception is such a one; returns it. */
    public <E extends Throwable> E expectType(String what, Class<E> type, Throwable thrown)
            throws InterruptedException {
        if (type.isInstance(thrown)) {
            return type.cast(thrown);
        }
        if (thrown instanceof InterruptedException interrupt) {
            throw interrupt;
        }
        throw CheckFailure.of(what + " should throw " + type.getSimpleName() + ", and threw " + thrown, thrown);
    }

    /** Fails the check. */
    public CheckFailure failure(String message) {
        return CheckFailure.of(message, null);
    }

    /** Gives the check up without blame. */
    public Skipped skipped(Verdict verdict, String why) {
        return new Skipped(verdict, why);
    }

    /** Something measured, for the report. */
    public void note(String text) {
        notes.add(text);
    }

    List<String> notes() {
        return notes;
    }

    /** A duration for people. */
    public static String text(Duration time) {
        long millis = time.toMillis();
        return millis < 10_000 ? millis + " ms" : millis / 1000 + " s";
    }
}
