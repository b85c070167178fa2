// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.check.BackendProbe;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.ClientLink;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * Rule 310 where an engine by itself would hide it: who asks first when the lock comes free, how long the queue is, and
 * what a connection has to do with it.
 */
final class QueueChecks {
    private static final String DOUBLE = "a lock that is held was granted again";

    @Check(rules = "LK-310", needs = Feature.FIFO, from = Profile.SMOKE)
    @Hint("Does an attempt look who stands first in the queue, or only whether it stands there itself and the lock "
            + "is free?")
    void whoAsksFirstWhenTheLockComesFreeIsNotGrantedFirst(CheckContext t) throws Exception {
        servesInOrder(t, 3);
    }

    @Check(rules = "LK-310", needs = Feature.FIFO)
    @Hint("What becomes of one that finds the queue full: is it told to wait, and has no place?")
    void aLongQueueKeepsItsOrder(CheckContext t) throws Exception {
        servesInOrder(t, t.rounds(12, 130, 130));
    }

    /**
     * So many wait, or as many as come in an eighth of their ttl; at each release those who stand behind the first ask
     * before it.
     */
    private static void servesInOrder(CheckContext t, int most) throws Exception {
        List<BackendProbe> clients = List.of(t.probe("one"), t.probe("two"));
        BackendProbe holder = t.probe("holder");
        Grant held = holder.take(t.name(), t.longer(16));
        Deque<Request> queue = new ArrayDeque<>();
        long begun = t.now();
        for (int i = 0; i < most && (i < 3 || t.now() - begun < t.longer(16).toNanos() / 8); i++) {
            BackendProbe client = clients.get(i % 2);
            Request request = client.request(t.name(), t.longer(16));
            t.expect(!client.isGranted(request), DOUBLE);
            queue.add(request);
        }
        int waiters = queue.size();
        BackendProbe releasing = holder;
        for (int i = 0; i < waiters; i++) {
            releasing.release(held);
            BackendProbe client = clients.get(i % 2);
            Request first = queue.remove();
            if (!queue.isEmpty()) {
                // Who is last would be granted if it were the only one whose place is known.
                overtakes(t, begun, clients.get((waiters - 1) % 2), queue.getLast(), i, queue.size());
                overtakes(t, begun, clients.get((i + 1) % 2), queue.getFirst(), i, 1);
            }
            held = client.grantedInTime(
                    first,
                    "of " + waiters + " that waited the one that had asked as number " + (i + 1)
                            + " was not granted when all before it had been, and the lock was free");
            releasing = client;
        }
        releasing.release(held);
    }

    @Check(rules = "LK-310", needs = Feature.FIFO)
    @Hint("What does an attempt that does not queue do to the queue?")
    void whoDoesNotWaitLeavesTheQueueAsItIs(CheckContext t) throws Exception {
        BackendProbe holder = t.probe("holder");
        BackendProbe one = t.probe("one");
        BackendProbe two = t.probe("two");
        long begun = t.now();
        Grant held = holder.take(t.name(), t.longer(16));
        Request first = one.request(t.name(), t.longer(16));
        Request second = two.request(t.name(), t.longer(16));
        t.expect(!one.isGranted(first) && !two.isGranted(second), DOUBLE);
        t.expect(!two.isGranted(two.passing(held.key(), t.longer(16))), DOUBLE);
        holder.release(held);
        overtakes(t, begun, two, second, 0, 1);
        one.release(one.grantedInTime(first, "the first in the queue was not granted, and the lock is free"));
        two.withdraw(second);
    }

    @Check(rules = "LK-310 LK-701", needs = Feature.FIFO)
    @Hint("Does a release end one grant, or all that its client has in the queue too?")
    void aReleaseLeavesTheWaitersOfItsClient(CheckContext t) throws Exception {
        BackendProbe holder = t.probe("holder");
        BackendProbe other = t.probe("other");
        long begun = t.now();
        Grant held = holder.take(t.name(), t.longer(16));
        Request own = holder.request(t.name(), t.longer(16));
        Request second = other.request(t.name(), t.longer(16));
        t.expect(!holder.isGranted(own) && !other.isGranted(second), DOUBLE);
        holder.release(held);
        overtakes(t, begun, other, second, 0, 1);
        holder.release(holder.grantedInTime(own, "the first in the queue was not granted, and the lock is free"));
        other.withdraw(second);
    }

    @Check(
            rules = "LK-310 LK-1204",
            needs = {Feature.FIFO, Feature.READ_WRITE, Feature.UPGRADE})
    @Hint("What does the grant of an upgrade do to those that wait?")
    void whoWaitsKeepsItsPlaceOverAnUpgrade(CheckContext t) throws Exception {
        BackendProbe reader = t.probe("reader");
        BackendProbe one = t.probe("one");
        BackendProbe two = t.probe("two");
        long begun = t.now();
        Grant read = reader.take(t.name(), LockMode.SHARED, t.longer(16));
        Request first = one.request(t.name(), t.longer(16));
        Request second = two.request(t.name(), t.longer(16));
        t.expect(!one.isGranted(first) && !two.isGranted(second), "a writer was granted beside a reader");
        if (!(reader.convert(read, reader.request(t.name(), t.longer(16))) instanceof Attempt.Granted upgraded)) {
            throw t.failure("the only reader was not made the writer");
        }
        reader.release(upgraded.grant());
        overtakes(t, begun, two, second, 0, 1);
        one.release(one.grantedInTime(first, "the first in the queue was not granted, and the lock is free"));
        two.withdraw(second);
    }

    private static void overtakes(
            CheckContext t, long begun, BackendProbe client, Request request, int served, int before) throws Exception {
        boolean granted = client.isGranted(request);
        String seen = "after " + served + " of those that waited had been served the lock came free, and it was "
                + "granted to one that had " + before + " before it in the queue, all alive, because it asked before "
                + "them";
        boolean alive = t.now() - begun < t.longer(16).toNanos() / 2;
        t.never(granted && alive, seen);
        t.expect(!granted, seen);
    }

    @Check(rules = "LK-310 LK-510", needs = Feature.FIFO, requires = Requirement.WIRE)
    @Hint("Is the place of a waiter tied to a connection of its client, at the server or at the client?")
    void aWaiterWhoseConnectionBreaksKeepsItsPlace(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        ClientLink link = t.link("first");
        Lease held = holder.lock(t.name()).acquire();
        Task<Lease> first = t.acquiring("the first waiter", link.client(), t.name());
        t.untilWaiting(holder, t.name(), 1);
        Task<Lease> second = t.acquiring("the second waiter", t.client("second"), t.name());
        t.untilWaiting(holder, t.name(), 2);
        if (!link.reset()) {
            throw t.skipped(Verdict.NOT_RUN, "the subject's links cannot break so that both sides notice");
        }
        // A server may find out only when it next sends something.
        t.pass(t.ttl(3, 4));
        held.release();
        t.until("one of two that wait is granted", () -> first.isDone() || second.isDone());
        t.expect(
                first.isDone(),
                "the connection of the first in the queue broke and stood again, and one that had asked later was "
                        + "granted before it");
        first.get().release();
        second.get().release();
    }
}
