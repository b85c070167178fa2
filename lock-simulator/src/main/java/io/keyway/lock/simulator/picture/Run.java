// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.picture;

import java.util.List;
import java.util.Map;

/**
 * What happened in one run, simulated or real. Times are nanoseconds from its beginning, on one clock.
 *
 * @param title what it is, in a line
 * @param command what makes it again, or empty
 * @param violation the property that does not hold, and why; empty if all hold
 * @param earlier how many events came before the first one here
 * @param processes the lines of a picture, in their order
 * @param events in the order of their times
 * @param bars who believed, and who was granted, for how long
 */
public record Run(
        String title,
        String command,
        String violation,
        long earlier,
        List<Lifeline> processes,
        List<Event> events,
        List<Bar> bars) {

    /** What a process is. */
    public enum Role {
        MEMBER,
        CLIENT
    }

    /**
     * One line of a picture.
     *
     * @param name short: it heads a column
     * @param role what it is
     */
    public record Lifeline(String name, Role role) {}

    /** What an event is. */
    public enum Kind {
        /** A message came. */
        MESSAGE,
        /** A message was sent that does not come, or was held up. */
        LOST,
        /** Something happened at one process. */
        LOCAL
    }

    /**
     * One event.
     *
     * @param at when it happened; of a message, when it came
     * @param kind what it is
     * @param process where, by its place in the list; of a message, to whom it goes
     * @param from who sent the message; the process itself if there is none
     * @param sent when the message was sent; the same as {@code at} if there is none
     * @param clock the logical clock that the message carries; 0 if it carries none
     * @param text what it is, in a line
     * @param states by machine, its state since this event, of those of this process that it changed; an empty state
     *     says that the machine is at rest
     */
    public record Event(
            long at, Kind kind, int process, int from, long sent, long clock, String text, Map<String, String> states) {
        public Event {
            states = Map.copyOf(states);
        }
    }

    /** What a bar says. */
    public enum Hold {
        /** The process would be told that it holds the lock. */
        BELIEF,
        /** The process has granted the lock, and grants it to nobody that may not share it. */
        AUTHORITY
    }

    /**
     * A hold of a lock, over the line of a process.
     *
     * @param process whose line, by its place in the list
     * @param hold whether it believes or has granted
     * @param lock the name
     * @param token the fencing token
     * @param text mode, permits and whose it is, in a line
     * @param from the first instant
     * @param to the instant after the last one
     */
    public record Bar(int process, Hold hold, String lock, long token, String text, long from, long to) {}

    /** Copies the lists. */
    public Run {
        processes = List.copyOf(processes);
        events = List.copyOf(events);
        bars = List.copyOf(bars);
    }
}
