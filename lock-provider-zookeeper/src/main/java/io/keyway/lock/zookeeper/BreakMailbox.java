// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.spi.Deadline;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.OpResult.CreateResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

/**
 * How a session hears that its grants are broken: it has a node of its own, which it watches, and into which whoever
 * breaks one of its grants writes. So a break leaves the node of the grant alone: whatever happens to that tells those
 * who wait behind it what its owner did.
 *
 * <p>The node is created before the first request of the session, and what is written there is received before the
 * answer to any call that the ensemble carried out later, since all comes by one connection and is told by one thread.
 * So a release that is answered knows of each break that came before it.
 *
 * <p>With the node the session reads the floor of tokens, which cannot be raised while any such node exists.
 */
final class BreakMailbox implements Watcher {

    /** The session whose mailbox this is. */
    interface Owner {
        String id();

        boolean isOver();

        /** The grant whose node that transaction created was broken. */
        void broken(long czxid, String reason);
    }

    private static final byte[] NOTHING = {};

    private final EnsembleCalls calls;
    private final Watches watches;
    private final Owner owner;
    private final Paths paths;

    /** The last reading, done or on its way; null if the node is not watched. */
    private final AtomicReference<@Nullable CompletableFuture<BrokenGrants>> latest = new AtomicReference<>();

    private volatile long tokenFloor;

    /** Not while the node is missing, by which the floor is kept from being raised. */
    private volatile boolean knowsFloor;

    /** Broken grants that are over, by the transactions that created their nodes: they need not stand in the node. */
    private final Set<Long> over = ConcurrentHashMap.newKeySet();

    BreakMailbox(EnsembleCalls calls, Watches watches, Owner owner, Paths paths) {
        this.calls = calls;
        this.watches = watches;
        this.owner = owner;
        this.paths = paths;
    }

    private String path() {
        return paths.session(owner.id());
    }

    /**
     * Sends what makes the node and watches it, if that has not been done or has failed. To be called before a request
     * is sent, so that whoever sees that request finds the node.
     */
    CompletableFuture<BrokenGrants> begin() {
        CompletableFuture<BrokenGrants> known = latest.get();
        if (known != null && !known.isCompletedExceptionally()) {
            return known;
        }
        CompletableFuture<BrokenGrants> reading = new CompletableFuture<>();
        if (!latest.compareAndSet(known, reading)) {
            return begin();
        }
        // If the creation fails, the reading says why.
        CompletableFuture<CreateResult> unused = calls.create(path(), NOTHING, CreateMode.EPHEMERAL);
        read(reading, StoredFloor.read(calls, paths.tokenFloor()));
        return reading;
    }

    /**
     * Waits for what was broken before the last answer that this thread has seen.
     *
     * @throws KeeperException.NoNodeException if the parent of the node is missing
     */
    void await(Deadline deadline) throws KeeperException, TimeoutException, InterruptedException {
        BrokenGrants unused = heard(deadline);
    }

    /** Whether that grant was broken before the last answer that this thread has seen; waits as {@link #await}. */
    boolean isBroken(long czxid, Deadline deadline) throws KeeperException, TimeoutException, InterruptedException {
        return heard(deadline).reasons.containsKey(czxid);
    }

    private BrokenGrants heard(Deadline deadline) throws KeeperException, TimeoutException, InterruptedException {
        return EnsembleCalls.await(begin(), deadline);
    }

    /** Whether that grant is known to be broken, without a wait: the owner hears later of what is being read. */
    boolean isKnownBroken(long czxid) {
        BrokenGrants known = known();
        return known != null && known.reasons.containsKey(czxid);
    }

    private @Nullable BrokenGrants known() {
        CompletableFuture<BrokenGrants> known = latest.get();
        return known != null && known.isDone() && !known.isCompletedExceptionally() ? known.join() : null;
    }

    /** {@code floor}: of tokens, asked for before. */
    private void read(CompletableFuture<BrokenGrants> reading, CompletableFuture<StoredFloor> floor) {
        CompletableFuture<?> unused = watches.data(
                        path(), this, (data, stat) -> BrokenGrants.parse(data, stat.getVersion()))
                .whenComplete((broken, failure) -> {
                    if (failure != null) {
                        reading.completeExceptionally(failure);
                    } else {
                        CompletableFuture<?> unusedToo =
                                floor.whenComplete((stored, why) -> take(reading, broken, stored, why));
                    }
                });
    }

