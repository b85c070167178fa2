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
import io.keyway.lock.peer.election.ElectionCall;
import io.keyway.lock.peer.election.ElectionSettings;
import io.keyway.lock.peer.election.Elections;
import io.keyway.lock.peer.election.Identifier;
import io.keyway.lock.peer.home.ClusterMonitor;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.wire.BodyCodec;
import io.keyway.lock.peer.wire.RecordCodec;
import io.keyway.lock.spi.OpenRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The lease service, with fail-over: the members elect one that decides on all names, and another one when that is
 * lost. Who holds a lock keeps it if it reaches the new leader within its lease. docs/algorithms/failover.md
 */
public final class FailoverAlgorithm implements Algorithm {
    private static final Duration MIN_TTL = Duration.ofMillis(100);

    private final LockSettings settings;
    private final int priority;
    private final boolean trees;

    /** With the usual settings. */
    public FailoverAlgorithm() {
        this(LockSettings.defaults());
    }

    public FailoverAlgorithm(LockSettings settings) {
        this(settings, Identifier.USUAL, false);
    }

    private FailoverAlgorithm(LockSettings settings, int priority, boolean trees) {
        this.settings = settings;
        this.priority = priority;
        this.trees = trees;
    }

    @Override
    public int id() {
        return FailoverKeys.ALGORITHM;
    }

    @Override
    public String name() {
        return "failover";
    }

    @Override
    public BodyCodec codec() {
        return new FailoverCodec();
    }

    /** What is not of a name has the empty route: an administrator asks the leader of the first cells. */
    @Override
    public String route(Key key) {
        return LockKeys.isNamed(key) ? key.id() : "";
    }

    @Override
    public Serving serving() {
        return Serving.BY_LEADER;
    }

    @Override
    public boolean talksToMembers() {
        return true;
    }

    @Override
    public Optional<Key> listKeeper() {
        return Optional.of(FailoverKeys.LEADERSHIP);
    }

    @Override
    public boolean electsInEachCell() {
        return true;
    }

    @Override
    public boolean locksTrees() {
        return trees;
    }

    @Override
    public boolean tellsReadiness() {
        return true;
    }

    @Override
    public Optional<Input.Command> leaving() {
        return Optional.of(new Input.Command(FailoverKeys.ELECTION, new ElectionCall.HandOver()));
    }

    @Override
    public List<Key> startingMachines() {
        return List.of(FailoverKeys.LEADERSHIP, FailoverKeys.ELECTION, FailoverKeys.CLUSTER);
    }

    @Override
    public MachineFactory memberMachines(Predicate<String> owned) {
        MachineFactory locks = LeaseAlgorithm.ofMember(FailoverKeys.ALGORITHM, settings, owned);
        ElectionSettings election = new ElectionSettings(
                FailoverKeys.ELECTION,
                List.of(FailoverKeys.LEADERSHIP),
                1,
                priority,
                Leadership.LEASE,
                Leadership.PATIENCE,
                new LeaderBound());
        return key -> key.equals(FailoverKeys.LEADERSHIP)
                ? new Leadership()
                : key.equals(FailoverKeys.ELECTION)
                        ? Elections.machine(election)
                        : key.equals(FailoverKeys.CLUSTER) ? ClusterMonitor.ofMajority(key) : locks.create(key);
    }

    @Override
    public MachineFactory clientMachines() {
        MachineFactory locks = LeaseAlgorithm.ofClient(FailoverKeys.ALGORITHM, settings);
        return key -> key.equals(FailoverKeys.LEADERSHIP) ? new DirectoryClient(key) : locks.create(key);
    }

    @Override
    public Optional<RecordCodec> records() {
        return Optional.of(new FailoverCodec.Records());
    }

    @Override
    public Algorithm openedWith(OpenRequest request) {
        return new FailoverAlgorithm(
                LeaseAlgorithm.opened(settings, request),
                priority,
                request.get(NativeOptions.TREE) == NativeOptions.Switch.ON);
    }

    /** One leader; priorities 1 to 14, or 15 for a member that leads only where nobody else is there. */
    @Override
    public Algorithm electing(OptionalInt leaders, OptionalInt priority) {
        if (leaders.orElse(1) != 1) {
            throw new IllegalArgumentException("leaders: failover has 1, not " + leaders.getAsInt());
        }
        int rank = priority.orElse(Identifier.USUAL);
        if (rank < 1 || rank > Identifier.OFF) {
            throw new IllegalArgumentException("priority: " + rank + " is not within 1 to " + Identifier.OFF);
        }
        return new FailoverAlgorithm(settings, rank, trees);
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        return LeaseAlgorithm.features(url, trees);
    }

    @Override
    public Guarantees guarantees(Scope scope, Duration maxTtl) {
        return new Guarantees(
                new Guarantee(
                        Grade.TIMED,
                        "while its leader lives without any assumption; over its restart, and when another member takes"
                                + " over, if clock rates differ by less than 1 %"),
                new Guarantee(Grade.TIMED, "if clock rates differ by less than 1 % and the answer is used at once"),
                new Guarantee(
                        Grade.ALWAYS,
                        "while no member's files are replaced by older ones, and a majority keeps its own"),
                new Guarantee(
                        Grade.TIMED,
                        "less than half of the members can be spared: another one leads, and grants when each client"
                                + " that could hold a lock of the former leader has come to it, or can hold it no more;"
                                + " a holder that reaches it in time keeps the lock"),
                MIN_TTL,
                maxTtl);
    }
}
