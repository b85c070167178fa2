// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.spi.NotExecutedException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * One session with the ensemble. It has one handle, which lives no longer than the session: what is created here dies with
 * it, and nothing of an earlier session is ever taken for its own. The ensemble answers the calls of a session in the order
 * in which they were sent; the callers rest on that.
 */
final class Session implements Watcher {

    /** Hears of one session; on the thread of its events. */
    interface Listener {
        void connected(Session session);

        void suspended(Session session);

        /** By the ensemble's word. */
        void expired(Session session);

        /** The grant of that token was broken; told again whenever something else is broken before it is released. */
        void broken(Session session, long token, String reason);
    }

    private final Terms terms;
    private final Listener listener;
    private final Handle handle;
    private final Breaks breaks;
    private final Map<String, Head> heads = new HashMap<>();
    private final AtomicLong confirmed = new AtomicLong(System.nanoTime());
    private volatile CompletableFuture<Boolean> link = new CompletableFuture<>();
    private volatile long suspendedAt;
    private volatile boolean wasConnected;

    /** Of the ensemble's wall clock before ours; null until something was created. */
    private volatile @Nullable Long clockAhead;

    private volatile boolean over;
    private volatile boolean refused;
    private volatile @Nullable String id;

    /**
     * What all sessions of a client have in common.
     *
     * @param acl who may do what with the nodes
     */
    record Terms(ZooKeeperTarget target, List<ACL> acl, Paths paths) {}

    Session(Terms terms, int timeoutMillis, Listener listener) throws NotExecutedException {
        this.terms = terms;
        this.listener = listener;
        this.breaks = new Breaks(this, terms.paths());
        this.handle = terms.target().connect(timeoutMillis, this);
    }

    // The state of the connection.

    @Override
    public void process(WatchedEvent event) {
        if (event.getType() != Event.EventType.None) {
            return;
        }
        switch (event.getState()) {
            case SyncConnected -> {
                wasConnected = true;
                link.complete(true);
                listener.connected(this);
            }
            case Disconnected -> {
                suspendedAt = System.nanoTime();
                link = new CompletableFuture<>();
                if (wasConnected && !over) {
                    listener.suspended(this);
                }
            }
            case Expired -> {
                end("the ensemble ended the session");
                listener.expired(this);
            }
            case AuthFailed -> {
                refused = true;
                end("the ensemble refused the credentials");
            }
            default -> {}
        }
    }

    private void end(String why) {
        over = true;
        CompletableFuture<Boolean> down = new CompletableFuture<>();
        down.completeExceptionally(new NotExecutedException(why));
        CompletableFuture<Boolean> waited = link;
        link = down;
        waited.completeExceptionally(new NotExecutedException(why));
    }

    boolean isOver() {
        return over;
    }

    boolean isConnected() {
        CompletableFuture<Boolean> up = link;
        return up.isDone() && !up.isCompletedExceptionally();
    }

