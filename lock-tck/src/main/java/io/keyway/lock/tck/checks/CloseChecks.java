// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Capacity;
import io.keyway.lock.ClientClosedException;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockOptions;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.ClientLink;
import io.keyway.lock.tck.check.Events;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Chapter 1000: the end of a client. */
final class CloseChecks {
    @Check(rules = "LK-1002 LK-1001", from = Profile.SMOKE)
    @Hint("Does every method look whether the client is closed, also those of locks that were made before?")
    void everyCallAfterCloseIsRefused(CheckContext t) throws Exception {
        LockClient client = t.client("closed");
        DistributedLock lock = client.lock(t.name());
        Map<String, Callable<Object>> calls = new LinkedHashMap<>();
        calls.put("lock()", () -> client.lock(t.name()).tryAcquire());
        calls.put("acquire()", lock::acquire);
        calls.put("tryAcquire()", lock::tryAcquire);
        calls.put("tryAcquire(wait)", () -> lock.tryAcquire(t.ttl()));
        calls.put("acquireAsync()", () -> lock.acquireAsync().get());
        calls.put("tryAcquireAsync(wait)", () -> lock.tryAcquireAsync(t.ttl()).get());
        calls.put("callLocked()", () -> lock.callLocked(lease -> "ran"));
        calls.put("tryRunLocked()", () -> lock.tryRunLocked(t.ttl(), lease -> {}));
        calls.put("addListener()", () -> client.addListener(event -> {}));
        if (t.has(Feature.READ_WRITE)) {
            calls.put(
                    "readWriteLock()",
                    () -> client.readWriteLock(t.name()).read().tryAcquire());
        }
        if (t.has(Feature.SEMAPHORE)) {
            DistributedSemaphore semaphore = client.semaphore(t.name(), Capacity.of(2));
            calls.put("semaphore.acquire()", semaphore::acquire);
            calls.put("semaphore.tryAcquire()", semaphore::tryAcquire);
            calls.put("availablePermits()", semaphore::availablePermits);
        }
        if (t.has(Feature.LIST)) {
            calls.put("admin().show()", () -> client.admin().show(t.key(t.name())));
            calls.put("admin().list()", () -> client.admin().list(t.prefix(), Optional.empty(), 10));
        }
        lock.acquire().release();
        String name = client.name();
        client.close();
        for (Map.Entry<String, Callable<Object>> call : calls.entrySet()) {
            Task<Object> task = t.start(call.getKey() + " of a closed client", call.getValue());
            Throwable thrown = task.outcome()
                    .map(e -> e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e)
                    .orElseThrow(() -> t.failure(call.getKey() + " of a closed client returned"));
            t.expectType(call.getKey() + " of a closed client", ClientClosedException.class, thrown);
        }
        t.expectEqual("name() of a closed client", name, client.name());
        client.close();
        t.expectFree(t.client("other"), "calls of a closed client were refused, and the lock is taken");
    }

    @Check(rules = "LK-1002 LK-1001", from = Profile.SMOKE)
    @Hint("Who ends the requests that wait when the client is closed?")
    void closeEndsEveryWaiter(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient client = t.client("closed");
        DistributedLock lock = client.lock(t.name());
        Lease held = holder.lock(t.name()).acquire();
        List<Task<?>> waiters = List.of(
                t.start("an acquire", lock::acquire),
                t.start("a wait", () -> lock.tryAcquire(t.patience().multipliedBy(3))),
                t.start("the work of callLocked", () -> lock.callLocked(lease -> "ran")));
        CompletableFuture<Lease> future = lock.acquireAsync();
        t.untilWaiting(holder, t.name(), 1);
        t.pass(t.ttl(1, 8));
        client.close();
        for (Task<?> waiter : waiters) {
            Throwable thrown = waiter.outcome()
                    .orElseThrow(
                            () -> t.failure("a request of a closed client returned, though another holds the lock"));
            t.expectType("a request that waits when its client is closed", ClientClosedException.class, thrown);
        }
        t.until("the future of a closed client is completed", future::isDone);
        Throwable thrown =
                t.expectThrows("the future of a closed client", ExecutionException.class, () -> future.get());
        t.expectType(
                "the future of a closed client",
                ClientClosedException.class,
                thrown.getCause() == null ? thrown : thrown.getCause());
        t.expect(held.isHeld(), "a client that waited was closed, and that ended the holder's lease");
        if (t.has(Feature.LIST)) {
            t.until(
                    "no request of the closed client waits",
                    () -> t.status(holder, t.key(t.name())).waiters().isEmpty());
        }
        held.release();
        Optional<Lease> next = holder.lock(t.name()).tryAcquire();
        t.expect(
                next.isPresent()
                        || t.happens(
                                t.ttl(1, 2),
                                () -> holder.lock(t.name()).tryAcquire().isPresent()),
                "the requests of a closed client were ended, and one of them has got the lock");
    }

