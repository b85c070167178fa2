// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockMode;
import io.keyway.lock.zookeeper.QueuePosition.Knowledge;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * All requests of one lock or semaphore, in the order of their numbers. Those that hold are the first ones: a request is
 * granted when all before it are granted and it goes together with them. Since nobody ever comes in before somebody else,
 * what is granted stays granted until it leaves, and everybody who reads the line comes to the same result.
 */
final class RequestQueue {
    private final List<NodeName> tickets;
    private final int granted;

    private RequestQueue(List<NodeName> tickets, int granted) {
        this.tickets = tickets;
        this.granted = granted;
    }

    static RequestQueue of(List<String> names) {
        List<NodeName> tickets = new ArrayList<>(names.size());
        for (String name : names) {
            NodeName.parse(name).ifPresent(tickets::add);
        }
        tickets.sort((a, b) -> a.number() == b.number() ? 0 : a.isBefore(b) ? -1 : 1);
        int granted = 0;
        long out = 0;
        while (granted < tickets.size() && fits(tickets.get(granted), granted, out, tickets.get(0))) {
            out += tickets.get(granted).permits();
            granted++;
        }
        return new RequestQueue(tickets, granted);
    }

    private static boolean fits(NodeName next, int before, long out, NodeName first) {
        return switch (next.mode()) {
            case EXCLUSIVE -> before == 0;
            case SHARED -> before == 0 || first.mode() == LockMode.SHARED;
            case PERMITS -> out + next.permits() <= next.capacity();
        };
    }

    List<NodeName> holders() {
        return tickets.subList(0, granted);
    }

    List<NodeName> waiters() {
        return tickets.subList(granted, tickets.size());
    }

    boolean isEmpty() {
        return tickets.isEmpty();
    }

    int permitsOut() {
        return (int) Math.min(
                Integer.MAX_VALUE,
                holders().stream().mapToLong(NodeName::permits).sum());
    }

    /**
     * Where the ticket of that name stands. Of those in its way it watches the last: if that one was a writer and held,
     * all before it have left.
     */
    QueuePosition of(String name) {
        for (int i = 0; i < tickets.size(); i++) {
            if (tickets.get(i).name().equals(name)) {
                return standing(i);
            }
        }
        return QueuePosition.ABSENT;
    }

    private QueuePosition standing(int place) {
        NodeName own = tickets.get(place);
        boolean followed = place + 1 < tickets.size();
        if (place < granted) {
            return new QueuePosition(
                    QueuePosition.Kind.GRANTED, OptionalInt.of(place), Optional.empty(), Knowledge.NONE, followed);
        }
        if (own.mode() == LockMode.PERMITS && place == granted) {
            return new QueuePosition(
                    QueuePosition.Kind.FIRST, OptionalInt.of(place), Optional.empty(), Knowledge.NONE, followed);
        }
        if (own.mode() == LockMode.PERMITS) {
            return behind(place, place - 1, Knowledge.NONE, followed);
        }
        int last = -1;
        int inTheWay = 0;
        for (int i = 0; i < place; i++) {
            if (own.mode() == LockMode.EXCLUSIVE || tickets.get(i).mode() == LockMode.EXCLUSIVE) {
                last = i;
                inTheWay++;
            }
        }
        Knowledge then = inTheWay == 1
                ? Knowledge.ALL_LEFT
                : tickets.get(last).mode() == LockMode.EXCLUSIVE ? Knowledge.ALL_LEFT_IF_IT_HELD : Knowledge.NONE;
        return behind(place, last, then, followed);
    }

    private QueuePosition behind(int place, int watched, Knowledge then, boolean followed) {
        return new QueuePosition(
                QueuePosition.Kind.BEHIND,
                OptionalInt.of(place),
                Optional.of(tickets.get(watched).name()),
                then,
                followed);
    }
}