    /**
     * Waits until a server has taken the session.
     *
     * @throws InvalidLockUrlException if it refuses the credentials
     */
    void awaitConnected(Limit limit) throws NotExecutedException, InterruptedException {
        try {
            link.get(limit.end().nanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new NotExecutedException("no server of " + terms.target().servers() + " answered in time", e);
        } catch (ExecutionException e) {
            Throwable why = e.getCause();
            if (refused) {
                throw terms.target().refusal(e);
            }
            throw new NotExecutedException(why == null ? "the session is over" : String.valueOf(why.getMessage()), e);
        }
    }

    /** True if no server has been heard for a whole term, so that nobody believes in its grants any more. */
    boolean isLost() {
        return over
                || (wasConnected
                        && !isConnected()
                        && System.nanoTime() - suspendedAt > timeout().toNanos());
    }

    /**
     * Gives the session up though the ensemble may still keep it: while a link is open one way only, the handle's attempts
     * to connect would keep it alive for ever.
     */
    void abandon() {
        end("the session was given up");
    }

    /** Ends the session at the ensemble if it can be reached, and the threads of the handle in any case. */
    void close(Duration limit) {
        over = true;
        try {
            boolean unused = handle.close((int) Math.max(1, limit.toMillis()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The id, as it stands in the names of nodes; once it was connected. */
    String id() {
        String known = id;
        if (known == null) {
            known = id(handle.getSessionId());
            id = known;
        }
        return known;
    }

    /** An id, as it stands in names. */
    static String id(long session) {
        return Long.toHexString(session);
    }

    /** The term that the ensemble has agreed to. */
    Duration timeout() {
        return Duration.ofMillis(handle.getSessionTimeout());
    }

    /** Whether something is older than that part of the term. */
    boolean isOld(long since, int part) {
        return System.nanoTime() - since > handle.getSessionTimeout() * 1_000_000L / part;
    }

    /**
     * The clock before the last call that a majority has confirmed: the ensemble ends the session no earlier than its
     * timeout after that.
     */
    long confirmedAt() {
        return confirmed.get();
    }

    private void confirm(long sentAt) {
        confirmed.accumulateAndGet(sentAt, (a, b) -> a - b >= 0 ? a : b);
    }

    String servers() {
        return terms.target().servers();
    }

    ZooKeeper handle() {
        return handle;
    }

    Breaks breaks() {
        return breaks;
    }

    /** What is known about the lines of containers; guarded by {@link Containers}. */
    Map<String, Head> heads() {
        return heads;
    }

    void broken(long token, String reason) {
        listener.broken(this, token, reason);
    }

    // Calls. Each is sent at once and never repeated.

    CompletableFuture<Node> create(String path, byte[] data, CreateMode mode) {
        CompletableFuture<Node> answer = new CompletableFuture<>();
        long sentAt = System.nanoTime();
        handle.create(
                path,
                data,
                terms.acl(),
                mode,
                (rc, asked, context, created, stat) -> written(answer, sentAt, rc, path, () -> created(created, stat)),
                null);
        return answer;
    }

    /** Creates the node of a request; answered as {@link Handle} does. */
    CompletableFuture<Node> createInLine(String prefix, byte[] data) {
        return handle.createInLine(
                prefix, data, terms.acl(), confirming(), created -> created(created.getPath(), created.getStat()));
    }

    private Node created(String path, Stat stat) {
        clockAhead = stat.getCtime() - System.currentTimeMillis();
        return new Node(path, stat.getCzxid());
    }

    /** Answered as {@link Handle} does. */
    CompletableFuture<Boolean> delete(String path) {
        return handle.deleteNow(path, confirming());
    }

    /** As the other, and says to those who watch its data that the request has held. */
    CompletableFuture<Boolean> changeAndDelete(String path) {
        return handle.changeAndDelete(path, confirming());
    }

    /** To be run when the ensemble has carried out what is sent now. */
    private Runnable confirming() {
        long sentAt = System.nanoTime();
        return () -> confirm(sentAt);
    }

    /**
     * Whether nothing had happened to the data of that node before the last answer that this thread has seen, if this session
     * has watched them since before that call; otherwise it is told on the thread of the session's events, perhaps later.
     */
    boolean isUntouched(String path) {
        return handle.isWatched(path);
    }

    /** Completes when all events were told that were received before; without an answer of the ensemble it fails. */
    CompletableFuture<Boolean> eventsSoFar() {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        handle.exists(
                "/",
                false,
                (rc, asked, context, stat) -> {
                    // What it says does not matter, nor whether this client may ask.
                    boolean answered = rc == Code.NOAUTH.intValue() || rc == Code.NONODE.intValue();
                    answered(answer, answered ? Code.OK.intValue() : rc, "/", () -> true);
                },
                null);
        return answer;
    }

    /** {@code version}: that which it must have; -1 for any. */
    CompletableFuture<Stat> set(String path, byte[] data, int version) {
        CompletableFuture<Stat> answer = new CompletableFuture<>();
        long sentAt = System.nanoTime();
        handle.setData(
                path, data, version, (rc, asked, context, stat) -> written(answer, sentAt, rc, path, () -> stat), null);
        return answer;
    }

    /**
     * A transaction, which may change nothing: a majority confirms that nodes are there, and so that the session lives.
     * Completes with a code for each; nothing is done unless all are OK.
     */
    CompletableFuture<List<Code>> transact(List<Op> steps) {
        CompletableFuture<List<Code>> answer = new CompletableFuture<>();
        long sentAt = System.nanoTime();
        handle.multi(
                steps,
                (rc, asked, context, results) -> {
                    if (rc == Code.OK.intValue()) {
                        confirm(sentAt);
                    }
                    if (results == null) {
                        fail(answer, rc, "");
                    } else {
                        answer.complete(results.stream().map(Session::code).toList());
                    }
                },
                null);
        return answer;
    }

    private static Code code(OpResult result) {
        return result instanceof OpResult.ErrorResult error ? Code.get(error.getErr()) : Code.OK;
    }

    CompletableFuture<List<String>> children(String path, @Nullable Watcher watcher) {
        CompletableFuture<List<String>> answer = new CompletableFuture<>();
        handle.getChildren(
                path,
                watcher,
                (int rc, String asked, Object context, List<String> children) ->
                        answered(answer, rc, path, () -> children),
                null);
        return answer;
    }

    CompletableFuture<Stat> stat(String path) {
        CompletableFuture<Stat> answer = new CompletableFuture<>();
        handle.exists(path, false, (rc, asked, context, stat) -> answered(answer, rc, path, () -> stat), null);
        return answer;
    }

    CompletableFuture<Content> content(String path, @Nullable Watcher watcher) {
        return read(path, watcher, (data, stat) -> new Content(Note.parse(data), stat));
    }

    <T> CompletableFuture<T> read(String path, @Nullable Watcher watcher, BiFunction<byte[], Stat, T> content) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        handle.getData(
                path,
                watcher,
                (rc, asked, context, data, stat) -> answered(answer, rc, path, () -> content.apply(data, stat)),
                null);
        return answer;
    }

    /** What is read after it is not older than this. */
    CompletableFuture<Boolean> sync(String path) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        handle.sync(path, (rc, asked, context) -> answered(answer, rc, path, () -> true), null);
        return answer;
    }

    private <T> void written(CompletableFuture<T> answer, long sentAt, int rc, String path, Supplier<T> value) {
        if (rc == Code.OK.intValue()) {
            confirm(sentAt);
        }
        answered(answer, rc, path, value);
    }

    private static <T> void answered(CompletableFuture<T> answer, int rc, String path, Supplier<T> value) {
        if (rc == Code.OK.intValue()) {
            answer.complete(value.get());
        } else {
            fail(answer, rc, path);
        }
    }

    /** The ensemble's wall clock, by the last node that was created; for ages that are shown to people. */
    long ensembleMillis(String base, Limit limit) throws KeeperException, TimeoutException, InterruptedException {
        Long ahead = clockAhead;
        if (ahead == null) {
            Node node = limit.await(create(base + "/clock-", new byte[0], CreateMode.EPHEMERAL_SEQUENTIAL));
            limit.await(delete(node.path()));
            ahead = clockAhead;
        }
        return System.currentTimeMillis() + (ahead == null ? 0 : ahead);
    }

    private static void fail(CompletableFuture<?> answer, int rc, String path) {
        answer.completeExceptionally(KeeperException.create(Code.get(rc), path));
    }
}
