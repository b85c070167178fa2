// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Rules 203 to 212: options, and opening. */
final class OpeningChecks {
    private static final ClientOptions NONE = ClientOptions.defaults();

    @Check(rules = "LK-203", from = Profile.SMOKE)
    @Hint("Does ProviderInfo list all options and no others, so that Locks can check them before open is called?")
    void anOptionThatNobodyKnowsIsRefused(CheckContext t) throws Exception {
        InvalidLockUrlException e = t.expectThrows(
                "opening with the option requestTimeuot",
                InvalidLockUrlException.class,
                () -> t.openUnrecorded(t.urlWith("requestTimeuot", "2s"), NONE));
        t.expect(
                String.valueOf(e.getMessage()).contains("requestTimeout"),
                "the refusal of the option requestTimeuot does not name requestTimeout: " + e.getMessage());
    }

    @Check(rules = "LK-206", from = Profile.SMOKE)
    @Hint("Are durations parsed by Option.duration?")
    void aDurationWithoutItsUnitIsRefused(CheckContext t) throws Exception {
        t.expectThrows(
                "opening with closeTimeout=10",
                InvalidLockUrlException.class,
                () -> t.openUnrecorded(t.urlWith("closeTimeout", "10"), NONE));
    }

    @Check(rules = "LK-204", from = Profile.SMOKE)
    @Hint("Does a message print the URL by reveal()?")
    void textsOfAClientShowNoSecret(CheckContext t) throws Exception {
        LockClient client = t.openUnrecorded(t.url(), NONE.withName("tck-secret"));
        try {
            String shown = client + " " + client.url() + " " + client.lock(t.name());
            t.url()
                    .password()
                    .filter(password -> password.length() > 3)
                    .ifPresent(password ->
                            t.expect(!shown.contains(password), "the password of the URL is shown: " + t.url()));
            t.expectEqual("the URL of the client", t.url(), client.url());
        } finally {
            client.close();
        }
    }

    @Check(rules = "LK-207", from = Profile.SMOKE)
    @Hint("Is the ttl taken from the request, which has the result of all levels?")
    void whatIsSaidNearestToTheUseIsMeant(CheckContext t) throws Exception {
        Duration small = t.ttl();
        Duration middle = small.multipliedBy(2);
        Duration large = small.multipliedBy(3);
        if (large.compareTo(t.guarantees().maxTtl()) > 0) {
            throw t.skipped(io.keyway.lock.tck.Verdict.NOT_APPLICABLE, "the provider has no room for three ttls");
        }
        LockUrl url = t.url().options().containsKey("ttl") || t.url().isOpaque()
                ? t.url()
                : t.urlWith("ttl", large.toMillis() + "ms");
        LockClient byUrl = t.openBare(url, NONE.withName("tck-by-url"));
        LockClient byClient = t.openBare(
                url,
                NONE.withName("tck-by-client").withDefaults(LockOptions.none().withTtl(middle)));
        try (byUrl;
                byClient;
                Lease client = byClient.lock(t.name("client")).acquire();
                Lease lock = byClient.lock(t.name("lock"))
                        .with(LockOptions.none().withTtl(small))
                        .acquire();
                Lease kept = byClient.lock(t.name("kept"))
                        .with(LockOptions.none().withMetadata(java.util.Map.of("k", "v")))
                        .acquire()) {
            if (!url.equals(t.url())) {
                try (Lease plain = byUrl.lock(t.name("url")).acquire()) {
                    t.expectEqual("the ttl that only the URL states", large, plain.ttl());
                }
            }
            t.expectEqual("the ttl that the client's options state over the URL", middle, client.ttl());
            t.expectEqual("the ttl that with() states over the client's options", small, lock.ttl());
            t.expectEqual("the ttl of the client's options beside another option of with()", middle, kept.ttl());
        }
    }

    @Check(rules = "LK-309", from = Profile.SMOKE)
    @Hint("Are minTtl and maxTtl of Guarantees what the store can keep, and is the ttl of the URL checked too?")
    void aTtlOutsideTheBoundsIsRefused(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        Duration least = t.guarantees().minTtl();
        Duration most = t.guarantees().maxTtl();
        t.never(
                least.compareTo(LockOptions.MIN_TTL) < 0 || most.compareTo(LockOptions.MAX_TTL) > 0,
                "Guarantees say that each ttl from " + least + " to " + most + " is granted; none below "
                        + LockOptions.MIN_TTL + " or above " + LockOptions.MAX_TTL
                        + " can be asked for: minTtl and maxTtl must lie within these");
        if (most.compareTo(LockOptions.MAX_TTL) < 0) {
            refused(t, client, most.plusSeconds(1), least, most);
        }
        if (least.compareTo(LockOptions.MIN_TTL) > 0) {
            refused(t, client, least.minusMillis(1), least, most);
        }
        t.expectThrows(
                "a ttl of 25 hours",
                IllegalArgumentException.class,
                () -> LockOptions.none().withTtl(Duration.ofHours(25)));
        Duration agreed = granted(client, t.name(), least);
        if (!agreed.equals(least)) {
            // A store that negotiates raises what is too short for it, and nothing else.
            t.expectEqual(
                    "the ttl of a lease that asked for the " + agreed
                            + " which a lease that had asked for the least ttl was given",
                    agreed,
                    granted(client, t.name("agreed"), agreed));
        }
    }

