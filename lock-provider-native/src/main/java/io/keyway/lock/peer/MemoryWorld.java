// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;

/**
 * The world behind {@code lock:native:mem://name}, for tests of programs that use locks, as one of its clients sees it:
 * {@code client.unwrap(MemoryWorld.class)}.
 *
 * <p>All clients of one name in this JVM (and class loader) share one member. The world begins with its first client,
 * grants at once, and ends with its last.
 *
 * <p>With {@code ?clock=manual} time stands still but for {@link #advance} and {@link #advanceUntil}, and one thread is
 * the <em>mover</em>: the one that called one of these last, at first the one that opened the first client. Nothing
 * waits for a time to which nobody moves:
 *
 * <ul>
 *   <li>A call of the mover that blocks ({@code acquire}, {@code tryAcquire}, {@code release}, {@code join} on a future
 *   of a client ...) lets time pass by itself, from one thing that is due to the next, until it has its outcome:
 *   exactly as much time as it takes. After an hour (and {@code maxTtl}) it is taken for one that waits in vain, and
 *   fails as well.
 *   <li>A call of another thread that blocks waits for the mover. If nobody moves the clock for ten seconds of real
 *   time, it fails with an {@code IllegalStateException} that says what to do, and its request is withdrawn.
 *   <li>{@code future.get(10, SECONDS)} has a limit of its own, which is real time, and lets no time pass. What the JDK
 *   makes of several futures ({@code CompletableFuture.allOf}, {@code anyOf}) knows no world: its {@code join} would
 *   wait forever. Give it to {@link #advanceUntil(CompletionStage, Duration)}.
 * </ul>
 */
public interface MemoryWorld {
    /**
     * Lets so much time pass. Returns when every turn and timer that became due has run, in order, and the events that
     * they caused were delivered. Called from a listener it does not wait for listeners.
     *
     * @param time not negative
     * @throws IllegalStateException if the world runs on the real clock
     */
    void advance(Duration time);

    /**
     * Lets time pass, from one thing that is due to the next, until the condition holds, and no further. Asks it after
     * each, when the events were delivered and threads whose calls have returned had a moment to go on.
     * If no thread waited for the clock when this was called, and one begins to meanwhile, on a machine that was too
     * busy to start it, the limit counts once more from there.
     *
     * @param limit of the world's time, not negative
     * @throws IllegalStateException if the condition does not hold by then, or the world runs on the real clock
     * @throws InterruptedException if interrupted
     */
    void advanceUntil(BooleanSupplier condition, Duration limit) throws InterruptedException;

    /**
     * As {@link #advanceUntil(BooleanSupplier, Duration)}, until the stage is completed; returns its value. What it
     * failed with is thrown, in a {@link CompletionException} if it is a checked exception.
     */
    default <T> T advanceUntil(CompletionStage<T> stage, Duration limit) throws InterruptedException {
        CompletableFuture<T> future = stage.toCompletableFuture();
        advanceUntil(future::isDone, limit);
        try {
            return future.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw e;
        }
    }

    /**
     * Cuts or heals this client's link: while it is cut, nothing arrives in either direction, and nobody is told. Other
     * clients are not affected.
     */
    void cut(boolean cut);

    /**
     * Lets the next {@code count} frames from the member to this client vanish: the requests that they answer were
     * carried out.
     */
    void dropReplies(int count);

    /**
     * The member crashes and starts again with its durable record (epoch and horizon) and nothing else. For one
     * quarantine (a little more than {@code maxTtl}) it grants nothing; holders re-assert.
     */
    void restart();
}
