// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Request;
import java.util.Optional;

/**
 * The name of a request's node: {@code <session>-<id>-<mode>-<number>}, or {@code <incarnation>-x-<number>}. All that decides
 * about a queue is in it, so that one listing of the container tells who holds and who waits. The session is that which
 * created the node; the pair of session and id finds it again when the answer to its creation was lost.
 *
 * <p>The second form is that of a writer whose client has a pledge there ({@link Head}). The incarnation is the transaction
 * that created the container, which cannot be deleted while the pledge is in it: so the name never comes back, like the
 * other, and whoever is next knows it without a listing. What finds it again is in its data.
 *
 * @param name the whole name
 * @param capacity as its caller states it
 * @param number given by the server; rises, up to {@link Head#LAST}
 */
record Ticket(String name, LockMode mode, int permits, int capacity, int number) {
    /** Of the number, which the server fills up with zeros. */
    private static final int DIGITS = 10;

    static String owner(String session, long id) {
        return session + "-" + Long.toHexString(id) + "-";
    }

    /** What the server completes by a number. */
    static String prefix(String owner, Request request) {
        return switch (request.mode()) {
            case EXCLUSIVE -> owner + "x-";
            case SHARED -> owner + "s-";
            case PERMITS -> owner + "p" + request.permits() + "c" + request.capacity() + "-";
        };
    }

    /** The same for a writer that is named by its number alone. */
    static String numbered(long incarnation) {
        return Long.toHexString(incarnation) + "-x-";
    }

    /** The name of the node at that path. */
    static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** What the server makes of the prefix; no node's name if the number is negative. */
    static String numbered(String prefix, int number) {
        // No String.format, which is slow: each that waits comes here.
        String digits = Integer.toString(number);
        return prefix + "0".repeat(Math.max(0, DIGITS - digits.length())) + digits;
    }

    /** The number that the server has put behind the prefix. */
    static int number(String name, int prefix) {
        return Integer.parseInt(name, prefix, name.length(), 10);
    }

    /** Empty if it is not one of ours. */
    static Optional<Ticket> parse(String name) {
        int first = name.indexOf('-');
        boolean numbered = first > 0 && name.startsWith("x-", first + 1);
        int id = numbered ? first : name.indexOf('-', first + 1);
        int mode = name.indexOf('-', id + 1);
        if (first < 1 || id < 0 || mode < id + 2) {
            return Optional.empty();
        }
        try {
            int number = Integer.parseInt(name, mode + 1, name.length(), 10);
            return switch (name.charAt(id + 1)) {
                case 'x' -> Optional.of(new Ticket(name, LockMode.EXCLUSIVE, 1, 1, number));
                case 's' -> Optional.of(new Ticket(name, LockMode.SHARED, 1, 1, number));
                case 'p' -> {
                    int capacity = name.indexOf('c', id);
                    yield Optional.of(new Ticket(
                            name,
                            LockMode.PERMITS,
                            Integer.parseInt(name, id + 2, capacity, 10),
                            Integer.parseInt(name, capacity + 1, mode, 10),
                            number));
                }
                default -> Optional.empty();
            };
        } catch (NumberFormatException | IndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }

    boolean isBefore(Ticket other) {
        return number < other.number;
    }
}
