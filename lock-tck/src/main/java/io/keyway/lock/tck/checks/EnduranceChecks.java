// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockOptions;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.check.BackendProbe;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/** Rules 301, 310, 502, 506, 1202, 1205 and 1502 where a store does well for a while, or for a few. */
final class EnduranceChecks {
    /** In virtual time an age costs nothing. */
    private static Duration time(CheckContext t, int smoke, int quick, int full) {
        return t.isVirtual() ? Duration.ofMinutes(1) : Duration.ofSeconds(t.rounds(smoke, quick, full));
    }

    @Check(rules = "LK-502 LK-301")
    @Hint("Does anything take a lock from a holder that renews, for the sake of one that has waited for long?")
    void aHolderIsNotOustedByOneThatWaitsForLong(CheckContext t) throws Exception {
        Lease held = t.client("holder").lock(t.name()).acquire();
        Task<Lease> waits = t.acquiring("a waiter's acquire", t.client("waiter"), t.name());
        Duration all = time(t, 4, 8, 30);
        for (int i = 0; i < 20; i++) {
            t.pass(all.dividedBy(20));
            t.neverWhile(
                    held,
                    waits.isDone(),
                    "a holder renews its lease, and one that had waited for it was granted the lock");
        }
        held.release();
        waits.get().release();
    }

    @Check(rules = "LK-506 LK-502")
    @Hint("Is there a number of renewals, or an age, after which a grant is not renewed?")
    void aGrantIsRenewedHoweverOften(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("renews");
        Grant grant = probe.take(t.name(), t.longer(8));
        int times = t.rounds(100, 300, 300);
        for (int i = 1; i <= times; i++) {
            t.expectEqual(
                    "the answer to renewal " + i + " of a grant that nobody has ended",
                    List.of(Answer.DONE),
                    probe.renew(grant));
        }
        t.expectTaken(t.client("rival"), "a grant was renewed " + times + " times, and its lock is free");
        probe.release(grant);
    }

    @Check(rules = "LK-310 LK-410", needs = Feature.FIFO)
    @Hint("Is a waiter's place kept for its ttl from each attempt, and recheckWithin no longer than that, also for a "
            + "ttl of many seconds?")
    void waitersWithALongTtlKeepTheirPlaces(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockOptions longer = LockOptions.none().withTtl(t.longer(8));
        Lease held = holder.lock(t.name()).with(longer).acquire();
        List<Integer> order = new CopyOnWriteArrayList<>();
        List<Task<Boolean>> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            int number = i;
            LockClient client = t.client("waiter-" + i);
            waiting.add(t.start("the acquire of waiter " + i, () -> {
                try (Lease lease = client.lock(t.name()).with(longer).acquire()) {
                    return order.add(number);
                }
            }));
            t.untilWaiting(holder, t.name(), waiting.size());
            t.pass(t.ttl(1, 6));
        }
        t.pass(time(t, 1, 3, 8).dividedBy(t.isVirtual() ? 2 : 1));
        held.release();
        t.join(waiting);
        t.expectEqual(
                "the order of grants of five that waited for long with a ttl of " + text(t.longer(8)),
                List.of(0, 1, 2, 3, 4),
                order);
    }

    @Check(rules = "LK-1202", needs = Feature.READ_WRITE)
    @Hint("How many readers can hold a lock at once?")
    void aCrowdReadsTogether(CheckContext t) throws Exception {
        List<BackendProbe> clients = List.of(t.probe("one"), t.probe("two"));
        LockClient writer = t.client("writer");
        int readers = t.rounds(20, 40, 100);
        long sent = t.now();
        List<Grant> all = new ArrayList<>();
        for (int i = 0; i < readers; i++) {
            BackendProbe client = clients.get(i % 2);
            all.add(client.granted(
                    client.request(t.name(), LockMode.SHARED, t.longer(16)),
                    "a reader was refused while only readers held the lock, " + i + " of them"));
        }
        for (int i = readers - 1; i > 0; i--) {
            clients.get(i % 2).release(all.get(i));
        }
        t.neverWithin(
                sent,
                t.longer(16),
                writer.lock(t.name()).tryAcquire().isPresent(),
                "all but the first of " + readers + " readers have left, and a writer was admitted");
        clients.get(0).release(all.get(0));
        t.expectFreeSoon(writer, t.name(), "all of " + readers + " readers have left, and a writer is refused");
    }

    @Check(rules = "LK-1502 LK-1402")
    @Hint("How many withdrawn requests does the store remember, or its client?")
    void aWithdrawalIsRememberedBesideManyOthers(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("asker");
        Request overtaken = probe.request(t.name(), t.longer(8));
        probe.withdraw(overtaken);
        int others = t.rounds(100, 300, 300);
        for (int i = 0; i < others; i++) {
            probe.withdraw(probe.request(t.name("other"), t.longer(8)));
        }
        t.never(
                probe.isGranted(overtaken),
                "a request was granted after its withdrawal, when " + others
                        + " others had been withdrawn since: nobody would know of that grant, nor end it");
    }

    @Check(
            rules = "LK-1205 LK-506",
            needs = {Feature.READ_WRITE, Feature.UPGRADE})
    @Hint("Is a read grant whose upgrade waits renewed as before, at the client and at the store?")
    void aReaderThatWaitsForItsUpgradeForLongStaysAReader(CheckContext t) throws Exception {
        LockClient client = t.client("waits");
        LockClient other = t.client("other");
        LockClient writer = t.client("writer");
        DistributedReadWriteLock lock = client.readWriteLock(t.name());
        Lease read = lock.read().acquire();
        Lease beside = other.readWriteLock(t.name()).read().acquire();
        Task<Optional<Lease>> upgrade = t.start(
                "an upgrade that waits",
                () -> lock.tryUpgrade(read, t.patience().multipliedBy(2)));
        t.pass(t.ttl(5, 2));
        t.expect(read.isHeld(), "a reader waited for its upgrade for 5/2 ttl, and its read lease was lost");
        t.expect(!upgrade.isDone(), "an upgrade beside another reader is over, and its time is not");
        t.expectTaken(writer, "a writer was admitted beside two readers");
        beside.release();
        Lease upgraded = t.expectGranted(
                upgrade.get(),
                "a reader waited for its upgrade for 5/2 ttl, the other reader left, and the upgrade was refused");
        upgraded.release();
    }
}
