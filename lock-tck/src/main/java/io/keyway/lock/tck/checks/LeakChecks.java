// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Network;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** What a client leaves behind, and what it costs: rules 304, 312, 1004, 1006, 1518. */
final class LeakChecks {
    private static final long MEBIBYTE = 1 << 20;
    private static final int REQUESTS = 60;

    @Check(rules = "LK-1004 LK-1006", alone = true, from = Profile.SMOKE)
    @Hint("Which thread pool, timer or connection does close() not end?")
    void afterCloseNoThreadOfTheClientIsLeft(CheckContext t) throws Exception {
        use(t, "warm");
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        for (int i = 0; i < 3; i++) {
            use(t, "c" + i);
        }
        t.until(
                "the threads that three clients started have ended after close(): " + left(before),
                () -> left(before).isEmpty());
    }

    private static void use(CheckContext t, String name) throws InterruptedException {
        LockClient client = t.openUnrecorded(t.url(), ClientOptions.defaults().withName("tck-leak-" + name));
        client.lock(t.name(name)).acquire().release();
        client.lock(t.name(name)).acquire();
        client.close();
    }

    private static Set<String> left(Set<Thread> before) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.isAlive() && !before.contains(thread))
                .map(Thread::getName)
                // The TCK's own, and the JVM's.
                .filter(name ->
                        !name.startsWith("tck-") && !name.startsWith("Attach") && !name.startsWith("process reaper"))
                .collect(Collectors.toSet());
    }

    @Check(rules = "LK-1518", alone = true, requires = Requirement.FOOTPRINT)
    @Hint("What is written for each request, and what takes it away when the request was released or refused?")
    void whatIsOverIsNotKept(CheckContext t) throws Exception {
        TckSubject.Footprint footprint = t.subject().footprint().orElseThrow();
        LockClient one = t.client("one");
        LockClient two = t.client("two");
        // The first requests may make what stays for the name.
        requests(t, one, two, "first", 2);
        // What other checks left may still be on its way out.
        t.happens(t.ttl().multipliedBy(4), () -> {
            long now = count(t, footprint);
            t.pass(t.ttl(1, 4));
            return count(t, footprint) == now;
        });
        long before = count(t, footprint);
        requests(t, one, two, "further", REQUESTS);
        boolean gone = t.happens(t.ttl().multipliedBy(4), () -> count(t, footprint) - before < REQUESTS / 2);
        t.expect(
                gone,
                "the store kept " + before + " things, and after " + 2 * REQUESTS
                        + " further requests for one lock, of which half were granted and released and half refused, "
                        + (keeps(t) ? "and of " + REQUESTS + " names that were each held once and at least, " : "")
                        + count(t, footprint) + ", for 4 ttl");
    }

    /** What the author has given to count with is not the provider. */
    private static long count(CheckContext t, TckSubject.Footprint footprint) throws InterruptedException {
        try {
            return footprint.count();
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            throw t.skipped(Verdict.INCONCLUSIVE, "what the store keeps could not be counted: " + e.getMessage());
        }
    }

    private static boolean keeps(CheckContext t) {
        return t.has(Feature.HOLD_AT_LEAST);
    }

    /** Also for names that are used once, of which something is kept after their release, if the store can do that. */
    private static void requests(CheckContext t, LockClient one, LockClient two, String names, int times)
            throws InterruptedException {
        LockOptions kept = t.terms().withHoldAtLeast(t.ttl(1, 4));
        for (int i = 0; i < times; i++) {
            try (Lease held = one.lock(t.name()).acquire()) {
                boolean given = two.lock(t.name()).tryAcquire().isPresent();
                t.neverWhile(held, given, "a lock that is held was granted again");
            }
            if (keeps(t)) {
                one.lock(t.name(names + i)).with(kept).acquire().release();
            }
        }
    }

    @Check(rules = "LK-304 LK-412", requires = Requirement.PROXY)
    @Hint("Is a connection on which a call ran out of time closed, and the next call made on another?")
    void aConnectionThatIsDeadIsReplaced(CheckContext t) throws Exception {
        Network network = t.network();
        LockClient client = network.client("stranded", ClientOptions.defaults().withRequestTimeout(t.ttl(1, 2)));
        client.lock(t.name("before")).acquire().release();
        network.strand();
        Task<Lease> acquire = t.acquiring(
                "an acquire by a client whose connections are dead, new ones being served", client, t.name());
        acquire.get().release();
        network.heal();
    }

    @Check(rules = "LK-1006", alone = true, requires = Requirement.REAL_TIME, from = Profile.SMOKE)
    @Hint("Do the threads of a client have names that start with keyway-?")
    void theThreadsOfAClientHaveItsName(CheckContext t) throws Exception {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        LockClient client = t.openUnrecorded(t.url(), ClientOptions.defaults().withName("tck-names"));
        try {
            client.lock(t.name()).acquire().release();
            Set<String> strangers = left(before).stream()
                    .filter(name -> !name.startsWith("keyway"))
                    .collect(Collectors.toSet());
            t.never(!strangers.isEmpty(), "threads of a client whose names do not start with keyway-: " + strangers);
        } finally {
            client.close();
        }
    }

    @Check(rules = "LK-1004", alone = true, from = Profile.FULL)
    @Hint("Which map of names, waiters or caches is never cleared?")
    void aMillionNamesLeaveNoMemoryBehind(CheckContext t) throws Exception {
        LockClient client = t.openUnrecorded(t.url(), ClientOptions.defaults().withName("tck-memory"));
        try {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(t.isVirtual() ? 1 : 30);
            int most = t.isVirtual() ? 50_000 : 1_000_000;
            takeAndRelease(t, client, 0, most / 20, end);
            long before = used();
            int names = takeAndRelease(t, client, most / 20, most, end);
            t.pass(t.ttl(5, 1));
            long grown = used() - before;
            t.note(names + " names left " + grown / 1024 + " KiB of heap");
            long allowed = Math.max(16 * MEBIBYTE, 16L * names);
            t.expect(
                    grown < allowed,
                    names + " names were locked and released once, and " + grown / MEBIBYTE
                            + " MiB of heap stayed in use");
        } finally {
            client.close();
        }
    }

    private static int takeAndRelease(CheckContext t, LockClient client, int from, int to, long end)
            throws InterruptedException {
        int done = from;
        while (done < to && System.nanoTime() - end < 0) {
            client.lock(t.name("m" + done)).acquire().release();
            done++;
        }
        return done - from;
    }

    private static long used() throws InterruptedException {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }

    @Check(
            rules = "LK-312",
            requires = {Requirement.VIRTUAL_THREADS, Requirement.REAL_TIME},
            alone = true)
    @Hint("Does a call block while it holds a monitor? A virtual thread then keeps its carrier")
    void manyVirtualThreadsWaitAtOnce(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        int threads = 200;
        List<Task<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            String name = t.name("v" + i % 10);
            all.add(t.startVirtual(
                    "the wait of one of " + threads + " virtual threads",
                    () -> client.lock(name)
                            .tryAcquire(Duration.ofMinutes(1))
                            .map(Lease::release)
                            .isPresent()));
        }
        for (Task<Boolean> task : all) {
            t.expect(task.get(), "one of " + threads + " virtual threads that took turns was refused");
        }
    }

    @Check(rules = "LK-1004", requires = Requirement.PROXY, from = Profile.SMOKE)
    @Hint("Which connection does close() not end: one of a pool, or the one over which the server speaks?")
    void afterCloseNoConnectionOfTheClientIsLeft(CheckContext t) throws Exception {
        Network network = t.network();
        LockClient client = network.client("closed");
        // Several at once, for a pool to grow.
        List<Task<ReleaseOutcome>> users = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            String name = t.name("n" + i);
            users.add(t.start(
                    "a user of the client", () -> client.lock(name).acquire().release()));
        }
        t.join(users);
        client.lock(t.name()).acquire();
        int before = network.connections();
        client.close();
        boolean none = t.happens(t.patience(), () -> network.connections() == 0);
        t.expect(
                none,
                "of " + before + " connections of a client " + network.connections() + " stand " + text(t.patience())
                        + " after its close()");
    }
}
