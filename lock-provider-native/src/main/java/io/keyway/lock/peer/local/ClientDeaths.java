// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.peer.session.SessionLife;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The clients whose connection has ended, each until it is proved dead, has another connection, or has no session any
 * more: its bytes are looked at again and again. A process that works under a client's leases may outlive the client by
 * any time, as the supervisor of a command does until nothing of the command runs, so there is no last look.
 *
 * <p>A byte may also be freed under a client that lives, by other code of its JVM that closes the file; the client
 * notices within {@link #NOTICED_MILLIS} and holds nothing from then on. The looks of the first moment take no account
 * of that, since a link that ends and a byte that vanishes in one moment are a death; later ones wait as long.
 *
 * <p>One thread, which is the one that {@link World#runAfter} runs on.
 */
final class ClientDeaths {
    /** A killed process is gone within these looks, as a rule, and somebody waits for its locks. */
    static final int SOON = 20;

    static final long SOON_MILLIS = 10;
    static final long NOTICED_MILLIS = 250;

    /** What is asked of the host. */
    interface World {
        /** Whether the operating system says that nobody has one of these bytes. */
        boolean dead(List<Long> bytes);

        void died(long session);

        /** Goes on, on this thread, with the sessions that there are, and the link of each. */
        void withSessions(Consumer<Map<Long, Long>> next);

        void runAfter(long millis, Runnable task);
    }

    /**
     * A client whose link, that is {@code gone}, has ended.
     *
     * @param looks how often it was looked at soon
     * @param seenDead the last look of those that wait found it dead
     */
    private record Lost(long gone, List<Long> bytes, int looks, boolean seenDead) {}

    private final World world;
    /** By session, those that are looked at soon. */
    private final Map<Long, Lost> fresh = new LinkedHashMap<>();
    /** By session, the others. */
    private final Map<Long, Lost> old = new LinkedHashMap<>();

    private boolean looking;
    private boolean waiting;

    ClientDeaths(World world) {
        this.world = world;
    }

    /** The connection of that session has ended. */
    void linkGone(long session, long link, List<Long> bytes) {
        old.remove(session);
        fresh.put(session, new Lost(link, bytes, 0, false));
        if (!looking) {
            looking = true;
            lookSoon();
        }
    }

    private void lookSoon() {
        fresh.entrySet().removeIf(client -> {
            Lost its = client.getValue();
            if (world.dead(its.bytes())) {
                world.died(client.getKey());
                return true;
            }
            if (its.looks() < SOON) {
                client.setValue(new Lost(its.gone(), its.bytes(), its.looks() + 1, false));
                return false;
            }
            old.put(client.getKey(), its);
            return true;
        });
        looking = !fresh.isEmpty();
        if (looking) {
            world.runAfter(SOON_MILLIS, this::lookSoon);
        }
        if (!waiting) {
            waitForOthers();
        }
    }

    private void lookPatiently(Map<Long, Long> sessions) {
        old.entrySet().removeIf(client -> {
            Lost its = client.getValue();
            Long link = sessions.get(client.getKey());
            // The cell may not yet have heard that the link has gone.
            if (link == null || (link != SessionLife.NO_LINK && link != its.gone())) {
                return true;
            }
            boolean dead = world.dead(its.bytes());
            if (dead && its.seenDead()) {
                world.died(client.getKey());
                return true;
            }
            client.setValue(new Lost(its.gone(), its.bytes(), its.looks(), dead));
            return false;
        });
        waitForOthers();
    }

    private void waitForOthers() {
        waiting = !old.isEmpty();
        if (waiting) {
            world.runAfter(NOTICED_MILLIS, () -> world.withSessions(this::lookPatiently));
        }
    }
}
