// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * One request in one session: its node, and where that stands. While it waits it watches one node, that which decides when
 * its turn comes; what the watch says is followed up on the thread of the session's events, without a wait, and the kit is
 * told when the turn has come. An attempt and a withdrawal are made one after the other ({@link #begin}).
 */
final class Place {
    final Request request;
    final Session session;
    final String container;
    final String owner;

    /** Its node's path, but for the number. */
    private final String prefix;

    private final byte[] note;
    private final Consumer<Place> turn;
    private final ReentrantLock verb = new ReentrantLock();
    private @Nullable CompletableFuture<Node> creation;
    private boolean uncertain;

    /** Null until it is created, or again when somebody has deleted it. */
    private volatile @Nullable Node node;

    /** What is known about its line; null before the first attempt. */
    private volatile @Nullable Head head;

    private Head.Entry entry = Head.Entry.UNPLEDGED;

    private volatile Standing standing = Standing.ABSENT;

    /** What is watched is not known: look again. */
    private volatile boolean stale = true;

    private volatile long lookedAt;

    /** Counts what is watched; an answer or event of an earlier watch says nothing. */
    private int watch;

    /** It was not granted at once, and those behind it have not been told that it is. */
    private volatile boolean waited;

    private volatile boolean everWaited;

    /** The grant was handed out. */
    volatile boolean held;

    /** This client waits for the node to change. */
    volatile boolean watched;

    volatile boolean broken;

    /** {@code note}: what its node is to hold; not changed any more. */
    Place(Request request, Session session, String container, byte[] note, Consumer<Place> turn) {
        this.request = request;
        this.session = session;
        this.container = container;
        this.owner = Ticket.owner(session.id(), request.id());
        this.prefix = container + "/" + Ticket.prefix(owner, request);
        this.note = note;
        this.turn = turn;
    }

    /** Waits until no other attempt or withdrawal is under way; to be ended by {@link #end}. */
    void begin(Limit limit) throws TimeoutException, InterruptedException {
        if (!verb.tryLock(limit.end().nanos(), TimeUnit.NANOSECONDS)) {
            throw new TimeoutException("another call for request " + request.id() + " was under way all the time");
        }
    }

    void end() {
        verb.unlock();
    }

    @Nullable
    Node node() {
        return node;
    }

    Standing standing() {
        return standing;
    }

    /** Those behind it may watch how it leaves. */
    boolean isFollowed() {
        return request.mode() == LockMode.EXCLUSIVE && (everWaited || standing.followed());
    }

    boolean isStale() {
        return stale;
    }

    long lookedAt() {
        return lookedAt;
    }

    /** The grant is handed out; true if it had to be waited for. */
    boolean handOut() {
        held = true;
        boolean first = waited;
        waited = false;
        return first;
    }

    Grant grant(Node created) {
        return new Grant(request.id(), request.key(), created.czxid(), session.timeout(), created.path());
    }

    /** Where it is to stand; to be called before it enters. */
    void goTo(Head line) {
        head = line;
    }

    @Nullable
    Head head() {
        return head;
    }

    /**
     * Creates the node if there is none yet, and lists the line, in one round trip. If the answer to the creation was lost
     * it looks first whether the node is there. If its number alone says that it is the first, there is no listing.
     *
     * @return empty if it is the first by its number; it is granted
     * @throws KeeperException.NoNodeException if the container is missing
     */
    Optional<List<String>> enter(Limit limit) throws KeeperException, TimeoutException, InterruptedException {
        if (uncertain) {
            lookFor(limit);
        }
        Head line = head;
        CompletableFuture<Node> created = creation;
        if (node == null && created == null) {
            entry = line == null ? Head.Entry.UNPLEDGED : line.entry();
            created = session.create(prefix, note, CreateMode.EPHEMERAL_SEQUENTIAL);
            creation = created;
            if (line != null && entry == Head.Entry.ALONE) {
                settle(created, limit);
                if (line.knowsFirst(number())) {
                    first();
                    return Optional.empty();
                }
                created = null;
            }
        }
        CompletableFuture<List<String>> listing = session.children(container, null);
        if (created == null) {
            return Optional.of(limit.await(listing));
        }
        List<String> names = List.of();
        KeeperException failure = null;
        try {
            // It is answered last, so that the thread is woken once.
            names = limit.await(listing);
        } catch (KeeperException e) {
            failure = e;
        }
        settle(created, limit);
        if (failure != null) {
            throw failure;
        }
        return Optional.of(names);
    }

    private synchronized void first() {
        standing = Standing.FIRST_BY_NUMBER;
        lookedAt = System.nanoTime();
        stale = false;
        watch++;
    }

    private int number() {
        Node own = node;
        if (own == null) {
            throw new IllegalStateException("not created");
        }
        return Ticket.number(own.path(), prefix.length());
    }

    /** Its node was deleted by this client. */
    void deleted() {
        Head line = head;
        if (line != null && node != null) {
            line.deleted(number());
        }
    }

    /** Waits for the creation that is on its way. */
    private void settle(CompletableFuture<Node> created, Limit limit)
            throws KeeperException, TimeoutException, InterruptedException {
        try {
            node = limit.await(created);
            creation = null;
        } catch (KeeperException e) {
            creation = null;
            uncertain = e instanceof KeeperException.ConnectionLossException
                    || e instanceof KeeperException.OperationTimeoutException;
            throw e;
        }
    }

    /** Finds out whether there is a node, and stops to watch for a turn: the request is given up. */
    void find(Limit limit) throws KeeperException, TimeoutException, InterruptedException {
        stopWatching();
        CompletableFuture<Node> created = creation;
        if (created != null) {
            try {
                settle(created, limit);
            } catch (KeeperException.ConnectionLossException e) {
                // Looked for below.
            }
        }
        if (uncertain) {
            lookFor(limit);
        }
    }

    /** Looks for the node by session and id, behind everything that this session has sent. */
    private void lookFor(Limit limit) throws KeeperException, TimeoutException, InterruptedException {
        CompletableFuture<Boolean> synced = session.sync(container);
        CompletableFuture<List<String>> listing = session.children(container, null);
        limit.await(synced);
        String name = null;
        try {
            name = limit.await(listing).stream()
                    .filter(each -> each.startsWith(owner))
                    .findFirst()
                    .orElse(null);
        } catch (KeeperException.NoNodeException e) {
            // Without a container there is no node.
        }
        if (name != null) {
            String path = container + "/" + name;
            Content content = limit.await(session.content(path, null));
            node = new Node(path, content.stat().getCzxid());
        }
        uncertain = false;
    }

    /** The node is gone: the request stands nowhere. */
    void lost() {
        node = null;
        held = false;
        broken = false;
        watched = false;
        standing = Standing.ABSENT;
        stale = true;
    }

    /** Takes a listing, and watches what it says is to be watched. True if the turn has come, or somebody deleted the node. */
    boolean look(List<String> names) {
        return look(names, 0);
    }

    /** {@code lineWatch}: the count of the watch that came with the listing, 0 if none did. */
    private boolean look(List<String> names, int lineWatch) {
        Line line = Line.of(names);
        Standing seen = line.of(owner);
        int count;
        synchronized (this) {
            if (lineWatch != 0 && lineWatch != watch) {
                return false;
            }
            boolean wasGranted = standing.kind() == Standing.Kind.GRANTED;
            standing = seen;
            lookedAt = System.nanoTime();
            stale = false;
            count = lineWatch != 0 ? lineWatch : ++watch;
            if (seen.kind() == Standing.Kind.GRANTED) {
                standsFirst(seen);
                return !wasGranted;
            }
            waited = true;
            everWaited = true;
        }
        if (seen.kind() == Standing.Kind.ABSENT) {
            return true;
        }
        if (!request.queue()) {
            return false;
        }
        if (seen.behind().isPresent()) {
            watch(seen.behind().get(), seen.then(), count);
        } else if (lineWatch == 0) {
            lookAndWatchLine();
        }
        return false;
    }

    private void standsFirst(Standing seen) {
        Head line = head;
        if (line != null && node != null && seen.ahead() == 0) {
            line.isFirst(number(), entry);
        }
    }

    private void watch(String name, Standing.Knowledge then, int count) {
        Ahead.Listener listener = new Ahead.Listener() {
            @Override
            public void left(boolean nobody) {
                follow(nobody, count);
            }

            @Override
            public void lostSight() {
                stale = true;
            }
        };
        if (request.mode() == LockMode.PERMITS) {
            Ahead.watchPermits(session, container + "/" + name, listener);
        } else {
            Ahead.watch(session, container + "/" + name, then, listener);
        }
    }

    /** Whom it watched has left or changed. */
    private void follow(boolean granted, int count) {
        boolean wasFirst;
        synchronized (this) {
            if (count != watch) {
                return;
            }
            wasFirst = standing.kind() == Standing.Kind.FIRST;
            if (granted) {
                watch++;
                standing = standing.granted();
            }
        }
        if (granted) {
            turn.accept(this);
        } else if (wasFirst) {
            lookAndWatchLine();
        } else {
            CompletableFuture<List<String>> unused = session.children(container, null)
                    .whenComplete((names, failure) -> {
                        if (failure != null) {
                            stale = true;
                        } else if (isWatch(count) && look(names)) {
                            turn.accept(this);
                        }
                    });
        }
    }

    private void lookAndWatchLine() {
        int count;
        synchronized (this) {
            count = ++watch;
        }
        Watcher watcher = event -> {
            if (event.getType() != Watcher.Event.EventType.None) {
                follow(false, count);
            }
        };
        CompletableFuture<List<String>> unused = session.children(container, watcher)
                .whenComplete((names, failure) -> {
                    if (failure != null) {
                        stale = true;
                    } else if (look(names, count)) {
                        turn.accept(this);
                    }
                });
    }

    private synchronized boolean isWatch(int count) {
        return count == watch;
    }

    private synchronized void stopWatching() {
        watch++;
    }

    /** Tells those behind it that it waits no more; they look at permits anew. */
    void announce() {
        Node own = node;
        if (own != null && request.mode() == LockMode.PERMITS && standing.followed()) {
            CompletableFuture<Stat> unused =
                    session.set(own.path(), Note.of(request.owner()).asGranted().bytes(), -1);
        }
    }
}
