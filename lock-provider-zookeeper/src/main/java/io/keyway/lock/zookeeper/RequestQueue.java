// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockMode;
import io.keyway.lock.zookeeper.QueuePosition.Kind;
import io.keyway.lock.zookeeper.QueuePosition.Knowledge;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The requests of one lock or semaphore, in the order of their numbers. Those that hold are the first ones: a request
 * is granted when all before it are granted and it is compatible with them. Since nobody ever comes in before somebody
 * else, what is granted stays granted until it leaves, and everybody who lists the queue comes to the same result.
 *
 * <p>A request for permits that its own capacity refuses is passed by those behind it that state a larger one than all
 * before them (LK-1308). Who passes puts a node in the place of its own that says so: it holds, whatever its number,
 * and counts for all that waited then, which are those from a number on that its name says ({@link NodeName#from}).
 * Whoever was granted before has a lower number, and is judged as before; so what is granted still stays granted. What
 * has to be true when that node is created is a {@link Promotion}.
 *
 * <p>A soft writer's node is in nobody's way (LK-1207), and counts for nothing here. When a listing shows nobody else,
 * the writer puts another node in the place of its own, whose name says with which number it holds: the next one after
 * all that the listing shows. The servers number the nodes in the order of their creation, each with a number of its
 * own, so that a node that has got that number was created in a moment in which still nobody held or queued; it holds
 * as any writer does, after all that were there before and before all that come later, and so does its token. A node
 * that has got another number yields as the one before it did.
 */
final class RequestQueue {

    /**
     * How a request for permits, or a soft writer, gets a node that says that it holds.
     *
     * @param from the number from which on its permits count: that of the first that waits, or its own if none does
     *     before it; for a soft writer the number that its node has to get
     * @param present the names of nodes that have to be there when it is created: the first that waits, and of those
     *     that hold as many as refuse it; so that nobody is granted meanwhile by the order of the numbers. Empty if it
     *     is granted by that order itself. For a soft writer the other ones that yield: of two that try at the same
     *     moment the second must not take a number in vain
     */
    record Promotion(int from, List<String> present) {}

    private final List<NodeName> requests;

    /** In the order of their numbers. */
    private final List<NodeName> holders;

    private final List<NodeName> waiters;

    /** Soft writers that wait; in none of the lists above. */
    private List<NodeName> yielding = List.of();

    private RequestQueue(List<NodeName> requests, List<NodeName> holders, List<NodeName> waiters) {
        this.requests = requests;
        this.holders = holders;
        this.waiters = waiters;
    }

    static RequestQueue of(List<String> names) {
        List<NodeName> requests = new ArrayList<>(names.size());
        List<NodeName> yielding = new ArrayList<>();
        boolean passed = false;
        for (String name : names) {
            Optional<NodeName> request = NodeName.parse(name);
            if (request.isPresent() && request.get().yields()) {
                yielding.add(request.get());
            } else if (request.isPresent()) {
                requests.add(request.get());
                passed |= request.get().isPromoted();
            }
        }
        requests.sort((a, b) -> a.number() == b.number() ? 0 : a.isBefore(b) ? -1 : 1);
        RequestQueue queue = passed ? withPromoted(requests) : inOrder(requests);
        queue.yielding = yielding;
        return queue;
    }

    private static RequestQueue inOrder(List<NodeName> requests) {
        int granted = 0;
        long out = 0;
        while (granted < requests.size() && fits(requests.get(granted), granted, out, requests.get(0))) {
            out += requests.get(granted).permits();
            granted++;
        }
        return new RequestQueue(requests, requests.subList(0, granted), requests.subList(granted, requests.size()));
    }

    private static boolean fits(NodeName next, int before, long out, NodeName first) {
        return switch (next.mode()) {
            case EXCLUSIVE -> before == 0;
            case SHARED -> before == 0 || first.mode() == LockMode.SHARED;
            case PERMITS -> next.fits(out);
            default -> false; // of trees, which this store does not offer
        };
    }

    private static RequestQueue withPromoted(List<NodeName> requests) {
        List<NodeName> promoted = requests.stream().filter(NodeName::isPromoted).toList();
        List<NodeName> holders = new ArrayList<>();
        List<NodeName> waiters = new ArrayList<>();
        long inOrder = 0;
        for (NodeName request : requests) {
            if (request.isPromoted()) {
                holders.add(request);
                continue;
            }
            long out = inOrder
                    + promoted.stream()
                            .filter(each -> each.from() <= request.number())
                            .mapToLong(NodeName::permits)
                            .sum();
            if (waiters.isEmpty() && request.fits(out)) {
                inOrder += request.permits();
                holders.add(request);
            } else {
                waiters.add(request);
            }
        }
        return new RequestQueue(requests, holders, waiters);
    }

    List<NodeName> holders() {
        return holders;
    }

    List<NodeName> waiters() {
        return waiters;
    }

    /** Soft writers that wait, in no order. */
    List<NodeName> softWriters() {
        return yielding;
    }

    /** Whether a soft writer waits for a time without readers. */
    boolean wantsQuiet() {
        return !yielding.isEmpty() && yielding.stream().anyMatch(NodeName::wantsQuiet);
    }

    boolean isEmpty() {
        return requests.isEmpty() && yielding.isEmpty();
    }

    int permitsOut() {
        return (int) Math.min(Integer.MAX_VALUE, out());
    }

    private long out() {
        return holders.stream().mapToLong(NodeName::permits).sum();
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
        return soft(name).map(this::ofSoft).orElse(QueuePosition.ABSENT);
    }

    private Optional<NodeName> soft(String name) {
        return yielding.stream().filter(writer -> writer.name().equals(name)).findFirst();
    }

    /**
     * Of those in its way it watches the last. If it waits for a time without readers, that begins anew when one that
     * waited before it came is granted, which does not know of it: so it watches whom the first of those waits for.
     */
    private QueuePosition ofSoft(NodeName own) {
        if (requests.isEmpty()) {
            return unwatched(Kind.PASSES, 0, false);
        }
        NodeName watched = requests.get(requests.size() - 1);
        NodeName reader = own.wantsQuiet()
                ? waitingReaders(own.number()).stream().findFirst().orElse(null)
                : null;
        for (NodeName request : reader == null ? List.<NodeName>of() : requests) {
            if (request.equals(reader)) {
                break;
            }
            watched = request.mode() == LockMode.EXCLUSIVE ? request : watched;
        }
        return new QueuePosition(
                Kind.YIELDS, OptionalInt.of(requests.size()), Optional.of(watched.name()), Knowledge.NONE, false);
    }

    /** The readers that wait and have lower numbers, in their order. */
    List<NodeName> waitingReaders(int number) {
        return waiters.stream()
                .filter(waiter -> waiter.mode() == LockMode.SHARED && waiter.number() < number)
                .toList();
    }

    private QueuePosition position(int index) {
        NodeName own = requests.get(index);
        boolean followed = index + 1 < requests.size();
        if (holders.contains(own)) {
            return unwatched(Kind.GRANTED, index, followed);
        }
        if (own.mode() == LockMode.PERMITS) {
            return ofPermits(own, index, followed);
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
        return behind(index, requests.get(last), then, followed);
    }

    /** Of those that wait before it, those that state no less are in its way, and so is one whose turn has come. */
    private QueuePosition ofPermits(NodeName own, int index, boolean followed) {
        long out = out();
        NodeName inTheWay = null;
        boolean another = false;
        int refused = -1;
        for (NodeName before : waiters) {
            if (before.equals(own)) {
                break;
            }
            if (before.capacity() >= own.capacity()) {
                inTheWay = before;
            }
            another |= before.capacity() > refused && before.fits(out);
            refused = Math.max(refused, before.capacity());
        }
        if (inTheWay != null) {
            return behind(index, inTheWay, Knowledge.NONE, followed);
        }
        return unwatched(!another && own.fits(out) ? Kind.PASSES : Kind.FIRST, index, followed);
    }

    private static QueuePosition unwatched(Kind kind, int index, boolean followed) {
        return new QueuePosition(kind, OptionalInt.of(index), Optional.empty(), Knowledge.NONE, followed);
    }

    private static QueuePosition behind(int index, NodeName watched, Knowledge then, boolean followed) {
        return new QueuePosition(Kind.BEHIND, OptionalInt.of(index), Optional.of(watched.name()), then, followed);
    }

    /**
     * How the request of that name is promoted, if it is for permits or a soft writer's; empty if its turn has not
     * come, or it is already.
     */
    Optional<Promotion> promotion(String name) {
        Optional<NodeName> soft = soft(name);
        if (soft.isPresent()) {
            return requests.isEmpty() ? Optional.of(afterAll(soft.get())) : Optional.empty();
        }
        NodeName own = requests.stream()
                .filter(request -> request.name().equals(name) && !request.isPromoted())
                .findFirst()
                .orElse(null);
        if (own == null) {
            return Optional.empty();
        }
        if (holders.contains(own)) {
            return Optional.of(new Promotion(own.number(), List.of()));
        }
        return of(name).kind() == Kind.PASSES ? Optional.of(passing()) : Optional.empty();
    }

    private Promotion afterAll(NodeName own) {
        int last = yielding.stream().mapToInt(NodeName::number).max().orElse(own.number());
        List<String> others = yielding.stream()
                .filter(writer -> !writer.equals(own))
                .map(NodeName::name)
                .toList();
        return new Promotion(last + 1, others);
    }

    private Promotion passing() {
        NodeName first = waiters.get(0);
        List<String> present = new ArrayList<>();
        present.add(first.name());
        long out = 0;
        for (NodeName holder : holders.stream()
                .sorted(Comparator.comparingInt(NodeName::permits).reversed())
                .toList()) {
            if (!first.fits(out)) {
                break;
            }
            present.add(holder.name());
            out += holder.permits();
        }
        return new Promotion(first.number(), present);
    }
}
