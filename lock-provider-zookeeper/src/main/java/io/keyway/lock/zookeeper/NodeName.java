// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Request;
import java.util.Optional;

/**
 * The name of a request's node: {@code <session>-<id>-<mode>-<number>}. A mode is {@code x}, {@code s}, or for two
 * permits of five {@code p2c5}; {@code p2c5g17} for such permits that are held and count from number 17 on. A soft
 * writer is {@code y}, or {@code q} if it waits for a time without readers; {@code y42} and {@code q42} hold if 42 is
 * the number too, and yield else. All that decides about a queue is in the names, so that one listing of the container
 * tells who holds and who waits. The session is the one that created the node; the pair of session and id finds it
 * again when the answer to its creation was lost.
 *
 * @param name the whole name
 * @param kind the first letter of the mode
 * @param capacity as its caller states it
 * @param from of permits, if it says that the request holds, though others before it may wait: the number from which on
 *     it counts; of a soft writer, the number with which it holds; else -1
 * @param number given by the server; rises
 */
record NodeName(String name, char kind, int permits, int capacity, int from, int number) {
    /** What the names of a request's nodes begin with, whatever it asks for. */
    static String owner(String session, long id) {
        return session + "-" + Long.toHexString(id) + "-";
    }

    /** The name that the server completes by a number. */
    static String prefix(String owner, Request request) {
        return switch (request.mode()) {
            case EXCLUSIVE -> owner + writer(request) + "-";
            case SHARED -> owner + "s-";
            case PERMITS -> owner + "p" + request.permits() + "c" + request.capacity() + "-";
            default ->
                throw new IllegalArgumentException(request.mode() + " is of trees, which this store does not offer");
        };
    }

    private static char writer(Request request) {
        return request.quiet().map(quiet -> quiet.isZero() ? 'y' : 'q').orElse('x');
    }

    /**
     * The name, up to its number, of a node that says that the request holds: a soft writer's if it gets that number,
     * one for permits in any case.
     */
    static String promoted(String owner, Request request, int from) {
        if (request.isSoft()) {
            return owner + writer(request) + from + "-";
        }
        return owner + "p" + request.permits() + "c" + request.capacity() + "g" + from + "-";
    }

    /** The name of the node at that path. */
    static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** The number of the request's node at that path; -1 if it is none. */
    static int number(String path) {
        return parse(name(path)).map(NodeName::number).orElse(-1);
    }

    /** Reads a name; empty if it is not that of a request's node. */
    static Optional<NodeName> parse(String name) {
        int first = name.indexOf('-');
        int id = name.indexOf('-', first + 1);
        int mode = name.indexOf('-', id + 1);
        if (first < 1 || id < 0 || mode < id + 2) {
            return Optional.empty();
        }
        try {
            int number = Integer.parseInt(name, mode + 1, name.length(), 10);
            char kind = name.charAt(id + 1);
            return switch (kind) {
                case 'x', 's' -> Optional.of(new NodeName(name, kind, 1, 1, -1, number));
                case 'y', 'q' -> {
                    int with = mode == id + 2 ? -1 : Integer.parseInt(name, id + 2, mode, 10);
                    yield Optional.of(new NodeName(name, kind, 1, 1, with, number));
                }
                case 'p' -> {
                    int capacity = name.indexOf('c', id);
                    int from = name.indexOf('g', capacity);
                    int end = from < 0 ? mode : from;
                    yield Optional.of(new NodeName(
                            name,
                            kind,
                            Integer.parseInt(name, id + 2, capacity, 10),
                            Integer.parseInt(name, capacity + 1, end, 10),
                            from < 0 ? -1 : Integer.parseInt(name, from + 1, mode, 10),
                            number));
                }
                default -> Optional.empty();
            };
        } catch (NumberFormatException | IndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }

    LockMode mode() {
        return switch (kind) {
            case 's' -> LockMode.SHARED;
            case 'p' -> LockMode.PERMITS;
            default -> LockMode.EXCLUSIVE;
        };
    }

    boolean isPromoted() {
        return kind == 'p' && from >= 0;
    }

    /** Whether it is that of a soft writer that waits, and so has no place in the queue. */
    boolean yields() {
        return (kind == 'y' || kind == 'q') && from != number;
    }

    /** Whether it is that of a soft writer that waits for a time without readers. */
    boolean wantsQuiet() {
        return kind == 'q' && yields();
    }

    /** Whether there is room for its permits, by its own capacity, beside so many. */
    boolean fits(long out) {
        return out + permits <= capacity;
    }

    boolean isBefore(NodeName other) {
        return number < other.number;
    }
}
