// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.Capacity;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.BackendProbe;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/** Rules 1101 and 1102: which names a listing shows, and since when. */
final class ListingChecks {
    /** What stands for other characters, or for none, in the patterns of some store. */
    private static final String SPECIAL = "_%*?.[]{}()^$|\\+#~'\"`:;&<> ";

    @Check(rules = "LK-1101 LK-104", needs = Feature.LIST, from = Profile.SMOKE)
    @Hint("Does the prefix go into a pattern of the store's, as LIKE, KEYS or SCAN have, without being escaped?")
    void thePrefixOfAListingIsNoPattern(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        Map<String, String> names = new LinkedHashMap<>();
        List<Lease> held = new ArrayList<>();
        held.add(client.lock(t.name("kax")).acquire());
        held.add(client.lock(t.name("kAy")).acquire());
        names.put("ka", "kax");
        for (int i = 0; i < SPECIAL.length(); i++) {
            char special = SPECIAL.charAt(i);
            String name = "k" + special + "x";
            names.put("k" + special, name);
            held.add(client.lock(t.name(name)).acquire());
        }
        for (Map.Entry<String, String> each : names.entrySet()) {
            t.expectEqual(
                    "what a listing of the prefix " + each.getKey() + " shows",
                    List.of(each.getValue()),
                    listed(t, client, each.getKey()));
        }
        held.forEach(Lease::close);
    }

    @Check(
            rules = "LK-1101 LK-104",
            needs = {Feature.LIST, Feature.SEMAPHORE})
    @Hint("Does the cursor name the kind beside the name? A lock and a semaphore may have the same.")
    void aPageMayEndBetweenALockAndASemaphoreOfOneName(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        Set<LockKey> held = new HashSet<>();
        for (String ending : List.of("a", "b")) {
            String name = t.name(ending);
            client.lock(name).acquire();
            client.semaphore(name, Capacity.of(1)).acquire();
            held.add(LockKey.lock(LockName.of(name)));
            held.add(LockKey.semaphore(LockName.of(name)));
        }
        List<LockKey> listed =
                t.listed(client, t.name(""), 1).stream().map(LockStatus::key).toList();
        t.expectEqual("the number of keys that pages of one list", held.size(), listed.size());
        t.expectEqual("the keys that pages of one list", held, Set.copyOf(listed));
    }

    @Check(rules = "LK-1101", needs = Feature.LIST, from = Profile.SMOKE)
    @Hint("Is the prefix compared with the text of the name, or with its segments?")
    void thePrefixOfAListingMayEndWithinASegment(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        List<Lease> held = new ArrayList<>();
        for (String name : List.of("a", "ab", "ab/x", "abc/y", "abd", "b")) {
            held.add(client.lock(t.name(name)).acquire());
        }
        t.expectEqual(
                "what a listing of the prefix ab shows",
                List.of("ab", "ab/x", "abc/y", "abd"),
                listed(t, client, "ab"));
        t.expectEqual("what a listing of the prefix abc shows", List.of("abc/y"), listed(t, client, "abc"));
        held.forEach(Lease::close);
    }

    /** All pages, sorted; names and prefix without what all names of the check begin with. */
    private static List<String> listed(CheckContext t, LockClient client, String prefix) throws InterruptedException {
        List<String> listed = t.listed(client, t.name(prefix), 10).stream()
                .map(status -> inner(t, status))
                .toList();
        listed.forEach(name ->
                t.never(!name.startsWith(prefix), "a listing of the prefix " + prefix + " shows the name " + name));
        return listed.stream().sorted().toList();
    }

    private static String inner(CheckContext t, LockStatus status) {
        String name = status.key().name().value();
        String outer = t.name("");
        return name.startsWith(outer) ? name.substring(outer.length()) : name;
    }

