// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

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
import io.keyway.lock.peer.election.ElectionSettings;
import io.keyway.lock.peer.election.Elections;
import io.keyway.lock.peer.election.Identifier;
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
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The bakery: a request draws a ticket from a majority of the leaders, which the members elect, and holds the lock
 * while a majority of them lets it in. One leader can be spared.
 */
public final class BakeryAlgorithm implements Algorithm {
    /** All locks go to one cell of a member, since that has the tickets. */
    private static final String ROUTE = "bakery";

    private static final Duration MIN_TTL = Duration.ofMillis(100);

    private final LockSettings settings;
    private final ElectionSettings election;

    /** With the usual settings: three leaders, and a member that is elected like others. */
    public BakeryAlgorithm() {
        this(LockSettings.defaults().withoutCache(), settings(ElectionSettings.LEADERS, Identifier.USUAL));
    }

    private static ElectionSettings settings(int leaders, int priority) {
        return new ElectionSettings(
                BakeryKeys.ELECTION, List.of(BakeryKeys.LEADER, BakeryKeys.HOME), leaders, priority);
    }

    private BakeryAlgorithm(LockSettings settings, ElectionSettings election) {
        this.settings = settings;
        this.election = election;
    }

    @Override
    public int id() {
        return BakeryKeys.ALGORITHM;
    }

    @Override
    public String name() {
        return "bakery";
    }

    @Override
    public BodyCodec codec() {
        return new BakeryCodec();
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
        return key -> key.equals(BakeryKeys.HOME)
                ? new BakeryHome()
                : key.equals(BakeryKeys.LEADER)
                        ? new BakeryLeader()
                        : key.equals(BakeryKeys.ELECTION)
                                ? Elections.machine(election)
                                : key.equals(BakeryKeys.DIRECTORY)
                                        ? new LockDirectory()
                                        : key.equals(BakeryKeys.CLUSTER)
                                                ? ClusterMonitor.ofMajority(key)
                                                : new HomeManager(key, BakeryKeys.HOME, settings, true);
    }

    @Override
    public MachineFactory clientMachines() {
        return key -> key.equals(BakeryKeys.DIRECTORY) || key.equals(BakeryKeys.HOME)
                ? new DirectoryClient(key)
                : key.equals(BakeryKeys.CLUSTER)
                        ? new ClusterFollower(key, true)
                        : LockClientHelper.askingForEach(key, settings, BakeryKeys.CLUSTER);
    }

    @Override
    public boolean talksToMembers() {
        return true;
    }

    @Override
    public Optional<Key> listKeeper() {
        return Optional.of(BakeryKeys.HOME);
    }

    @Override
    public boolean tellsReadiness() {
        return true;
    }

    @Override
    public List<Key> startingMachines() {
        return List.of(BakeryKeys.LEADER, BakeryKeys.HOME, BakeryKeys.ELECTION, BakeryKeys.CLUSTER);
    }

    @Override
    public Optional<RecordCodec> records() {
        return Optional.of(new BakeryCodec.Records());
    }

    @Override
    public int leases() {
        return BakeryLeader.VOTE;
    }

    @Override
    public Algorithm openedWith(OpenRequest request) {
        return request.get(NativeOptions.GUARD) == 0
                ? this
                : new BakeryAlgorithm(settings.withStopBeforeRevoked(), election);
    }

    /** 1, 3 or 5 leaders; priorities 1 to 14, or 15 for a member that leads only where nobody else is there. */
    @Override
    public Algorithm electing(OptionalInt leaders, OptionalInt priority) {
        return new BakeryAlgorithm(
                settings, settings(leaders.orElse(ElectionSettings.LEADERS), priority.orElse(Identifier.USUAL)));
    }

    @Override
    public String agreement() {
        int leaders = election.leaders();
        return leaders + (leaders == 1 ? " leader" : " leaders");
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        return EnumSet.of(
                Feature.READ_WRITE,
                Feature.DRAIN,
                Feature.FENCING,
                Feature.FIFO,
                Feature.LIST,
                Feature.BREAK,
                Feature.WAKE_UP);
    }

    @Override
    public Guarantees guarantees(Scope scope, Duration maxTtl) {
        return new Guarantees(
                new Guarantee(
                        Grade.TIMED,
                        "while a majority of the leaders lives without any assumption; over restarts, and when a home"
                                + " is cut off, if clock rates differ by less than 1 %"),
                new Guarantee(Grade.TIMED, "if clock rates differ by less than 1 % and the answer is used at once"),
                new Guarantee(
                        Grade.ALWAYS,
                        "while no member's files are replaced by older ones, and a majority keeps its own"),
                new Guarantee(
                        Grade.TIMED,
                        "one of three leaders may be lost: holders and waiters at another member do not notice; the"
                                + " clients of a member that is away wait for it"),
                MIN_TTL,
                maxTtl);
    }
}