    private static Duration granted(LockClient client, String name, Duration ttl) throws InterruptedException {
        try (Lease lease =
                client.lock(name).with(LockOptions.none().withTtl(ttl)).acquire()) {
            return lease.ttl();
        }
    }

    /** In whichever unit. */
    private static boolean names(@Nullable String message, Duration bound) {
        return message != null
                && Stream.of(
                                bound.toString(),
                                Long.toString(bound.toMillis()),
                                Long.toString(bound.toSeconds()),
                                bound.toMinutes() + "m",
                                bound.toHours() + "h",
                                bound.toDays() + "d")
                        .anyMatch(text -> !text.startsWith("0") && message.contains(text));
    }

    private static void refused(CheckContext t, LockClient client, Duration ttl, Duration least, Duration most)
            throws InterruptedException {
        IllegalArgumentException e = t.expectThrows(
                "an acquire with a ttl of " + ttl,
                IllegalArgumentException.class,
                () -> client.lock(t.name())
                        .with(LockOptions.none().withTtl(ttl))
                        .tryAcquire());
        t.expect(
                names(e.getMessage(), least) && names(e.getMessage(), most),
                "the refusal of a ttl outside " + least + " to " + most + " does not name both bounds: "
                        + e.getMessage());
    }

    @Check(rules = "LK-210", from = Profile.SMOKE)
    @Hint("Are the features that the client declares those that the provider declares for the URL?")
    void whatIsRequiredAndNotDeclaredIsRefusedAtOpening(CheckContext t) throws Exception {
        for (Feature feature : Feature.values()) {
            LockUrl url = t.urlWith("require", feature.label());
            if (t.has(feature)) {
                t.openUnrecorded(url, NONE).close();
            } else {
                t.expectThrows(
                        "opening with require=" + feature.label() + ", which is not declared,",
                        UnsupportedFeatureException.class,
                        () -> t.openUnrecorded(url, NONE));
            }
        }
        for (io.keyway.lock.Grade grade : io.keyway.lock.Grade.values()) {
            LockUrl url = t.urlWith("require", "exclusion:" + grade.name().toLowerCase(Locale.ROOT));
            if (t.guarantees().exclusion().grade().compareTo(grade) <= 0) {
                t.openUnrecorded(url, NONE).close();
            } else {
                t.expectThrows(
                        "opening with a higher grade of exclusion than is promised",
                        UnsupportedFeatureException.class,
                        () -> t.openUnrecorded(url, NONE));
            }
        }
    }

    @Check(rules = "LK-212", alone = true)
    @Hint("What does the provider's constructor, or a static initialiser, do?")
    void lookingForProvidersStartsNothing(CheckContext t) {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        Locks.discover(t.subject().loader());
        Set<String> started = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !before.contains(thread) && thread.getName().startsWith("keyway"))
                .map(Thread::getName)
                .collect(Collectors.toSet());
        t.expect(started.isEmpty(), "looking for providers started threads: " + started);
    }

    @Check(rules = "LK-303 LK-211", from = Profile.SMOKE, needs = Feature.LIST)
    @Hint("Does making a lock object or opening a client write anything to the store?")
    void aLockObjectLeavesNothingAtTheAuthority(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        client.lock(t.name()).with(t.terms());
        client.lock(t.name("other"));
        t.expect(
                client.admin()
                        .list(t.prefix() + "/", java.util.Optional.empty(), 10)
                        .locks()
                        .isEmpty(),
                "a lock that nobody has asked for is listed");
        t.expect(client.admin().show(t.key(t.name())).isEmpty(), "a lock that nobody has asked for is shown");
    }

    @Check(rules = "LK-211", from = Profile.SMOKE)
    @Hint("Does open wait for the store, or start it before the first request?")
    void anEagerClientOpensAndServes(CheckContext t) throws Exception {
        LockClient client = t.client("eager", NONE.with(CommonOptions.CONNECT, CommonOptions.Connect.EAGER));
        try (Lease lease = client.lock(t.name()).acquire()) {
            t.expect(lease.isHeld(), "a client opened with connect=eager was granted a lease that is not held");
        }
    }

    @Check(rules = "LK-210", from = Profile.SMOKE)
    @Hint("Does the provider answer for the URL from one list of features, and its backend from another?")
    void aClientHasTheFeaturesThatItsProviderDeclares(CheckContext t) {
        Set<Feature> declared = Locks.discover(t.subject().loader()).providers().stream()
                .filter(provider -> provider.schemes().contains(t.url().provider()))
                .findFirst()
                .orElseThrow(() -> t.failure("no provider is found for " + t.url() + ", and it was opened"))
                .features(t.url());
        Set<Feature> opened = t.client("opened").features();
        t.never(
                !declared.equals(opened),
                "the features that a client declares should be those that its provider declares for the URL, "
                        + new TreeSet<>(declared) + ", and are " + new TreeSet<>(opened));
    }
}
