// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.ClientLink;
import io.keyway.lock.tck.check.Events;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Rules 901 to 906: listeners and events. */
final class EventChecks {
    /** Has no stack: it is thrown often, and logged. */
    private static final class ThrownOnPurpose extends RuntimeException {
        private static final long serialVersionUID = 1L;

        ThrownOnPurpose() {
            super("a listener of the TCK threw this on purpose", null, false, false);
        }
    }

    @Check(rules = "LK-902", from = Profile.SMOKE)
    @Hint("Are events handed to one queue at the moment of what they tell, and delivered by one thread at a time?")
    void theEventsOfALeaseComeInTheirOrder(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient waiter = t.client("waiter");
        Events events = t.events(waiter);
        Lease held = holder.lock(t.name()).acquire();
        Task<Lease> waiting = t.acquiring("the waiter's acquire", waiter, t.name());
        t.until("the waiter's listener is told WAITING", () -> events.count(t.name(), LockEvent.Type.WAITING) > 0);
        held.release();
        Lease lease = waiting.get();
        lease.release();
        t.until("the waiter's listener is told RELEASED", () -> events.count(t.name(), LockEvent.Type.RELEASED) > 0);
        List<LockEvent.Type> told = events.of(t.name()).stream()
                .filter(type -> type != LockEvent.Type.WAITING)
                .toList();
        t.expectEqual("the events after WAITING", List.of(LockEvent.Type.GRANTED, LockEvent.Type.RELEASED), told);
        t.expectEqual(
                "the first event", LockEvent.Type.WAITING, events.of(t.name()).get(0));
        LockEvent granted = events.all().stream()
                .filter(event -> event.type() == LockEvent.Type.GRANTED)
                .findFirst()
                .orElseThrow();
        t.expectEqual("the token of the event GRANTED", OptionalLong.of(lease.token()), granted.token());
    }

    @Check(rules = "LK-902 LK-906", from = Profile.SMOKE)
    @Hint("Is a loss told to listeners once, by whichever way it was found?")
    void aLossIsToldToListenersOnce(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        Events events = t.events(client);
        Lease lease = client.lock(t.name()).with(t.unrenewed()).acquire();
        t.until("the lease is lost", () -> lease.state() == Lease.State.LOST);
        t.until("the loss is told to the listener", () -> events.count(t.name(), LockEvent.Type.LOST) > 0);
        t.pass(t.ttl());
        lease.release();
        t.pass(t.ttl(1, 4));
        t.expectEqual("how often LOST was told", 1L, events.count(t.name(), LockEvent.Type.LOST));
        t.expectEqual(
                "how often RELEASED was told of a lost lease", 0L, events.count(t.name(), LockEvent.Type.RELEASED));
    }

