// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.spi.ClientServices;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Brings the events of one candidacy or observer to its listener: on the event executor, one at a time and in the order
 * in which they were put in, also where that executor has several threads. Events of elections are few, so that none is
 * ever dropped.
 */
final class EventLine {
    private static final Logger LOG = System.getLogger(EventLine.class.getName());

    private record Told(ElectionEvent event, Runnable after) {}

    /** Hears nothing, and is not waited for. */
    static final ElectionListener NOBODY = event -> {};

    private final ClientServices services;
    private final ElectionListener listener;
    private final Queue<Told> events = new ArrayDeque<>();
    private boolean telling;

    EventLine(ClientServices services, ElectionListener listener) {
        this.services = services;
        this.listener = listener;
    }

    void put(ElectionEvent event) {
        put(event, () -> {});
    }

    /**
     * Puts that in line, which {@link #tell} brings to the listener: the caller may hold a lock.
     *
     * @param after is run when the listener has been notified
     * @return false if nobody listens, and {@code after} is not run
     */
    boolean put(ElectionEvent event, Runnable after) {
        if (listener == NOBODY) {
            return false;
        }
        synchronized (events) {
            events.add(new Told(event, after));
        }
        return true;
    }

    /** Brings what is in line to the listener, here if the event executor runs its tasks at once: under no lock. */
    void tell() {
        synchronized (events) {
            if (telling || events.isEmpty()) {
                return;
            }
            telling = true;
        }
        services.tell(this::tellAll);
    }

    private void tellAll() {
        while (true) {
            Told next;
            synchronized (events) {
                next = events.poll();
                if (next == null) {
                    telling = false;
                    return;
                }
            }
            ElectionEvent event = next.event();
            guarded(event, () -> listener.onEvent(event));
            guarded(event, next.after());
        }
    }

    /** A step that fails keeps no later one from being done. */
    private static void guarded(ElectionEvent event, Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            LOG.log(Level.WARNING, "A listener, or what waits for it, failed on " + event, e);
        }
    }
}
