// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockMode;
import io.keyway.lock.zookeeper.QueuePosition.Knowledge;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The requests of one lock or semaphore, in the order of their numbers. Those that hold are the first ones: a request
 * is granted when all before it are granted and it is compatible with them. Since nobody ever comes in before somebody
 * else, what is granted stays granted until it leaves, and everybody who lists the queue comes to the same result.
 */
final class RequestQueue {
    private final List<NodeName> requests;
    private final int granted;

    private RequestQueue(List<NodeName> requests, int granted) {
        this.requests = requests;
        this.granted = granted;
    }

    static RequestQueue of(List<String> names) {
        List<NodeName> requests = new ArrayList<>(names.size());
        for (String name : names) {
            NodeName.parse(name).ifPresent(requests::add);
        }
        requests.sort((a, b) -> a.number() == b.number() ? 0 : a.isBefore(b) ? -1 : 1);
        int granted = 0;
        long out = 0;
        while (granted < requests.size() && fits(requests.get(granted), granted, out, requests.get(0))) {
            out += requests.get(granted).permits();
            granted++;
        }
        return new RequestQueue(requests, granted);
    }

    private static boolean fits(NodeName next, int before, long out, NodeName first) {
        return switch (next.mode()) {
            case EXCLUSIVE -> before == 0;
            case SHARED -> before == 0 || first.mode() == LockMode.SHARED;
            case PERMITS -> out + next.permits() <= next.capacity();
        };
    }

    List<NodeName> holders() {
        return requests.subList(0, granted);
    }

    List<NodeName> waiters() {
        return requests.subList(granted, requests.size());
    }

    boolean isEmpty() {
        return requests.isEmpty();
    }

    int permitsOut() {
        return (int) Math.min(
                Integer.MAX_VALUE,
                holders().stream().mapToLong(NodeName::permits).sum());
    }

    /**
     * The position of the request of that name. Of those in its way it watches the last: if that one was a writer and
     * held, all before it have left.
     */
    QueuePosition of(String name) {
        for (int i = 0; i < requests.size(); i++) {
            if (requests.get(i).name().equals(name)) {
                return position(i);
            }
        }
        return QueuePosition.ABSENT;
    }

    private QueuePosition position(int index) {
        NodeName own = requests.get(index);
        boolean followed = index + 1 < requests.size();
        if (index < granted) {
            return new QueuePosition(
                    QueuePosition.Kind.GRANTED, OptionalInt.of(index), Optional.empty(), Knowledge.NONE, followed);
        }
        if (own.mode() == LockMode.PERMITS && index == granted) {
            return new QueuePosition(
                    QueuePosition.Kind.FIRST, OptionalInt.of(index), Optional.empty(), Knowledge.NONE, followed);
        }
        if (own.mode() == LockMode.PERMITS) {
            return behind(index, index - 1, Knowledge.NONE, followed);
        }
        int last = -1;
        int inTheWay = 0;
        for (int i = 0; i < index; i++) {
            if (own.mode() == LockMode.EXCLUSIVE || requests.get(i).mode() == LockMode.EXCLUSIVE) {
                last = i;
                inTheWay++;
            }
        }
        Knowledge then = inTheWay == 1
                ? Knowledge.ALL_LEFT
                : requests.get(last).mode() == LockMode.EXCLUSIVE ? Knowledge.ALL_LEFT_IF_IT_HELD : Knowledge.NONE;
        return behind(index, last, then, followed);
    }

    private QueuePosition behind(int index, int watched, Knowledge then, boolean followed) {
        return new QueuePosition(
                QueuePosition.Kind.BEHIND,
                OptionalInt.of(index),
                Optional.of(requests.get(watched).name()),
                then,
                followed);
    }
}