    @Check(rules = "LK-1001 LK-1002 LK-801", requires = Requirement.LINK)
    @Hint("Does a step of close() that fails, as at a store that is not heard, keep it from the others?")
    void closeEndsAllThoughTheStoreIsNotHeard(CheckContext t) throws Exception {
        Duration limit = t.isVirtual() ? Duration.ofMillis(50) : t.ttl();
        ClientLink link = t.link("closed", ClientOptions.defaults().with(CommonOptions.CLOSE_TIMEOUT, limit));
        LockClient client = link.client();
        LockClient holder = t.client("holder");
        Lease held = holder.lock(t.name()).acquire();
        Lease own = client.lock(t.name("own")).acquire();
        Task<Lease> waits = t.acquiring("an acquire", client, t.name());
        t.untilWaiting(holder, t.name(), 1);
        link.cut();
        Optional<Throwable> tried = t.start(
                        "an attempt", () -> client.lock(t.name("other")).tryAcquire())
                .outcome();
        t.expect(tried.isPresent(), "an attempt over a link that is cut returned");
        CompletableFuture<Lease> future = client.lock(t.name("third")).acquireAsync();
        client.close();
        for (Task<Lease> waiter : List.of(waits, t.start("a future", future::join))) {
            Throwable thrown = waiter.outcome()
                    .orElseThrow(() -> t.failure("a request of a closed client that is cut off returned"));
            t.expectType(
                    "a request that waits when its client, cut off, is closed",
                    ClientClosedException.class,
                    thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown);
        }
        if (own.state() == Lease.State.LOST) {
            // On a busy machine it may have ended before.
            LeaseLoss.Cause cause = t.lossOf(own).cause();
            t.expect(
                    cause == LeaseLoss.Cause.CLIENT_CLOSED || cause == LeaseLoss.Cause.EXPIRED,
                    "the cause of the loss is " + cause);
        }
        t.expect(!own.isHeld(), "a lease of a closed client says that it is held");
        held.release();
    }

    @Check(rules = "LK-314", requires = Requirement.LINK)
    @Hint("Does an asynchronous acquire throw what it should fail its future with?")
    void anAsynchronousAcquireFailsByItsFuture(CheckContext t) throws Exception {
        ClientLink link =
                t.link("cut", ClientOptions.defaults().with(CommonOptions.CLOSE_TIMEOUT, Duration.ofMillis(50)));
        link.client().lock(t.name()).acquire().release();
        // Not the same one again: a client that caches it need ask nobody.
        DistributedLock lock = link.client().lock(t.name("other"));
        link.cut();
        t.start("an attempt", () -> lock.tryAcquire()).outcome();
        CompletableFuture<Optional<Lease>> tries = returned(t, () -> lock.tryAcquireAsync(Duration.ZERO));
        t.until("an attempt over a link that is cut ends", tries::isDone);
        t.expect(tries.isCompletedExceptionally(), "an attempt over a link that is cut came to " + tries);
        CompletableFuture<Lease> waits = returned(t, lock::acquireAsync);
        link.client().close();
        t.until("the future of a closed client is completed", waits::isDone);
        CompletableFuture<Lease> late = returned(t, lock::acquireAsync);
        t.expect(late.isCompletedExceptionally(), "an acquireAsync() of a closed client came to " + late);
    }

    private static <T> CompletableFuture<T> returned(CheckContext t, Callable<CompletableFuture<T>> call) {
        try {
            return call.call();
        } catch (Exception e) {
            throw t.failure("an asynchronous acquire threw " + e + " instead of failing its future");
        }
    }