    private void take(
            CompletableFuture<BrokenGrants> reading,
            BrokenGrants broken,
            @Nullable StoredFloor stored,
            @Nullable Throwable failure) {
        if (stored == null) {
            reading.completeExceptionally(Objects.requireNonNull(failure, "no floor and no failure"));
            return;
        }
        tokenFloor = stored.floor();
        knowsFloor = true;
        broken.reasons.forEach(owner::broken);
        reading.complete(broken);
        over.retainAll(broken.reasons.keySet());
        removeWhatIsOver(broken);
    }

    @Override
    public void process(WatchedEvent event) {
        if (event.getType() == Event.EventType.NodeDeleted) {
            knowsFloor = false;
            latest.set(null);
            if (!owner.isOver()) {
                // By another client in this session, which was closed.
                CompletableFuture<BrokenGrants> unused = begin();
            }
        } else {
            CompletableFuture<BrokenGrants> reading = new CompletableFuture<>();
            latest.set(reading);
            read(
                    reading,
                    knowsFloor
                            ? CompletableFuture.completedFuture(new StoredFloor(tokenFloor, OptionalInt.empty()))
                            : StoredFloor.read(calls, paths.tokenFloor()));
        }
    }

    /** What is added to the number of a transaction to make a token; as of the last reading that was awaited. */
    long tokenFloor() {
        return tokenFloor;
    }

    /** Whether {@link #tokenFloor} surely holds for whatever is created in this session now. */
    boolean knowsFloor() {
        return knowsFloor;
    }

    /** Takes the node out of a session that lives on, if nothing stands there that others may have to hear. */
    void leave() {
        BrokenGrants known = known();
        if (known != null && known.reasons.isEmpty()) {
            CompletableFuture<Boolean> unused = calls.delete(path(), known.version);
        }
    }

    /** That broken grant is over: it need not be remembered any more. */
    void forget(long czxid) {
        over.add(czxid);
        BrokenGrants known = known();
        if (known != null) {
            removeWhatIsOver(known);
        }
    }

    /** If the node has changed since then this fails, and the next reading is about to come. */
    private void removeWhatIsOver(BrokenGrants heard) {
        BrokenGrants rest = heard.without(over);
        if (!rest.equals(heard)) {
            CompletableFuture<?> unused = calls.set(path(), rest.bytes(), heard.version);
        }
    }

    /**
     * What stands in the node of a session: which of its grants were broken, and why; a line of text for each.
     *
     * @param reasons by the number of the transaction that created the node of the grant; not changed any more
     * @param version of the node's data
     */
    record BrokenGrants(Map<Long, String> reasons, int version) {
        /** Much less than fits into a packet. */
        static final int MAX_BYTES = 256 * 1024;

        private static final int MAX_REASON = 4096;

        BrokenGrants with(long czxid, String reason) {
            Map<Long, String> more = new LinkedHashMap<>(reasons);
            more.put(czxid, reason.length() > MAX_REASON ? reason.substring(0, MAX_REASON) : reason);
            return new BrokenGrants(more, version);
        }

        BrokenGrants without(Set<Long> czxids) {
            Map<Long, String> fewer = new LinkedHashMap<>(reasons);
            czxids.forEach(fewer::remove);
            return new BrokenGrants(fewer, version);
        }

        byte[] bytes() {
            StringBuilder text = new StringBuilder();
            reasons.forEach((czxid, reason) -> text.append("broken ")
                    .append(czxid)
                    .append(' ')
                    .append(NodeData.encode(reason))
                    .append('\n'));
            return text.toString().getBytes(StandardCharsets.UTF_8);
        }

        /** Passes over what is not ours; {@code bytes} is null if a tool wrote nothing. */
        static BrokenGrants parse(byte @Nullable [] bytes, int version) {
            String text = bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
            Map<Long, String> reasons = new LinkedHashMap<>();
            for (String line : text.split("\n", -1)) {
                String[] words = line.split(" ", -1);
                if (words[0].equals("broken") && words.length > 1) {
                    try {
                        reasons.put(Long.parseLong(words[1]), NodeData.decode(words, 2));
                    } catch (NumberFormatException e) {
                        // Written by hand.
                    }
                }
            }
            return new BrokenGrants(reasons, version);
        }
    }
}
