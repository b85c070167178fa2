// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.LockName;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * What travels along wait-for edges, from a transaction that waits to whoever it waits for, to find out whether it
 * waits for itself. It is small, and all that is known of a cycle is in it: nobody keeps a graph. What is done with one
 * is said in {@code io.keyway.lock.kit.agent.Agent}.
 *
 * @param kind what it is for
 * @param initiator who sent it first
 * @param priority of the initiator: the lowest of a circle gives way; at least 0
 * @param age how often the initiator has given way before; at least 0
 * @param round rises with each search of the initiator
 * @param step which edge of {@code path} it is on; of a search the last one
 * @param path the edges, from the initiator on; 1 to {@link #MAX_EDGES}
 */
public record Probe(Kind kind, Agent initiator, int priority, int age, long round, int step, List<Edge> path) {
    /** The most edges that one has: no longer cycle is found. As many fit into one frame of any wire. */
    public static final int MAX_EDGES = 64;

    /** The most bytes of an owner's name, in UTF-8; what is longer is cut. */
    public static final int MAX_OWNER = 256;

    /** What a probe is for. */
    public enum Kind {
        /** It looks for cycles through its initiator. */
        SEARCH,
        /** It goes the way of a search once more: is each edge still there? */
        CONFIRM,
        /** To all on the way: the initiator has given up the lock of the last edge, and waits for it again. */
        SURRENDERED,
        /** To all on the way: the initiator waits no longer, its transaction is aborted. */
        ABORTED
    }

    /**
     * Which transaction; forever.
     *
     * @param client drawn at random by its client when that was opened
     * @param number of that client's transactions
     */
    public record Agent(long client, long number) {}

    /**
     * A waits for B: the request {@code request} of {@code waiter} waits for {@code lock}, in the way of which is a
     * grant, or a request before it.
     *
     * @param waiter who waits
     * @param owner the name of its client, for people
     * @param lock for which lock
     * @param request by which request, of its client
     * @param waitedNanos for how long, when the edge was found; for people
     * @param token of the grant in the way, by the use that is made of it; 0 if that is not known yet, or a request
     * @param ahead the number of the request in the way, of its own client; 0 if it is not known yet, or a grant
     */
    public record Edge(
            Agent waiter, String owner, LockName lock, long request, long waitedNanos, long token, long ahead) {
        /**
         * Checks that nothing is null, and cuts a long name.
         *
         * @param waiter see the record
         * @param owner see the record
         * @param lock see the record
         * @param request see the record
         * @param waitedNanos see the record
         * @param token see the record
         * @param ahead see the record
         */
        public Edge {
            Objects.requireNonNull(waiter, "waiter");
            Objects.requireNonNull(lock, "lock");
            owner = cut(owner);
        }

        private static String cut(String owner) {
            String shown = owner;
            while (shown.getBytes(StandardCharsets.UTF_8).length > MAX_OWNER) {
                shown = shown.substring(0, shown.offsetByCodePoints(shown.length(), -1));
            }
            return shown;
        }

        /**
         * {@return the same edge, of which it is known now what it leads to}
         *
         * @param use as {@code token} of the record
         * @param before as {@code ahead} of the record
         */
        public Edge to(long use, long before) {
            return new Edge(waiter, owner, lock, request, waitedNanos, use, before);
        }
    }

    /**
     * Checks that nothing is null and that the step is on the path.
     *
     * @param kind see the record
     * @param initiator see the record
     * @param priority see the record
     * @param age see the record
     * @param round see the record
     * @param step see the record
     * @param path see the record
     */
    public Probe {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(initiator, "initiator");
        path = List.copyOf(path);
        if (step < 0 || step >= path.size() || path.size() > MAX_EDGES) {
            throw new IllegalArgumentException("edge " + step + " of a path of " + path.size());
        }
    }

    /** {@return the edge that it is on} */
    public Edge edge() {
        return path.get(step);
    }

    /**
     * {@return the same search, whose last edge is now that one}
     *
     * @param last in place of the last edge
     */
    public Probe arrived(Edge last) {
        List<Edge> edges = new ArrayList<>(path);
        edges.set(edges.size() - 1, last);
        return new Probe(kind, initiator, priority, age, round, step, edges);
    }

    /**
     * {@return the same search, one edge further}
     *
     * @param next what its path ends with then
     */
    public Probe along(Edge next) {
        List<Edge> edges = new ArrayList<>(path);
        edges.add(next);
        return new Probe(kind, initiator, priority, age, round, edges.size() - 1, edges);
    }

    /**
     * {@return what goes the same way for another purpose, or is further on it}
     *
     * @param purpose what for
     * @param at which edge it is on
     */
    public Probe on(Kind purpose, int at) {
        return new Probe(purpose, initiator, priority, age, round, at, path);
    }
}
