// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import java.time.Duration;

/**
 * The world behind {@code lock:native:mem://name}, as one of its clients sees it: {@code client.unwrap(MemoryWorld.class)}. For tests of programs that use locks.
 *
 * <p>All clients of one name in this JVM (and class loader) share one member. The world begins with its first client, grants at once, and ends with its last. With {@code ?clock=manual} time stands
 * still but for {@link #advance}.
 */
public interface MemoryWorld {
    /**
     * Lets so much time pass. Returns when every turn and timer that became due has run, in order, and the events that they caused were delivered. Called from a listener it does not wait for
     * listeners.
     *
     * @param time not negative
     * @throws IllegalStateException if the world runs on the real clock
     */
    void advance(Duration time);

    /**
     * Cuts or heals this client's link: while it is cut, nothing arrives in either direction, and nobody is told. Other clients are not affected.
     */
    void cut(boolean cut);

    /** Lets the next {@code count} frames from the member to this client vanish: the requests that they answer were carried out. */
    void dropReplies(int count);

    /**
     * The member crashes and starts again with its durable record (epoch and horizon) and nothing else. For one quarantine (a little more than {@code maxTtl}) it grants nothing; holders re-assert.
     */
    void restart();
}
