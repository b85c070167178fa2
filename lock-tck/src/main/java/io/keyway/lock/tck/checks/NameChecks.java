// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Capacity;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Rules 101 to 106: names. */
final class NameChecks {
    /** Endings that some store or other folds, trims, escapes, matches as a pattern or cuts off. */
    private static final List<String> ENDINGS = List.of(
            "a",
            "A",
            "a ",
            " a",
            "ä",
            "a\u0308",
            "ß",
            "ss",
            "SS",
            "a.b",
            "a-b",
            "a_b",
            "a%b",
            "a%25b",
            "a b",
            "a+b",
            "a*",
            "a?",
            "[a]",
            "{a}",
            "a:b",
            "a;b",
            "a'b",
            "a\"b",
            "a\\b",
            "a\\\\b",
            "$a",
            "#a",
            "~a",
            "-",
            ".",
            "..",
            "Aa",
            "BB",
            "İ",
            "i",
            "ı",
            "I",
            "日本",
            "😀",
            "😁",
            "null",
            "0",
            "00",
            "a/b",
            "a/B",
            "a%2Fb",
            "lock",
            "semaphore",
            "write",
            "read");

    /** Names of which each begins with another. */
    private static final List<String> FAMILY = List.of("", "/b", "/b/c", "b");

    @Check(rules = "LK-103", from = Profile.SMOKE)
    @Hint("How does a name become a key of the store: is anything folded, trimmed, normalised, escaped or hashed?")
    void namesThatDifferAtAllAreDifferentLocks(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        LockClient other = t.client("second");
        List<Lease> held = new ArrayList<>();
        for (String ending : ENDINGS) {
            Optional<Lease> lease = client.lock(t.name(ending)).tryAcquire();
            t.expect(
                    lease.isPresent(),
                    "the lock named ..." + ending
                            + " was refused, while only locks of other names were held, such as ..."
                            + ENDINGS.get(Math.max(0, held.size() - 1)));
            held.add(lease.orElseThrow());
        }
        for (int i = 0; i < held.size(); i++) {
            boolean given = other.lock(t.name(ENDINGS.get(i))).tryAcquire().isPresent();
            // A lease that a slow machine lost says nothing about names.
            t.expect(
                    !given || !held.get(i).isHeld(),
                    "the lock named ..." + ENDINGS.get(i) + " is held, and a second client was given it");
        }
        held.forEach(Lease::close);
    }

    @Check(rules = "LK-103 LK-101")
    @Hint("How long may a key of the store be: is a long name cut off, or refused?")
    void longNamesAreTakenWhole(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        String filler = "x".repeat(512 - t.name("").length() - 1);
        String one = t.name(filler + "1");
        String two = t.name(filler + "2");
        t.expectEqual("the length of the name", 512, one.getBytes(StandardCharsets.UTF_8).length);
        Optional<Lease> first = client.lock(one).tryAcquire();
        Optional<Lease> second = client.lock(two).tryAcquire();
        t.expect(first.isPresent(), "a free lock with a name of 512 bytes was refused");
        t.expect(second.isPresent(), "two names of 512 bytes that differ in the last one are taken for one lock");
        t.expectTaken(
                t.client("other"), one, "a lock with a name of 512 bytes is held, and a second client was given it");
        String wide = t.prefix() + "/" + "é".repeat((510 - t.prefix().length()) / 2);
        t.expectFree(client, wide, "a name of 512 bytes in two-byte characters was refused");
        String deep = t.prefix() + "/a".repeat(16 - t.prefix().split("/", -1).length);
        t.expectFree(client, deep, "a name of 16 segments was refused");
    }

