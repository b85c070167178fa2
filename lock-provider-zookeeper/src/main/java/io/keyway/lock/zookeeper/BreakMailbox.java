// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

/**
 * How a session hears that its grants are broken: it has a node of its own, which it watches and whoever breaks a grant of it
 * writes into. So a break leaves the node of the grant alone: whatever happens to that is its owner's own word to those that
 * wait behind it.
 *
 * <p>The node is created before the first request of the session, and what is said there is received before the answer to any
 * call that the ensemble carried out later, since all comes by one connection and is told by one thread. So a release
 * that is answered knows of each break that came before it.
 */
final class BreakMailbox implements Watcher {
    private static final byte[] NOTHING = {};

    private final Session session;
    private final Paths paths;

    /** The last reading, done or on its way; null if the node is not watched. */
    private final AtomicReference<@Nullable CompletableFuture<BrokenGrants>> latest = new AtomicReference<>();

    private volatile long tokenFloor;

    /** Not while the node is missing, by which the floor is kept from being raised. */
    private volatile boolean knowsFloor;

    /** What stands in the node and need not, by the number of its transaction. */
    private final Set<Long> over = ConcurrentHashMap.newKeySet();

    BreakMailbox(Session session, Paths paths) {
        this.session = session;
        this.paths = paths;
    }

    private String path() {
        return paths.session(session.id());
    }

    /**
     * Sends what makes the node and watches it, if that has not been done or has failed. To be called before a request is
     * sent, so that whoever sees that request finds the node.
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
        // If it fails the reading tells why.
        CompletableFuture<CreatedNode> unused = session.create(path(), NOTHING, CreateMode.EPHEMERAL);
        read(reading, session.tokenFloor(paths.tokenFloor()));
        return reading;
    }

    /**
     * What was broken before the last answer that this thread has seen.
     *
     * @throws KeeperException.NoNodeException if the parent of the node is missing
     */
    BrokenGrants heard(Await limit) throws KeeperException, TimeoutException, InterruptedException {
        return limit.await(begin());
    }

    /** Whether that grant is known to be broken, without a wait: what is being read is told by its listener later. */
    boolean isBroken(CreatedNode grant) {
        CompletableFuture<BrokenGrants> known = latest.get();
        return known != null
                && known.isDone()
                && !known.isCompletedExceptionally()
                && known.join().has(grant);
    }

    /** {@code floor}: of tokens, asked for before. */
    private void read(CompletableFuture<BrokenGrants> reading, CompletableFuture<Long> floor) {
        CompletableFuture<?> unused = session.watches()
                .data(path(), this, (data, stat) -> BrokenGrants.parse(data, stat.getVersion()))
                .whenComplete((broken, failure) -> {
                    if (failure != null) {
                        reading.completeExceptionally(failure);
                    } else {
                        CompletableFuture<?> unusedToo =
                                floor.whenComplete((number, why) -> take(reading, broken, number, why));
                    }
                });
    }

    private void take(
            CompletableFuture<BrokenGrants> reading,
            BrokenGrants broken,
            @Nullable Long floor,
            @Nullable Throwable failure) {
        if (floor == null) {
            reading.completeExceptionally(Objects.requireNonNull(failure, "no floor and no failure"));
            return;
        }
        tokenFloor = floor;
        knowsFloor = true;
        broken.reasons().forEach(session::broken);
        reading.complete(broken);
        over.retainAll(broken.reasons().keySet());
        clean(broken);
    }

    @Override
    public void process(WatchedEvent event) {
        if (event.getType() == Event.EventType.NodeDeleted) {
            knowsFloor = false;
            latest.set(null);
            if (!session.isOver()) {
                // By another client in this session, which was closed.
                CompletableFuture<BrokenGrants> unused = begin();
            }
        } else {
            CompletableFuture<BrokenGrants> reading = new CompletableFuture<>();
            latest.set(reading);
            read(
                    reading,
                    knowsFloor
                            ? CompletableFuture.completedFuture(tokenFloor)
                            : session.tokenFloor(paths.tokenFloor()));
        }
    }

    /** What is added to the number of a transaction to make a token; as of what was {@link #heard} last. */
    long tokenFloor() {
        return tokenFloor;
    }

    /** Whether that is sure for whatever is created in this session now. */
    boolean knowsFloor() {
        return knowsFloor;
    }

    /** Takes the node out of a session that lives on, if nothing was said there that others may have to hear. */
    void leave() {
        CompletableFuture<BrokenGrants> known = latest.get();
        if (known != null && known.isDone() && !known.isCompletedExceptionally()) {
            BrokenGrants heard = known.join();
            if (heard.reasons().isEmpty()) {
                CompletableFuture<Boolean> unused = session.delete(path(), heard.version());
            }
        }
    }

    /** That broken grant is over: it needs not be remembered any more. */
    void forget(long czxid) {
        over.add(czxid);
        CompletableFuture<BrokenGrants> known = latest.get();
        if (known != null && known.isDone() && !known.isCompletedExceptionally()) {
            clean(known.join());
        }
    }

    /** If the node has changed since then this fails, and the next reading is about to come. */
    private void clean(BrokenGrants heard) {
        BrokenGrants rest = heard.without(over);
        if (!rest.equals(heard)) {
            CompletableFuture<?> unused = session.set(path(), rest.bytes(), heard.version());
        }
    }
}