    @Check(rules = "LK-1101", needs = Feature.LIST)
    @Hint("Does the cursor count entries? Those that vanish before it shift all that follow.")
    void aListingMissesNothingWhileOthersVanish(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        Map<String, Lease> held = new LinkedHashMap<>();
        for (int i = 0; i < 20; i++) {
            String name = "n" + (100 + i * 37 % 100);
            held.put(name, client.lock(t.name(name)).acquire());
        }
        List<String> listed = new ArrayList<>();
        Optional<String> after = Optional.empty();
        do {
            LockPage page = client.admin().list(t.name("n"), after, 5);
            for (LockStatus status : page.locks()) {
                String name = inner(t, status);
                listed.add(name);
                // Who has been shown goes, and the next page begins where this one ended all the same.
                Optional.ofNullable(held.get(name))
                        .orElseThrow(() -> t.failure("a name was listed that nobody has locked: " + name))
                        .release();
            }
            after = page.next();
        } while (after.isPresent());
        t.expectEqual(
                "what the pages show, each once, while those shown before are released",
                held.keySet().stream().sorted().toList(),
                listed.stream().sorted().toList());
    }

    @Check(rules = "LK-1101", needs = Feature.LIST)
    @Hint("Does a listing look at the holders only? What is waited for is not free.")
    void aLockThatIsOnlyWaitedForIsListed(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("waiter");
        LockClient onlooker = t.client("onlooker");
        Grant held = probe.take(t.name(), t.longer(4));
        Request waits = probe.request(t.name(), t.longer(4));
        t.expect(!probe.isGranted(waits), "a lock that is held was granted again");
        // The waiter does not ask again: the store knows of it, and of nobody else.
        probe.release(held);
        t.expectEqual(
                "what is listed while nobody holds the lock and one waits for it",
                List.of("lock"),
                listed(t, onlooker, "lock"));
        t.expect(
                onlooker.admin().show(t.key(t.name())).isPresent(),
                "a lock that nobody holds and one waits for is not shown");
        probe.withdraw(waits);
    }

    @Check(rules = "LK-1101 LK-1102", needs = Feature.LIST)
    @Hint("Is \"since\" counted from the grant, or from the last that was heard of its holder?")
    void sinceCountsFromTheGrantOverRenewals(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        LockClient onlooker = t.client("onlooker");
        Lease lease = client.lock(t.name()).acquire();
        Task<Lease> waits = t.acquiring("the waiter", t.client("waiter"), t.name());
        t.untilWaiting(onlooker, t.name(), 1);
        t.pass(t.ttl(5, 4));
        LockStatus status = t.status(onlooker, t.key(t.name()));
        List<Duration> since = new CopyOnWriteArrayList<>();
        status.holders().forEach(holder -> since.add(holder.since()));
        status.waiters().forEach(waiter -> since.add(waiter.since()));
        t.expectEqual("the number of holders and waiters shown", 2, since.size());
        t.expect(
                since.get(0).compareTo(t.ttl()) >= 0,
                "a holder is said to hold since " + text(since.get(0)) + ", and got the lock more than "
                        + text(t.ttl(5, 4)) + " ago; its renewals are no grants");
        t.expect(
                since.get(1).compareTo(t.ttl()) >= 0,
                "a waiter is said to wait since " + text(since.get(1)) + ", and was there " + text(t.ttl(5, 4))
                        + " ago; it only asked again");
        lease.release();
        waits.get().release();
    }

    @Check(
            rules = "LK-1101 LK-105",
            needs = {Feature.LIST, Feature.SEMAPHORE})
    @Hint("Is what is shown of a key looked up by its kind too?")
    void showSaysNothingOfTheOtherKind(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        LockKey semaphore = LockKey.semaphore(LockName.of(t.name()));
        Lease permit = client.semaphore(t.name(), Capacity.of(1)).acquire();
        t.never(
                !t.status(client, t.key(t.name())).holders().isEmpty(),
                "a semaphore is held, and the lock of its name, which nobody has asked for, is shown as held");
        permit.release();
        Lease lease = client.lock(t.name()).acquire();
        t.never(
                !t.status(client, semaphore).holders().isEmpty(),
                "a lock is held, and the semaphore of its name, of which nothing is out, is shown as held");
        lease.release();
    }
}
