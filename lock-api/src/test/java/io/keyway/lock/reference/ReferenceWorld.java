// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.reference;

import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The world behind {@code lock:reference://name}: one store and its clock, shared by all clients of that name in this
 * JVM (and class loader). {@code client.unwrap(ReferenceWorld.class)}; what concerns the link of one client is
 * {@link ReferenceFaults}.
 */
public final class ReferenceWorld {

    private static final Duration DELIVERY = Duration.ofSeconds(30);

    final String name;
    private final Worlds worlds;
    private final @Nullable ManualTime time;
    private final ReferenceStore store;
    private volatile boolean down;

    /** Guarded by the lock of {@link Worlds}. */
    int clients;

    ReferenceWorld(String name, Worlds worlds, @Nullable ManualTime time, ReferenceStore store) {
        this.name = name;
        this.worlds = worlds;
        this.time = time;
        this.store = store;
    }

    /** Returns the store. */
    public ReferenceStore store() {
        return store;
    }

    /** Returns the clock, with {@code clock=manual}. */
    public Optional<ManualTime> time() {
        return Optional.ofNullable(time);
    }

    /**
     * Lets so much time pass. Returns when every timer that became due has run, in order, and what it caused was
     * delivered. Called from a listener it does not wait for listeners.
     *
     * @param by not negative
     * @throws IllegalStateException if the world runs on the real clock
     */
    public void advance(Duration by) {
        ManualTime moved = manualTime();
        if (by.isNegative()) {
            throw new IllegalArgumentException("time does not go back: " + by);
        }
        moved.advance(by, this::deliver);
    }

    /**
     * Lets so much time pass as it does for a process that is suspended: no timer runs before it goes on, then all that
     * are due.
     *
     * @throws IllegalStateException if the world runs on the real clock
     */
    public void suspend(Duration by) {
        manualTime().leap(by);
        deliver();
    }

    /** The store ends, as by a crash: until {@link #restart} every call fails, and its outcome is unknown. */
    public void kill() {
        down = true;
        for (Session session : store.sessions()) {
            session.tell(client -> client.disconnected(ReferenceBackend.SERVER, "the store has ended"));
        }
    }

    /** The store starts again; see {@link ReferenceStore#restart}. Ends what {@link #kill} began. */
    public void restart() {
        kill();
        down = false;
        store.restart();
    }

    /** The store starts again with all that it knew. Ends what {@link #kill} began. */
    public void restartWithMemory() {
        kill();
        down = false;
        for (Session session : store.sessions()) {
            session.tell(client -> client.connected(ReferenceBackend.SERVER));
        }
    }

    boolean isDown() {
        return down;
    }

    TimeSource time(TimeSource ofClient) {
        return time == null ? ofClient : time;
    }

    void forget() {
        worlds.forget(this);
    }

    void leave() {
        worlds.leave(this);
    }

    private void deliver() {
        for (Session session : store.sessions()) {
            session.awaitDelivery(DELIVERY);
        }
    }

    private ManualTime manualTime() {
        if (time == null) {
            throw new IllegalStateException("the world " + name + " runs on the real clock; open it with clock=manual");
        }
        return time;
    }
}
