// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Capacity;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockStatus;
import io.keyway.lock.tck.check.BackendProbe;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.util.List;
import java.util.Map;

/** Rule 1101: holders and waiters are shown as what they asked for, with what they said of themselves. */
final class ShownChecks {
    private static final Map<String, String> JOB = Map.of("job", "nightly", "host", "a-1");
    private static final LockOptions TOLD = LockOptions.none().withMetadata(JOB);

    private static LockStatus.Waiter onlyWaiter(CheckContext t, LockClient by, LockKey key)
            throws InterruptedException {
        t.until(
                "who waits for " + key + " is shown",
                () -> t.status(by, key).waiters().size() == 1);
        return t.status(by, key).waiters().get(0);
    }

    @Check(
            rules = "LK-1101",
            needs = {Feature.LIST, Feature.READ_WRITE})
    @Hint("What of a request is kept with its place in the queue: its mode, its client, its metadata?")
    void aReaderThatWaitsIsShownAsItAsked(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient reader = t.client("reader");
        Lease held = holder.lock(t.name()).acquire();
        Task<Lease> waits = t.start(
                "a reader's acquire",
                () -> reader.readWriteLock(t.name()).read().with(TOLD).acquire());
        LockStatus.Waiter shown = onlyWaiter(t, holder, t.key(t.name()));
        t.expectEqual("the mode shown of a reader that waits", LockMode.SHARED, shown.mode());
        t.expectEqual("the client shown of a reader that waits", reader.name(), shown.client());
        t.expectEqual("the metadata shown of a reader that waits", JOB, shown.metadata());
        held.release();
        waits.get().release();
    }

    @Check(
            rules = "LK-1101",
            needs = {Feature.LIST, Feature.SEMAPHORE})
    @Hint("What of a request is kept with its place in the queue: its mode, its permits, its metadata?")
    void whoWaitsForPermitsIsShownWithThem(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient client = t.client("waits");
        Lease held = holder.semaphore(t.name(), Capacity.of(3)).acquire(2);
        Task<Lease> waits = t.start(
                "the acquire of two permits",
                () -> client.semaphore(t.name(), Capacity.of(3)).with(TOLD).acquire(2));
        LockStatus.Waiter shown = onlyWaiter(t, holder, LockKey.semaphore(LockName.of(t.name())));
        t.expectEqual("the mode shown of who waits for permits", LockMode.PERMITS, shown.mode());
        t.expectEqual("the permits shown of who waits for them", 2, shown.permits());
        t.expectEqual("the metadata shown of who waits for permits", JOB, shown.metadata());
        held.release();
        waits.get().release();
    }

    @Check(
            rules = "LK-1101",
            needs = {Feature.LIST, Feature.READ_WRITE, Feature.UPGRADE})
    @Hint("Does a grant that changes its mode keep what its holder said of itself?")
    void anUpgradedHolderIsShownAsItAsked(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        DistributedReadWriteLock lock = client.readWriteLock(t.name());
        Lease read = lock.read().with(TOLD).acquire();
        Lease write = lock.tryUpgrade(read, t.patience()).orElseThrow();
        List<LockStatus.Holder> holders =
                t.status(t.client("onlooker"), t.key(t.name())).holders();
        t.expectEqual("the number of holders shown after an upgrade", 1, holders.size());
        LockStatus.Holder shown = holders.get(0);
        t.expectEqual("the mode shown after an upgrade", LockMode.EXCLUSIVE, shown.mode());
        t.expectEqual(
                "the token shown after an upgrade", write.token(), shown.token().orElse(0));
        t.expectEqual("the client shown after an upgrade", client.name(), shown.client());
        t.expectEqual("the metadata shown after an upgrade", JOB, shown.metadata());
        write.release();
    }

    @Check(rules = "LK-1101", needs = Feature.LIST)
    @Hint("How long may the store's field for the client's name, or for its metadata, be, and does a renewal write "
            + "it anew?")
    void whatAHolderSaysOfItselfIsShownWhole(CheckContext t) throws Exception {
        String name = "n".repeat(199) + "é";
        Map<String, String> large = Map.of("k", "v".repeat(LockOptions.MAX_METADATA_BYTES - 1));
        LockClient client = t.client("holder", ClientOptions.defaults().withName(name));
        client.lock(t.name("plain")).acquire().release();
        Lease lease = client.lock(t.name())
                .with(LockOptions.none().withMetadata(large))
                .acquire();
        LockClient onlooker = t.client("onlooker");
        for (String when : List.of("", ", when it had been renewed,")) {
            List<LockStatus.Holder> holders =
                    t.status(onlooker, t.key(t.name())).holders();
            t.expectEqual("the number of holders shown" + when, 1, holders.size());
            t.expectEqual(
                    "a client's name of 200 characters as shown" + when,
                    name,
                    holders.get(0).client());
            t.expectEqual(
                    "metadata of " + LockOptions.MAX_METADATA_BYTES + " bytes as shown" + when,
                    large,
                    holders.get(0).metadata());
            t.pass(t.ttl(3, 4));
        }
        lease.release();
    }

    @Check(
            rules = "LK-1101",
            needs = {Feature.LIST, Feature.READ_WRITE})
    @Hint("How many holders and waiters of one lock are shown, and each with its own client?")
    void allOfACrowdAreShown(CheckContext t) throws Exception {
        List<BackendProbe> clients = List.of(t.probe("one"), t.probe("two"));
        int crowd = 2 * t.rounds(10, 20, 50);
        for (int i = 0; i < crowd; i++) {
            BackendProbe client = clients.get(i % 2);
            client.granted(
                    client.request(t.name(), LockMode.SHARED, t.longer(16)),
                    "a reader was refused beside " + i + " readers");
        }
        for (int i = 0; i < crowd; i++) {
            BackendProbe client = clients.get(i % 2);
            t.expect(!client.isGranted(client.request(t.name(), t.longer(16))), "a writer was granted beside readers");
        }
        LockStatus status = t.status(t.client("onlooker"), t.key(t.name()));
        for (String who : List.of("tck-one", "tck-two")) {
            t.expectEqual(
                    "the number of readers of " + who + " as shown",
                    crowd / 2L,
                    status.holders().stream()
                            .filter(holder -> holder.client().equals(who))
                            .count());
            t.expectEqual(
                    "the number of writers of " + who + " that wait as shown",
                    crowd / 2L,
                    status.waiters().stream()
                            .filter(waiter -> waiter.client().equals(who))
                            .count());
        }
    }
}