    @Check(rules = "LK-1003 LK-801 LK-802", from = Profile.SMOKE)
    @Hint("In which order does close() end belief, tell the loss, and send the release?")
    void closeTellsHoldersBeforeOthersAreGranted(CheckContext t) throws Exception {
        LockClient client = t.client("closed");
        LockClient rival = t.client("rival");
        Events events = t.events(client);
        Lease lease = client.lock(t.name()).acquire();
        Lease once = client.lock(t.name("once")).with(t.unrenewed()).acquire();
        AtomicInteger told = new AtomicInteger();
        lease.lost().thenAccept(loss -> told.incrementAndGet());
        Task<String> next = t.start("the rival's acquire", () -> {
            Lease got = rival.lock(t.name()).acquire();
            String seen = (lease.isHeld() ? "believed to be held" : "")
                    + (told.get() == 0 ? " not told by lost()" : "")
                    + (events.count(t.name(), LockEvent.Type.LOST) == 0 ? " not told to listeners" : "");
            got.release();
            return seen;
        });
        t.untilWaiting(rival, t.name(), 1);
        client.close();
        t.expect(!lease.isHeld() && !once.isHeld(), "a lease of a closed client says that it is held");
        t.expectEqual("the state after close", Lease.State.LOST, lease.state());
        t.expectEqual("remaining() after close", Duration.ZERO, lease.remaining());
        boolean prompt = t.happens(t.ttl(1, 2), next::isDone);
        t.expectEqual("what was missing when another client was granted the lock", "", next.get());
        t.expect(prompt || !t.has(Feature.WAKE_UP), "close() did not release: the lock came free only by expiry");
        t.pass(t.ttl(1, 4));
        t.expectEqual("the number of times that lost() told the loss", 1, told.get());
        for (Lease ended : List.of(lease, once)) {
            t.expectLoss(LeaseLoss.Cause.CLIENT_CLOSED, ended);
            t.expectEqual("the release after close", ReleaseOutcome.ALREADY_LOST, ended.release());
            LeaseLostException thrown =
                    t.expectThrows("ensureHeld() after close", LeaseLostException.class, ended::ensureHeld);
            t.expectEqual(
                    "the cause", LeaseLoss.Cause.CLIENT_CLOSED, thrown.loss().cause());
        }
        t.expectEqual("the number of LOST events", 1L, events.count(t.name(), LockEvent.Type.LOST));
    }

    @Check(rules = "LK-1003 LK-1005", from = Profile.SMOKE, limits = 2)
    @Hint("Does close() send the releases of all its leases, or leave them to expire?")
    void closeGivesBackEverything(CheckContext t) throws Exception {
        LockClient client = t.client("closed");
        LockClient next = t.client("next");
        int locks = t.rounds(10, 50, 300);
        for (int i = 0; i < locks; i++) {
            client.lock(t.name("n" + i)).acquire();
        }
        if (t.has(Feature.SEMAPHORE)) {
            client.semaphore(t.name(), Capacity.of(3)).acquire(3);
        }
        client.close();
        for (int i = 0; i < locks; i++) {
            String name = t.name("n" + i);
            t.comesFree(
                    t.ttl(1, 2),
                    next,
                    name,
                    "half a ttl after its holder's client was closed, lock " + (i + 1) + " of " + locks
                            + " is not free");
        }
        if (t.has(Feature.SEMAPHORE)) {
            DistributedSemaphore permits = next.semaphore(t.name(), Capacity.of(3));
            t.expectWithin(
                    t.ttl(1, 2),
                    "half a ttl after their holder's client was closed, permits have not come back",
                    () -> permits.tryAcquire(3).isPresent());
        }
    }

    @Check(rules = "LK-1001", from = Profile.SMOKE)
    @Hint("What does a second close() wait for, or a close() of a client that never connected?")
    void closeIsIdempotent(CheckContext t) throws Exception {
        LockClient unused = t.client("unused");
        unused.close();
        unused.close();
        LockClient client = t.client("closed");
        LockClient next = t.client("next");
        client.lock(t.name()).acquire();
        List<Task<Boolean>> closers = List.of(close(t, client), close(t, client), close(t, client));
        t.join(closers);
        client.close();
        t.comesFree(
                t.ttl(1, 2),
                next,
                t.name(),
                "a client was closed by three threads at once, and the lock that it held is not free");
    }

