// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Request;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of a request's node: {@code <session>-<id>-<mode>-<number>}. All that decides about a queue is in it, so that one
 * listing of the container tells who holds and who waits. The session is that which created the node; the pair of session
 * and id finds it again when the answer to its creation was lost.
 *
 * @param name the whole name
 * @param owner session and id, with a hyphen after each
 * @param capacity as its caller states it
 * @param number given by the server; rises, and wraps around like an int
 */
record Ticket(String name, String owner, LockMode mode, int permits, int capacity, int number) {
    private static final Pattern FORM =
            Pattern.compile("([0-9a-f]+-[0-9a-f]+-)(?:(x)|(s)|p([0-9]{1,10})c([0-9]{1,10}))-(-?[0-9]{10})");

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

    /** Empty if it is not one of ours. */
    static Optional<Ticket> parse(String name) {
        Matcher matcher = FORM.matcher(name);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        try {
            boolean permits = matcher.group(4) != null;
            LockMode mode =
                    permits ? LockMode.PERMITS : matcher.group(2) != null ? LockMode.EXCLUSIVE : LockMode.SHARED;
            return Optional.of(new Ticket(
                    name,
                    matcher.group(1),
                    mode,
                    permits ? Integer.parseInt(matcher.group(4)) : 1,
                    permits ? Integer.parseInt(matcher.group(5)) : 1,
                    Integer.parseInt(matcher.group(6))));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    boolean isBefore(Ticket other) {
        return number - other.number < 0;
    }

    /** The id of the request, and the session that it belongs to. */
    String session() {
        return owner.substring(0, owner.indexOf('-'));
    }
}
