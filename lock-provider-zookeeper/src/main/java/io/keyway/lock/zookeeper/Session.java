// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * One session with the ensemble. It has one handle, which lives no longer than the session: what is created here dies
 * with it, and nothing of an earlier session is ever taken for its own.
 *
 * <p><b>States.</b>
 *
 * <ul>
 *   <li>Begun: there may be a handle, and no server has taken the session. {@code link} is not complete.
 *   <li>Connected: {@code link} is complete. The session timeout is known from now on.
 *   <li>Suspended: the connection was lost, and {@code link} is a new one. All that was granted is still granted: the
 *       ensemble keeps the session for its timeout, and the handle goes on to look for a server.
 *   <li>Over, once and for all: the ensemble has answered so, the credentials were refused ({@code refused}), the
 *       handle was closed or given up, or this client has not heard of the ensemble for so long that the handle ends
 *       itself. {@code link} has failed.
 * </ul>
 *
 * <p><b>Messages.</b> Events of the handle ({@link #process}), a server that is about to be dialled ({@link #dials}),
 * the answer of any call that says that the session is over ({@link #expired}), the word of its owner ({@link #end}),
 * and the breaks of its grants ({@link BreakMailbox}). The {@link Listener} hears of each change.
 *
 * <p><b>Invariants.</b> The ensemble answers the calls of a session in the order in which they were sent, and all that
 * it says, answers and events alike, is told in the order in which it was received, by one thread; the callers rest on
 * both. The end is told once, and after {@link #isOver} is true.
 */
final class Session extends EnsembleCalls implements Watcher, BreakMailbox.Owner {

    /** Hears of one session; mostly on the thread of its events. */
    interface Listener {
        void connected(Session session);

        void suspended(Session session);

        /** The session is over, which ends all that it holds. */
        void ended(Session session, String why);

        /**
         * The grant whose node that transaction created was broken; told again whenever something else is broken
         * before it is released.
         */
        void broken(Session session, long czxid, String reason);
    }

    /** For a session whose handle nobody gives up. */
    static final BooleanSupplier NEVER_REPLACED = () -> false;

    private static final Duration EARLY = Duration.ofMillis(450);

    private final Common common;
    private final @Nullable ACLProvider aclProvider;
    private final List<ACL> defaultAcl;
    private final String client;
    private final Listener listener;
    private final BooleanSupplier replaced;
    private final CompletableFuture<ZooKeeper> begun = new CompletableFuture<>();
    private final Watches watches = new Watches(this);
    private final BreakMailbox breaks;
    private final Map<String, Container> containers = new HashMap<>();
    private final AtomicBoolean ending = new AtomicBoolean();
    private @Nullable CompletableFuture<Boolean> watched;
    private volatile CompletableFuture<Boolean> link = new CompletableFuture<>();
    private volatile boolean wasConnected;

    /** Since when no server has taken it ({@link System#nanoTime}). */
    private volatile long silentSince = System.nanoTime();

    /** Servers whose names have no address. */
    private final Set<String> unknown = ConcurrentHashMap.newKeySet();

    private volatile boolean over;
    private volatile boolean refused;
    private volatile @Nullable String id;

    /** The last timeout that the ensemble has agreed to, in milliseconds: a handle forgets it with the session. */
    private volatile int lastTimeout;

    /**
     * What all sessions of a client have in common.
     *
     * @param servers of the ensemble, for messages
     * @param defaultAcl who may do what with the nodes, unless {@code aclProvider} says it for each path
     */
    record Common(String servers, List<ACL> defaultAcl, Optional<ACLProvider> aclProvider, Paths paths) {

        /** The exception for a client that the ensemble does not let in. */
        InvalidLockUrlException refusal(Exception cause) {
            return new InvalidLockUrlException(
                    "The ensemble " + servers
                            + " refused the credentials of this client. With SASL they are those of the"
                            + " section Client of its JAAS configuration; the log of org.apache.zookeeper says more.",
                    cause);
        }
    }

    /**
     * A session that is about to begin.
     *
     * @param client tells its nodes from those of other clients in the same session; empty if there is no other
     * @param replaced whether the handle was given up by its owner
     */
    Session(Common common, String client, Listener listener, BooleanSupplier replaced) {
        this.common = common;
        this.aclProvider = common.aclProvider().orElse(null);
        this.defaultAcl = common.defaultAcl();
        this.client = client;
        this.listener = listener;
        this.replaced = replaced;
        this.breaks = new BreakMailbox(this, watches, this, common.paths());
    }

    /** The handle was made; what it tells waits for this. */
    void begin(ZooKeeper handle) {
        begun.complete(handle);
    }

    /** A server is about to be dialled. */
    void dials(InetSocketAddress server) {
        if (server.isUnresolved()) {
            unknown.add(server.getHostString());
        } else {
            unknown.remove(server.getHostString());
        }
    }

    @Override
    ZooKeeper handle() {
        return begun.join();
    }

    @Override
    List<ACL> acl(String path) {
        return aclProvider == null ? defaultAcl : aclProvider.getAclForPath(path);
    }

    @Override
    void expired() {
        end("session " + id() + " of this client is over");
    }

    // The state of the connection.

    @Override
    public void process(WatchedEvent event) {
        if (event.getType() != Event.EventType.None) {
            again();
            return;
        }
        ZooKeeper unused = begun.join();
        switch (event.getState()) {
            case SyncConnected -> connected();
            case Disconnected -> suspended();
            case Expired ->
                end("session " + id() + " of this client is over: for "
                        + timeout().toMillis() + " ms or more the ensemble had not heard it, or it the ensemble");
            case Closed -> end("session " + id() + " of this client was closed");
            case AuthFailed -> {
                refused = true;
                end("the ensemble refused the credentials");
            }
            default -> {}
        }
    }

    /**
     * For a handle that is not ours: has this session hear what becomes of it. The watcher of a node that nobody ever
     * creates hears that, and nothing else. Completes when a server has taken the session.
     */
    synchronized CompletableFuture<Boolean> watchState() {
        CompletableFuture<Boolean> asked = watched;
        if (asked == null || asked.isCompletedExceptionally()) {
            asked = state(common.paths().nothing(), this, this::connected);
            watched = asked;
        }
        return asked;
    }

    /** Takes all watchers, and the anchors in containers, out of a handle that lives on. */
    void unwatchAll() {
        List.copyOf(containers.values()).forEach(Container::forget);
        watches.removeAll();
        removeWatch(common.paths().nothing(), this, WatcherType.Data);
    }

    /** A server has taken the session. */
    private void connected() {
        synchronized (this) {
            if (over) {
                return;
            }
            wasConnected = true;
            lastTimeout = handle().getSessionTimeout();
            link.complete(true);
        }
        listener.connected(this);
    }

    /** Somebody has created the node that nobody does. */
    private void again() {
        synchronized (this) {
            if (over) {
                return;
            }
            watched = null;
        }
        CompletableFuture<Boolean> unused = watchState();
    }

    private void suspended() {
        synchronized (this) {
            if (over) {
                return;
            }
            if (link.isDone()) {
                silentSince = System.nanoTime();
                link = new CompletableFuture<>();
            }
        }
        if (wasConnected) {
            listener.suspended(this);
        }
    }

    /** Ends it: nothing of it is believed or tried any more, whatever the ensemble still keeps of it. */
    void end(String why) {
        if (endUntold(why)) {
            listener.ended(this, why);
        }
    }

    /** As {@link #end}, but the listener is not told: the client itself is closed. False if it was over before. */
    boolean endUntold(String why) {
        if (!ending.compareAndSet(false, true)) {
            return false;
        }
        synchronized (this) {
            over = true;
            NotExecutedException failure = new NotExecutedException(why);
            link.completeExceptionally(failure);
            link = CompletableFuture.failedFuture(failure);
        }
        return true;
    }

    @Override
    public boolean isOver() {
        if (!over && replaced.getAsBoolean()) {
            end("session " + id() + " was given up: the CuratorFramework has made another handle");
        }
        return over;
    }

    /** The ensemble did not let it in; it is over. */
    boolean isRefused() {
        return refused;
    }

    boolean isConnected() {
        CompletableFuture<Boolean> up = link;
        return up.isDone() && !up.isCompletedExceptionally() && !isOver();
    }

    /**
     * Waits until a server has taken the session.
     *
     * @param early whether to fail early if none has ever done so, for a caller that asks again, and at once when there
     *     is a connection
     * @throws InvalidLockUrlException if the ensemble refuses the credentials
     */
    void awaitConnected(Deadline deadline, boolean early) throws NotExecutedException, InterruptedException {
        CompletableFuture<Boolean> up = link;
        if (up.isDone() && !up.isCompletedExceptionally()) {
            return;
        }
        // In any case there is to be time left to say why nothing came.
        long left = deadline.nanos();
        long wait = wasConnected ? left / 16 * 15 : early ? Math.min(left, EARLY.toNanos()) : left / 4 * 3;
        try {
            up.get(wait, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new NotExecutedException(
                    "no server of the ensemble " + servers() + " has answered this client for "
                            + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - silentSince) + " ms"
                            + (unknown.isEmpty() ? "" : "; unknown host: " + String.join(", ", unknown)),
                    e);
        } catch (ExecutionException e) {
            Throwable why = e.getCause();
            if (refused) {
                throw common.refusal(e);
            }
            throw new NotExecutedException(why == null ? "the session is over" : String.valueOf(why.getMessage()), e);
        }
    }

    /** The id, as it stands in the names of nodes; once it was connected. */
    @Override
    public String id() {
        String known = id;
        if (known == null) {
            known = id(handle().getSessionId());
            if (wasConnected) {
                id = known;
            }
        }
        return known;
    }

    /** What the names of this client's nodes begin with. */
    String owner() {
        return id() + client;
    }

    /** A session's id, as it stands in the names of nodes. */
    static String id(long session) {
        return Long.toHexString(session);
    }

    /** The session timeout that the ensemble has agreed to. */
    Duration timeout() {
        int now = handle().getSessionTimeout();
        return Duration.ofMillis(now > 0 ? now : lastTimeout);
    }

    /** Whether a moment is longer ago than that part of the session timeout. */
    boolean isOld(long sinceNanos, int part) {
        return System.nanoTime() - sinceNanos > handle().getSessionTimeout() * 1_000_000L / part;
    }

    String servers() {
        return common.servers();
    }

    BreakMailbox breaks() {
        return breaks;
    }

    Watches watches() {
        return watches;
    }

    /** The containers that its requests are in, or were, by path; guarded by {@link Containers}. */
    Map<String, Container> containers() {
        return containers;
    }

    @Override
    public void broken(long czxid, String reason) {
        listener.broken(this, czxid, reason);
    }
}
