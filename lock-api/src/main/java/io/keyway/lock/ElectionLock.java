// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.spi.ClientServices;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The lock of an election: how one stands for it, and who does. What candidates, observers and hand-overs share. */
final class ElectionLock {
    /**
     * What of a client an election needs.
     *
     * @param name of the client
     * @param locks its locks by their names
     * @param overNodes its locks over nodes
     * @param listen as {@link LockClient#addListener}
     * @param show who has one of its locks, and who waits
     * @param services for those locks
     * @param url masked
     */
    record Uses(
            String name,
            Function<LockName, DistributedLock> locks,
            BiFunction<LockName, NodeSet, DistributedLock> overNodes,
            Function<LockListener, Subscription> listen,
            Show show,
            Set<Feature> features,
            ClientServices services,
            String url) {
        /** What an election over those nodes needs. */
        Uses at(NodeSet nodes) {
            NodesServices all = new NodesServices(services, nodes);
            return new Uses(
                    name, lock -> overNodes.apply(lock, nodes), overNodes, listen, all::look, features, all, url);
        }
    }

    /** As {@link LockAdmin#show}. */
    interface Show {
        Optional<LockStatus> of(LockKey key) throws InterruptedException;
    }

    /** Under which a candidate's name travels in the metadata. */
    private static final String CANDIDATE = "candidate";

    private final Uses client;
    private final LockName name;
    private final LockOptions options;
    private final @Nullable String candidate;

    /** @param candidate who stands; null for the client's name */
    ElectionLock(Uses client, LockName name, LockOptions options, @Nullable String candidate) {
        this.client = client;
        this.name = name;
        this.options = options;
        this.candidate = candidate;
    }

    ElectionLock with(LockOptions upper) {
        client.locks().apply(name).with(upper);
        return checked(new ElectionLock(client, name, options.overlaidBy(upper), candidate));
    }

    ElectionLock as(String other) {
        return checked(new ElectionLock(client, name, options, other));
    }

    ElectionLock at(NodeSet nodes) {
        if (client.services() instanceof NodesServices) {
            throw new IllegalStateException("The nodes of the election of " + name + " have been named already.");
        }
        ElectionLock over = new ElectionLock(client.at(nodes), name, options, candidate);
        over.lock();
        return over;
    }

    private static ElectionLock checked(ElectionLock changed) {
        changed.withCandidate();
        return changed;
    }

    LockName name() {
        return name;
    }

    String candidate() {
        return candidate == null ? client.name() : candidate;
    }

    String clientName() {
        return client.name();
    }

    ClientServices services() {
        return client.services();
    }

    Subscription listen(LockListener listener) {
        return client.listen().apply(listener);
    }

    DistributedLock lock() {
        return other(name, withCandidate());
    }

    /** Another lock of the client. */
    DistributedLock other(LockName beside, LockOptions with) {
        return client.locks().apply(beside).with(with);
    }

    private LockOptions withCandidate() {
        if (candidate == null) {
            return options;
        }
        Map<String, String> metadata = new HashMap<>(options.metadata().orElse(Map.of()));
        metadata.put(CANDIDATE, candidate);
        return options.withMetadata(metadata);
    }

    /** Whether one can look who leads and who stands, and so for a hand-over. */
    boolean isListed() {
        return client.features().contains(Feature.LIST);
    }

    void requireList() {
        if (!isListed()) {
            throw new UnsupportedFeatureException(Feature.LIST, client.url());
        }
    }

    Optional<Candidate> leader() throws InterruptedException {
        return leader(candidates());
    }

    List<Candidate> candidates() throws InterruptedException {
        requireList();
        return client.show()
                .of(LockKey.lock(name))
                .map(ElectionLock::candidates)
                .orElse(List.of());
    }

    /** Whether a client's event about a lock is about that lease of this one. */
    boolean isAbout(LockEvent event, Lease lease) {
        LockKey key = event.key();
        if (key == null || event.token().isEmpty()) {
            return false;
        }
        if (key.equals(LockKey.lock(name)) && event.token().getAsLong() == lease.token()) {
            return true;
        }
        // Of a lock that stands on several grants, as one over nodes or of a tree, the lease itself knows how it is.
        boolean part = services() instanceof NodesServices nodes
                ? nodes.isOf(name, key.name())
                : key.kind() == LockKey.Kind.LOCK
                        && name.value().startsWith(key.name().value() + "/");
        return part && (event.type() == LockEvent.Type.DOUBTFUL) == (lease.state() != Lease.State.HELD);
    }

    static Optional<Candidate> leader(List<Candidate> candidates) {
        return candidates.stream().filter(Candidate::leads).findFirst();
    }

    /** Returns those of a lock: a shared one is of somebody who reads, and stands for nothing. */
    static List<Candidate> candidates(LockStatus status) {
        List<Candidate> candidates = new ArrayList<>();
        for (LockStatus.Holder holder : status.holders()) {
            if (holder.mode().isAlone() && holder.kept().isEmpty()) {
                candidates.add(new Candidate(
                        nameOf(holder.client(), holder.metadata()),
                        true,
                        holder.token(),
                        holder.since(),
                        holder.metadata()));
            }
        }
        for (LockStatus.Waiter waiter : status.waiters()) {
            if (waiter.mode().isAlone()) {
                candidates.add(new Candidate(
                        nameOf(waiter.client(), waiter.metadata()),
                        false,
                        OptionalLong.empty(),
                        waiter.since(),
                        waiter.metadata()));
            }
        }
        return candidates;
    }

    private static String nameOf(String client, Map<String, String> metadata) {
        return metadata.getOrDefault(CANDIDATE, client);
    }
}
