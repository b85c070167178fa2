// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.Scope;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import io.keyway.lock.tck.process.ClientProcess;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** What only a second process shows: rules 301, 302, 408, 410, 502 to 504, 513, 514, 602, 807. */
final class ProcessChecks {
    /** Of a wall clock. */
    private static final Duration WRONG = Duration.ofHours(1);

    @Check(rules = "LK-301 LK-602", requires = Requirement.PROCESS, from = Profile.SMOKE)
    @Hint("Is the lock kept at the store, or in the memory of one process? Say so by LockProvider.scope")
    void twoProcessesExcludeEachOther(CheckContext t) throws Exception {
        ClientProcess remote = t.process("remote");
        LockClient here = t.client("here");
        OptionalLong token = remote.acquire(t.name(), t.patience());
        t.expect(token.isPresent(), "a client in another process was refused a free lock");
        t.expectTaken(here, "another process holds the lock, and a client of this one was given it");
        t.expect(remote.isHeld(t.name()), "the other process does not hold its lease any more");
        t.expectEqual("the outcome of the other process's release", ReleaseOutcome.RELEASED, remote.release(t.name()));
        Lease lease = t.expectGranted(
                here.lock(t.name()).tryAcquire(t.patience()),
                "another process has released the lock, and a client of this one is refused");
        if (t.has(Feature.FENCING)) {
            t.expect(
                    lease.token() > token.orElseThrow(),
                    "token " + lease.token() + " was granted after " + token.orElseThrow() + " of another process");
        }
        t.expect(
                remote.acquire(t.name(), Duration.ZERO).isEmpty(),
                "this process holds the lock, and a client of another one was given it");
    }

    @Check(rules = "LK-513 LK-502", requires = Requirement.PROCESS, from = Profile.SMOKE)
    @Hint("Does the store end a grant by itself when its ttl has passed, and not when a connection breaks?")
    void theLockOfAKilledProcessIsFreeAfterItsTtlAndNotBefore(CheckContext t) throws Exception {
        ClientProcess remote = t.process("remote");
        LockClient here = t.client("here");
        t.expect(
                remote.acquire(t.name(), t.patience()).isPresent(),
                "a client in another process was refused a free lock");
        // It believes at some instant after this reading, and the authority keeps a grant for a quarter of its ttl
        // longer.
        long heldAt = t.now();
        t.expect(remote.isHeld(t.name()), "the other process does not hold its lease");
        remote.jvm().kill9();
        Task<Lease> waits = t.acquiring("an acquire after the holder was killed", here, t.name());
        Lease lease = waits.get();
        long waited = t.now() - heldAt;
        if (t.reach() == Scope.NETWORK && t.guarantees().exclusion().grade() != Grade.NO) {
            long least = t.ttl(1, 4).toNanos();
            t.expect(
                    waited >= least,
                    "the lock of a process that was killed was given away " + waited / 1_000_000
                            + " ms after it was held: earlier than " + least / 1_000_000
                            + " ms, when its ttl may have ended at the earliest");
        }
        t.note("the lock of a killed process was free after " + waited / 1_000_000 + " ms, its ttl being "
                + t.ttl().toMillis() + " ms");
        t.expect(lease.isHeld(), "the lease granted after the holder's death is not held");
    }

    @Check(rules = "LK-514 LK-502 LK-301", requires = Requirement.WALL_CLOCK, limits = 3)
    @Hint("Whose clock says when a grant ends? A client's wall clock may be wrong by hours: use the store's own, or a "
            + "term that the store itself counts")
    void aWallClockThatIsWrongEndsNoGrant(CheckContext t) throws Exception {
        LockClient here = t.client("here");
        for (Duration ahead : List.of(WRONG, WRONG.negated())) {
            String which = "a process whose wall clock is an hour " + (ahead.isNegative() ? "behind" : "ahead");
            ClientProcess remote = t.process(ahead.isNegative() ? "behind" : "ahead", ahead);
            Lease held = here.lock(t.freshName()).acquire();
            String name = held.name().value();
            t.neverWhile(held, remote.acquire(name, Duration.ZERO).isPresent(), which + " took a lock that is held");
            t.expectEqual("the outcome of the release", ReleaseOutcome.RELEASED, held.release());
            t.expect(remote.acquire(name, t.patience()).isPresent(), which + " is refused a lock that was released");
            boolean taken = here.lock(name).tryAcquire().isPresent();
            t.expect(!(taken && remote.isHeld(name)), "a lock that " + which + " holds was taken from it");
            t.expectEqual("the outcome of its release", ReleaseOutcome.RELEASED, remote.release(name));
            // A crash: the store ends the grant by what its client had said.
            String left = t.freshName();
            long sent = t.now();
            t.expect(remote.acquire(left, t.patience()).isPresent(), which + " was refused a free lock");
            remote.jvm().kill9();
            Task<Lease> next = t.acquiring("the acquire of what " + which + " left", here, left);
            next.get().release();
            t.expect(
                    t.now() - sent < t.patience().toNanos(),
                    "the lock of " + which + " was free only " + text(Duration.ofNanos(t.now() - sent))
                            + " after it was acquired, its ttl being " + text(t.ttl()));
        }
    }

