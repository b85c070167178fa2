// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The alarms of all transactions of one client, on one timer: most are taken back before their time, and a timer of
 * each would wake its thread for nothing. The timer may ring when nobody wants it any more.
 */
final class AgentAlarms {
    private static final Logger LOG = System.getLogger(AgentAlarms.class.getName());

    /** When an alarm rings; those of the same time in the order in which they were set. */
    private record Place(long at, long number) implements Comparable<Place> {
        @Override
        public int compareTo(Place other) {
            return at == other.at ? Long.compare(number, other.number) : Long.signum(at - other.at);
        }
    }

    private final TimeSource time;
    private final AtomicLong numbers = new AtomicLong();
    private final ConcurrentSkipListMap<Place, Runnable> alarms = new ConcurrentSkipListMap<>();

    // Guarded by this.
    private TimeSource.@Nullable Scheduled timer;
    private long timerAt;

    AgentAlarms(TimeSource time) {
        this.time = time;
    }

    /** Has that run at that time, unless it is cancelled before. */
    TimeSource.Scheduled at(long nanos, Runnable ring) {
        Place place = new Place(nanos, numbers.incrementAndGet());
        alarms.put(place, ring);
        setTimer(nanos);
        return () -> alarms.remove(place);
    }

    private synchronized void setTimer(long nanos) {
        if (timer != null && timerAt - nanos <= 0) {
            return;
        }
        if (timer != null) {
            timer.cancel();
        }
        timerAt = nanos;
        timer = time.at(nanos, this::ring);
    }

    private void ring() {
        synchronized (this) {
            timer = null;
        }
        List<Runnable> due = new ArrayList<>();
        Map.Entry<Place, Runnable> first = alarms.firstEntry();
        for (; first != null && first.getKey().at - time.nanoTime() <= 0; first = alarms.firstEntry()) {
            if (alarms.remove(first.getKey(), first.getValue())) {
                due.add(first.getValue());
            }
        }
        if (first != null) {
            setTimer(first.getKey().at);
        }
        for (Runnable each : due) {
            try {
                each.run();
            } catch (RuntimeException | Error e) {
                LOG.log(Level.ERROR, "The alarm of a transaction failed; the others go on", e);
            }
        }
    }
}