    @Check(rules = "LK-901", requires = Requirement.REAL_TIME)
    @Hint("Which thread calls listeners: one that renews, or reads from the store?")
    void aListenerThatBlocksCostsNoLease(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        CountDownLatch block = new CountDownLatch(1);
        try {
            client.addListener(event -> {
                try {
                    block.await(60, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            Task<Lease> acquire = t.acquiring("an acquire while a listener blocks", client, t.name());
            Lease lease = acquire.get();
            t.pass(t.ttl(3, 2));
            t.expect(lease.isHeld(), "a lease was lost while a listener blocked for 3/2 ttl");
            Task<?> release = t.start("a release while a listener blocks", () -> lease.release());
            release.get();
        } finally {
            block.countDown();
        }
    }

    @Check(rules = "LK-902 LK-901")
    @Hint("May two threads deliver events of one client at the same time?")
    void eventsAreDeliveredOneAtATime(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger told = new AtomicInteger();
        Set<String> threads = ConcurrentHashMap.newKeySet();
        client.addListener(event -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            threads.add(Thread.currentThread().getName());
            inside.decrementAndGet();
            told.incrementAndGet();
        });
        List<Task<Integer>> users = List.of(use(t, client, "a"), use(t, client, "b"), use(t, client, "c"));
        t.join(users);
        t.until("all 60 grants and releases have been told", () -> told.get() >= 60);
        t.expectEqual("how many events were delivered at once", 1, most.get());
        t.expect(
                threads.stream().noneMatch(name -> name.startsWith("tck-task")),
                "a listener was called by the thread that acquires or releases: " + threads);
    }

    private static Task<Integer> use(CheckContext t, LockClient client, String suffix) {
        return t.start("ten uses of a lock", () -> {
            for (int i = 0; i < 10; i++) {
                client.lock(t.name(suffix)).acquire().release();
            }
            return 10;
        });
    }

    @Check(rules = "LK-904", from = Profile.SMOKE)
    @Hint("Is each call of a listener guarded?")
    void aListenerThatThrowsKeepsNothingFromTheOthers(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        client.addListener(event -> {
            throw new ThrownOnPurpose();
        });
        Events events = t.events(client);
        client.lock(t.name()).acquire().release();
        client.lock(t.name()).acquire().release();
        t.until(
                "the second listener is told of the second release",
                () -> events.count(t.name(), LockEvent.Type.RELEASED) >= 2);
        t.expectEqual("how often GRANTED was told", 2L, events.count(t.name(), LockEvent.Type.GRANTED));
    }

    @Check(rules = "LK-905", from = Profile.SMOKE)
    @Hint("Is the subscription looked at when an event is handed over, rather than when it is queued?")
    void afterItsSubscriptionIsClosedAListenerIsToldNothing(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        Events events = t.events(client);
        Events witness = t.events(client);
        client.lock(t.name()).acquire().release();
        t.until("the listener is told of the first release", () -> events.count(t.name(), LockEvent.Type.RELEASED) > 0);
        events.subscription().close();
        events.subscription().close();
        int told = events.all().size();
        client.lock(t.name()).acquire().release();
        t.until(
                "another listener is told of the second release",
                () -> witness.count(t.name(), LockEvent.Type.RELEASED) >= 2);
        t.expectEqual(
                "how many events a closed subscription was told",
                told,
                events.all().size());
    }

    @Check(rules = "LK-902")
    @Hint("Is the end of a request without a lease told, as its beginning was?")
    void aRequestThatIsGivenUpIsTold(CheckContext t) throws Exception {
        Lease held = t.client("holder").lock(t.name()).acquire();
        LockClient waiter = t.client("waiter");
        Events events = t.events(waiter);
        Task<Optional<Lease>> waits = t.trying("a wait with a limit", waiter, t.name(), t.ttl(1, 2));
        t.expect(waits.get().isEmpty(), "a lock that is held was granted");
        t.until("the waiter's listener is told WITHDRAWN", () -> events.count(t.name(), LockEvent.Type.WITHDRAWN) > 0);
        t.pass(t.ttl(1, 4));
        t.expectEqual(
                "the events of a request that was given up",
                List.of(LockEvent.Type.WAITING, LockEvent.Type.WITHDRAWN),
                events.of(t.name()));
        held.release();
    }

    @Check(rules = "LK-902 LK-509", requires = Requirement.LINK)
    @Hint("Is doubt, and its end, told to listeners when the state changes?")
    void doubtAndItsEndAreTold(CheckContext t) throws Exception {
        ClientLink link = t.link("silent");
        Events events = t.events(link.client());
        Lease lease = link.client().lock(t.name()).acquire();
        link.cut();
        t.until(
                "a listener is told of doubt, or the lease is lost",
                () -> events.count(t.name(), LockEvent.Type.DOUBTFUL) > 0 || !lease.isHeld());
        link.heal();
        t.until(
                "a listener is told that the doubt, or the lease, is over",
                () -> events.count(t.name(), LockEvent.Type.RECOVERED) > 0
                        || events.count(t.name(), LockEvent.Type.LOST) > 0);
        List<LockEvent.Type> told = events.of(t.name());
        t.expectEqual(
                "the first two events of a lease whose holder hears nothing for a while",
                List.of(LockEvent.Type.GRANTED, LockEvent.Type.DOUBTFUL),
                told.subList(0, 2));
    }
}