    private static Task<Boolean> close(CheckContext t, LockClient client) {
        return t.start("close()", () -> client.close());
    }

    @Check(rules = "LK-1004 LK-902", from = Profile.SMOKE)
    @Hint("What can still call a listener, or complete a future, after close() has returned?")
    void nothingIsToldAfterClose(CheckContext t) throws Exception {
        LockClient client = t.client("closed");
        LockClient rival = t.client("rival");
        Lease elsewhere = rival.lock(t.name("elsewhere")).acquire();
        AtomicInteger told = new AtomicInteger();
        client.addListener(event -> told.incrementAndGet());
        client.lock(t.name())
                .with(LockOptions.none().withWarnAfter(t.ttl(1, 2)))
                .acquire();
        client.lock(t.name("once")).with(t.unrenewed()).acquire();
        CompletableFuture<Lease> waits = client.lock(t.name("elsewhere")).acquireAsync();
        t.pass(t.ttl(1, 8));
        client.close();
        t.expect(!waits.isDone() || waits.isCompletedExceptionally(), "a lock that another client holds was granted");
        int before = told.get();
        elsewhere.release();
        t.pass(t.ttl(3, 2));
        t.expectEqual(
                "the number of events that a listener was told after close() had returned", 0, told.get() - before);
    }

    @Check(rules = "LK-1001")
    @Hint("Does close() join the thread that it is called on?")
    void aListenerMayCloseItsClient(CheckContext t) throws Exception {
        LockClient client = t.client("closed");
        AtomicBoolean closed = new AtomicBoolean();
        client.addListener(event -> {
            if (event.type() == LockEvent.Type.GRANTED) {
                client.close();
                closed.set(true);
            }
        });
        Task<Lease> taken = t.start(
                "an acquire whose listener closes the client",
                () -> client.lock(t.name()).acquire());
        t.until("close() that a listener calls returns", closed::get);
        taken.outcome();
        t.expectThrows(
                "an attempt after that",
                ClientClosedException.class,
                () -> client.lock(t.name()).tryAcquire());
    }

    @Check(rules = "LK-1001", requires = Requirement.REAL_TIME)
    @Hint("Is there a bound on waiting for the listener that is running?")
    void aListenerThatNeverReturnsDoesNotHoldUpClose(CheckContext t) throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        LockClient next = t.client("next");
        LockClient client = t.client("closed", ClientOptions.defaults().with(CommonOptions.CLOSE_TIMEOUT, t.ttl()));
        client.addListener(event -> {
            boolean ended = false;
            while (!ended) {
                try {
                    end.await();
                    ended = true;
                } catch (InterruptedException e) {
                    // One that takes no notice: the worst there is.
                    ended = end.getCount() == 0;
                }
            }
        });
        try {
            client.lock(t.name()).acquire();
            close(t, client).get();
            t.comesFree(
                    t.ttl(2, 1),
                    next,
                    t.name(),
                    "a listener never returned, and the lock of the closed client did not come free within two ttl");
        } finally {
            end.countDown();
        }
    }

    @Check(rules = "LK-1004", from = Profile.SMOKE)
    @Hint("What is shared between the clients of one JVM, and who closes it?")
    void theCloseOfOneClientLeavesTheOthers(CheckContext t) throws Exception {
        LockClient one = t.client("one");
        LockClient two = t.client("two");
        Lease lease = two.lock(t.name()).acquire();
        one.lock(t.name("one")).acquire();
        one.close();
        t.expect(lease.isHeld(), "a client was closed, and that ended the lease of another");
        two.lock(t.name("more")).acquire().release();
        LockClient again = t.client("one");
        t.expectTaken(again, "a client was closed, and that freed the lock of another");
        t.pass(t.ttl(5, 4));
        t.expect(lease.isHeld(), "after the close of one client another one's lease is not renewed any more");
        Lease reopened = again.lock(t.name("one")).acquire();
        t.expect(
                reopened.isHeld(),
                "a client opened after the close of another of that name got a lease that is not held");
    }
}
