// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import io.keyway.lock.peer.NativeOptions;
import io.keyway.lock.peer.client.DirectoryClient;
import io.keyway.lock.peer.client.GrantCache;
import io.keyway.lock.peer.client.LockClientHelper;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.queue.Admission;
import io.keyway.lock.peer.queue.LockDirectory;
import io.keyway.lock.peer.queue.LockManager;
import io.keyway.lock.peer.queue.WrongMember;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.service.LockCodec;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.wire.BodyCodec;
import io.keyway.lock.spi.OpenRequest;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Leases: each name has one manager, which grants it for as long as it hears its client, and may recall it. As agents
 * it is the same service for the same members, whose clients take every lock as one of a tree.
 */
public final class LeaseAlgorithm implements Algorithm {
    private static final Duration MIN_TTL = Duration.ofMillis(100);

    /** In whose place a URL has no members that could be named. */
    private static final Set<String> ONE_MEMBER = Set.of("local", "mem");

    private final LockSettings settings;
    private final boolean trees;

    /** With the usual settings. */
    public LeaseAlgorithm() {
        this(LockSettings.defaults());
    }

    public LeaseAlgorithm(LockSettings settings) {
        this(settings, false);
    }

    private LeaseAlgorithm(LockSettings settings, boolean trees) {
        this.settings = settings;
        this.trees = trees;
    }

    /** The same members, for clients all of whose locks are of trees. */
    public static LeaseAlgorithm ofAgents() {
        return new LeaseAlgorithm(LockSettings.defaults(), true);
    }

    @Override
    public int id() {
        return LeaseKeys.ALGORITHM;
    }

    @Override
    public String name() {
        return trees ? "agent" : "lease";
    }

    @Override
    public boolean locksTrees() {
        return trees;
    }

    @Override
    public BodyCodec codec() {
        return new LockCodec(LeaseKeys.ALGORITHM);
    }

    @Override
    public MachineFactory memberMachines(Predicate<String> owned) {
        return ofMember(LeaseKeys.ALGORITHM, settings, owned);
    }

    @Override
    public MachineFactory clientMachines() {
        return ofClient(LeaseKeys.ALGORITHM, settings);
    }

    @Override
    public Algorithm openedWith(OpenRequest request) {
        return new LeaseAlgorithm(
                opened(settings, request), trees || request.get(NativeOptions.TREE) == NativeOptions.Switch.ON);
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        Set<Feature> features = features(url, trees);
        if (!ONE_MEMBER.contains(url.protocol().orElse(""))) {
            features.add(Feature.NODE_SETS);
        }
        return features;
    }

    @Override
    public Guarantees guarantees(Scope scope, Duration maxTtl) {
        return new Guarantees(
                new Guarantee(
                        Grade.TIMED,
                        "without any assumption while the member lives; over its restart if clock rates differ by less"
                                + " than 1 %"),
                new Guarantee(Grade.TIMED, "if clock rates differ by less than 1 % and the answer is used at once"),
                new Guarantee(Grade.ALWAYS, "while the member's file is not replaced by an older one"),
                failover(scope),
                MIN_TTL,
                maxTtl);
    }

    private static Guarantee failover(Scope scope) {
        return switch (scope) {
            case MACHINE ->
                new Guarantee(
                        Grade.TIMED,
                        "another process takes over; it grants when no lease of the former can be in force");
            case JVM -> new Guarantee(Grade.NO, "the locks end with their JVM, as do all their holders");
            default ->
                new Guarantee(
                        Grade.NO,
                        "names are partitioned, not replicated: those of a member that fails wait for its restart");
        };
    }

    // What other algorithms of leases share

    static MachineFactory ofMember(int algorithm, LockSettings settings, Predicate<String> owned) {
        Key directory = LockKeys.directory(algorithm);
        return key -> key.equals(directory)
                ? new LockDirectory()
                : owned.test(key.id()) ? new LockManager(key, settings, admission(key)) : new WrongMember(key);
    }

    private static Admission admission(Key key) {
        return LockKeys.isSemaphore(key) ? Admission.SEMAPHORES : Admission.LOCKS;
    }

    static MachineFactory ofClient(int algorithm, LockSettings settings) {
        Key directory = LockKeys.directory(algorithm);
        Key cache = LockKeys.cache(algorithm);
        return key -> key.equals(directory)
                ? new DirectoryClient(key)
                : key.equals(cache) ? new GrantCache(settings.cacheSize()) : new LockClientHelper(key, settings);
    }

    /** Those settings, as a client chooses them. */
    static LockSettings opened(LockSettings settings, OpenRequest request) {
        LockSettings opened = request.get(NativeOptions.CACHE) == NativeOptions.Switch.OFF
                ? settings.withoutCache()
                : settings.withCache(
                        request.get(NativeOptions.CACHE_FOR).toNanos(), request.get(NativeOptions.CACHE_SIZE));
        return request.get(NativeOptions.GUARD) == 0 ? opened : opened.withStopBeforeRevoked();
    }

    /** What clients can do that are opened with that URL. */
    static Set<Feature> features(LockUrl url, boolean trees) {
        Set<Feature> features = EnumSet.of(
                Feature.READ_WRITE,
                Feature.SEMAPHORE,
                Feature.FENCING,
                Feature.FIFO,
                Feature.LIST,
                Feature.BREAK,
                Feature.WAKE_UP,
                Feature.UPGRADE,
                Feature.DRAIN,
                Feature.HOLD_AT_LEAST,
                Feature.TRANSACTIONS,
                Feature.TREE);
        if (url.option(NativeOptions.CACHE).orElse(NativeOptions.Switch.ON) == NativeOptions.Switch.ON) {
            features.add(Feature.CACHING);
        }
        if (trees || url.option(NativeOptions.TREE).orElse(NativeOptions.Switch.OFF) == NativeOptions.Switch.ON) {
            // Each is of one grant, and the lock of a tree is several.
            features.remove(Feature.UPGRADE);
            features.remove(Feature.DRAIN);
            features.remove(Feature.HOLD_AT_LEAST);
        }
        return features;
    }
}