    @Check(rules = "LK-106 LK-101 LK-102", from = Profile.SMOKE)
    @Hint("Do the client's methods that take a text go through LockName.of?")
    void whatIsNoNameIsRefused(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        List<String> bad = List.of(
                "",
                "/",
                "/a",
                "a/",
                "a//b",
                "a\nb",
                "a\u0000b",
                "\ud800",
                "a/\udc00/b",
                "x".repeat(513),
                "a/".repeat(16) + "a",
                "é".repeat(257));
        for (String name : bad) {
            IllegalArgumentException e = t.expectThrows(
                    "lock(\"" + printable(name) + "\")", IllegalArgumentException.class, () -> client.lock(name));
            t.expect(
                    e.getMessage() != null && e.getMessage().length() > 10,
                    "the refusal of the name \"" + printable(name) + "\" does not say what is wrong with it");
        }
    }

    private static String printable(String name) {
        String text = name.length() > 40 ? name.substring(0, 40) + "..." : name;
        return text.replaceAll("[\\p{Cntrl}\\p{Cs}]", "?");
    }

    @Check(rules = "LK-104", needs = Feature.LIST, from = Profile.SMOKE)
    @Hint("Is the escaping of names for the store undone in listings?")
    void listingsShowNamesAsTheyWereGiven(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        List<String> names = ENDINGS.stream().map(t::name).toList();
        List<Lease> held = new ArrayList<>();
        for (String name : names) {
            held.add(client.lock(name).acquire());
        }
        List<String> shown = t.listed(client, t.prefix() + "/", 20).stream()
                .map(status -> status.key().name().value())
                .toList();
        held.forEach(Lease::ensureHeld); // one that was lost meanwhile is another fault, or a busy machine's
        for (String name : names) {
            t.expect(shown.contains(name), "the lock \"" + name + "\" is held, and is listed nowhere by that name");
        }
        held.forEach(Lease::close);
    }

    @Check(rules = "LK-105", needs = Feature.SEMAPHORE, from = Profile.SMOKE)
    @Hint("Has the kind of a key a part in the key of the store?")
    void aLockAndASemaphoreOfOneNameAreTwoThings(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        Lease lock = client.lock(t.name()).acquire();
        Optional<Lease> permit = client.semaphore(t.name(), Capacity.of(1)).tryAcquire();
        t.expect(permit.isPresent(), "a semaphore was refused because of the lock of the same name");
        lock.release();
        t.expect(
                client.semaphore(t.name(), Capacity.of(1)).tryAcquire().isEmpty(),
                "the release of a lock gave back a permit of the semaphore of the same name");
    }

    @Check(rules = "LK-103 LK-101 LK-104", from = Profile.SMOKE)
    @Hint("Does the store look for a key by what it begins with? The `/` of names may stand for more than itself there")
    void aNameIsNoOtherThatBeginsWithIt(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        LockClient other = t.client("second");
        for (List<String> order : List.of(FAMILY, backwards(FAMILY))) {
            String root = t.freshName();
            List<Lease> held = new ArrayList<>();
            for (String member : order) {
                Lease lease = t.expectGranted(
                        client.lock(root + member).tryAcquire(),
                        "the lock n" + member + " was "
                                + "refused, while only these are held: "
                                + names(order, held.size()));
                held.add(lease);
            }
            for (int i = 0; i < held.size(); i++) {
                if (t.has(Feature.LIST)) {
                    t.expectEqual(
                            "how many hold the lock n" + order.get(i) + " by show, beside "
                                    + names(order, order.size()),
                            1,
                            t.status(client, t.key(root + order.get(i)))
                                    .holders()
                                    .size());
                }
                held.get(i).release();
                for (int j = i + 1; j < held.size(); j++) {
                    boolean given = other.lock(root + order.get(j)).tryAcquire().isPresent();
                    t.expect(
                            !given || !held.get(j).isHeld(),
                            "the lock n" + order.get(i) + " was released, and that freed the lock n" + order.get(j));
                }
            }
        }
    }

    private static List<String> backwards(List<String> order) {
        List<String> turned = new ArrayList<>(order);
        Collections.reverse(turned);
        return turned;
    }

    private static String names(List<String> order, int many) {
        return order.stream().limit(many).map(member -> "n" + member).toList().toString();
    }
}