    @Check(rules = "LK-602", requires = Requirement.WALL_CLOCK, needs = Feature.FENCING, limits = 3)
    @Hint("Do tokens come from a clock of the client? Have the store count them")
    void aWallClockThatIsWrongLowersNoToken(CheckContext t) throws Exception {
        LockClient here = t.client("here");
        ClientProcess ahead = t.process("ahead", WRONG);
        ClientProcess behind = t.process("behind", WRONG.negated());
        long last = Long.MIN_VALUE;
        String before = "";
        for (int i = 0; i < 2; i++) {
            for (ClientProcess remote : List.of(ahead, behind)) {
                long token = remote.acquire(t.name(), t.patience()).orElseThrow();
                remote.release(t.name());
                String which = remote == ahead ? "an hour ahead" : "an hour behind";
                rises(t, last, before, token, which);
                Lease lease = t.acquired("an acquire with the right wall clock", here, t.name());
                lease.release();
                rises(t, token, which, lease.token(), "right");
                last = lease.token();
                before = "right";
            }
        }
    }

    private static void rises(CheckContext t, long before, String former, long token, String latter) {
        t.never(
                token <= before,
                "token " + token + " was granted to a client whose wall clock is " + latter + ", after token " + before
                        + " to one whose wall clock is " + former);
    }

    @Check(rules = "LK-410 LK-408", requires = Requirement.PROCESS, needs = Feature.LIST)
    @Hint("Does a waiter leave the queue when nothing is heard of it for its ttl?")
    void aWaiterThatWasKilledStopsNobody(CheckContext t) throws Exception {
        ClientProcess remote = t.process("remote");
        LockClient here = t.client("here");
        Lease held = here.lock(t.name()).acquire();
        Thread waiting = new Thread(
                () -> {
                    try {
                        remote.acquire(t.name(), Duration.ofMinutes(2));
                    } catch (InterruptedException | RuntimeException | AssertionError e) {
                        // It is killed while it waits.
                    }
                },
                "tck-remote-waiter");
        waiting.setDaemon(true);
        waiting.start();
        t.untilWaiting(here, t.name(), 1);
        LockClient behind = t.client("behind");
        Task<Lease> next = t.acquiring("the acquire behind a waiter that was killed", behind, t.name());
        t.untilWaiting(here, t.name(), 2);
        // It has asked again by then, more than once.
        t.pass(t.ttl());
        remote.jvm().kill9();
        // A queue may show the dead one for as long as its authority keeps a silent client, which is up to maxTtl.
        t.pass(t.ttl());
        held.release();
        next.get().release();
    }

    @Check(rules = "LK-503 LK-807 LK-302", requires = Requirement.PROCESS, from = Profile.SMOKE)
    @Hint("Is isHeld() computed from the clock at each call, or a flag that a timer sets?")
    void aProcessThatStoodStillKnowsAtItsFirstQuestion(CheckContext t) throws Exception {
        ClientProcess remote = t.process("remote");
        LockClient here = t.client("here");
        t.expect(
                remote.acquire(t.name(), t.patience()).isPresent(),
                "a client in another process was refused a free lock");
        remote.jvm().stop();
        Lease lease;
        try {
            Task<Lease> waits = t.acquiring("an acquire while the holder stands still", here, t.name());
            lease = waits.get();
            t.pass(t.ttl());
        } finally {
            remote.jvm().cont();
        }
        t.expect(
                !remote.isHeld(t.name()),
                "a process that stood still for more than its ttl, and whose lock went to another, answered at its "
                        + "first question that it holds it");
        t.expect(lease.isHeld(), "the lease of the next holder ended when the former one went on");
        Optional<LeaseLoss.Cause> cause = remote.loss(t.name(), t.patience());
        t.expect(cause.isPresent(), "the process that stood still was not told of its loss");
        t.expectEqual("the outcome of its release", ReleaseOutcome.ALREADY_LOST, remote.release(t.name()));
        t.expect(lease.isHeld(), "the release of a lease that was lost has ended the next holder's");
    }

    @Check(rules = "LK-513 LK-504", requires = Requirement.PROCESS)
    @Hint("Does a connection that ends orderly, with the process, end its grants too early or too late?")
    void aProcessThatEndsLeavesNothing(CheckContext t) throws Exception {
        LockClient here = t.client("here");
        for (int i = 0; i < t.rounds(1, 1, 3); i++) {
            String name = t.freshName();
            ClientProcess remote = t.process("remote-" + i);
            t.expect(
                    remote.acquire(name, t.patience()).isPresent(),
                    "a client in another process was refused a free lock");
            remote.close();
            Task<Lease> waits = t.acquiring("an acquire after the holder has ended", here, name);
            waits.get().release();
            if (t.has(Feature.LIST)) {
                t.until(
                        "nothing of the dead process is shown",
                        () -> here.admin().show(t.key(name)).isEmpty());
            }
        }
    }
}
