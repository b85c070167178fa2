// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lamport;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import io.keyway.lock.peer.NativeOptions;
import io.keyway.lock.peer.client.ClusterFollower;
import io.keyway.lock.peer.client.DirectoryClient;
import io.keyway.lock.peer.client.LockClientHelper;
import io.keyway.lock.peer.home.ClusterMonitor;
import io.keyway.lock.peer.home.HomeManager;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.queue.LockDirectory;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.wire.BodyCodec;
import io.keyway.lock.peer.wire.RecordCodec;
import io.keyway.lock.spi.OpenRequest;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Lamport's queue: a lock is granted in the order of the members' logical clocks, when every member has answered. There
 * is no manager of a name, and no member can be spared.
 */
public final class LamportAlgorithm implements Algorithm {
    /** All locks go to one cell of a member, since that has the clock. */
    private static final String ROUTE = "lamport";

    private static final Duration MIN_TTL = Duration.ofMillis(100);

    private final LockSettings settings;

    /** With the usual settings. */
    public LamportAlgorithm() {
        this(LockSettings.defaults().withoutCache());
    }

    private LamportAlgorithm(LockSettings settings) {
        this.settings = settings;
    }

    @Override
    public int id() {
        return LamportKeys.ALGORITHM;
    }

    @Override
    public String name() {
        return "lamport";
    }

    @Override
    public BodyCodec codec() {
        return new LamportCodec();
    }

    @Override
    public String route(Key key) {
        return ROUTE;
    }

    @Override
    public Serving serving() {
        return Serving.BY_EACH;
    }

    @Override
    public MachineFactory memberMachines(Predicate<String> owned) {
        return key -> key.equals(LamportKeys.PROCESS)
                ? new LamportProcess()
                : key.equals(LamportKeys.DIRECTORY)
                        ? new LockDirectory()
                        : key.equals(LamportKeys.CLUSTER)
                                ? ClusterMonitor.ofAll(key)
                                : new HomeManager(key, LamportKeys.PROCESS, settings, false);
    }

    @Override
    public MachineFactory clientMachines() {
        return key -> key.equals(LamportKeys.DIRECTORY)
                ? new DirectoryClient(key)
                : key.equals(LamportKeys.CLUSTER)
                        ? new ClusterFollower(key, false)
                        : LockClientHelper.askingForEach(key, settings, LamportKeys.CLUSTER);
    }

    @Override
    public boolean talksToMembers() {
        return true;
    }

    @Override
    public boolean tellsReadiness() {
        return true;
    }

    @Override
    public List<Key> startingMachines() {
        return List.of(LamportKeys.PROCESS, LamportKeys.CLUSTER);
    }

    @Override
    public Optional<RecordCodec> records() {
        return Optional.of(new LamportCodec.Records());
    }

    @Override
    public Algorithm openedWith(OpenRequest request) {
        return request.get(NativeOptions.GUARD) == 0 ? this : new LamportAlgorithm(settings.withStopBeforeRevoked());
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        return EnumSet.of(Feature.FENCING, Feature.FIFO, Feature.LIST, Feature.BREAK, Feature.WAKE_UP);
    }

    @Override
    public Guarantees guarantees(Scope scope, Duration maxTtl) {
        return new Guarantees(
                new Guarantee(
                        Grade.TIMED,
                        "without any assumption while all members live; over the restart of one if clock rates differ"
                                + " by less than 1 %"),
                new Guarantee(Grade.TIMED, "if clock rates differ by less than 1 % and the answer is used at once"),
                new Guarantee(Grade.ALWAYS, "while no member's files are replaced by older ones"),
                new Guarantee(
                        Grade.NO, "every member must answer: while one is away, nothing is granted until it is back"),
                MIN_TTL,
                maxTtl);
    }
}
