// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.keyway.lock.jdbc.Connections.Borrowed;
import io.keyway.lock.jdbc.Lanes.Purpose;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connections of the application's DataSource, all of which the application may have taken: even by threads that wait
 * for a lock. So one connection is kept, and no thread of a caller waits in {@code getConnection}, which has a limit of
 * its own, or none.
 *
 * <p><b>States.</b> The kept connection is <i>missing</i>, <i>free</i> or <i>out</i>. Other connections are
 * <i>fetched</i>, each on a daemon thread, and then <i>ready</i> for a caller that waits. A fetch outlives a caller
 * that leaves, and serves the next one.
 *
 * <p><b>Invariants.</b> For each caller that waits there is one fetch that may still end soon: one that takes longer
 * than a request may never end, and counts no more, up to as many as the client may have connections. A connection that
 * nobody waits for is given back, unless the kept one is missing. Renewals and releases go by the kept one alone. Other
 * callers get it only if the pool gives none for {@link #GRACE}, and if no renewal waits for it.
 */
final class SharedSource implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SharedSource.class);

    /** How long a pool may take for a connection until it is taken for one that has none. */
    private static final long GRACE = TimeUnit.MILLISECONDS.toNanos(100);

    /** A connection that was idle for longer is tried before it is used. */
    private static final long IDLE = TimeUnit.MILLISECONDS.toNanos(500);

    /** How long a thread stays that has nothing to fetch. */
    private static final Duration LINGER = Duration.ofSeconds(1);

    private final DataSource source;
    private final String place;
    private final Duration requestTimeout;
    private final int connections;
    private final boolean keeps;
    private final ExecutorService threads;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition change = lock.newCondition();

    private @Nullable Borrowed kept;
    private boolean keptIsFree;
    private long keptSince;
    private boolean keeperWaits;

    private final Deque<Borrowed> ready = new ArrayDeque<>();
    private final Set<Fetch> fetches = new LinkedHashSet<>();

    /** How many calls of the pool have not ended, those that are waited for no more included. */
    private int calls;

    /** How many callers wait for a connection that is not the kept one. */
    private int waiting;

    private int failures;

    /** Of the last fetch that ended, if it failed. */
    private @Nullable Throwable failure;

    private boolean warned;
    private boolean closed;

    /** One call of {@code getConnection}, which began at that time. */
    private static final class Fetch {
        final long begun = System.nanoTime();

        long nanos() {
            return System.nanoTime() - begun;
        }
    }

    /** {@code keeps} is whether one connection is kept. */
    SharedSource(DataSource source, JdbcSettings settings, boolean keeps, ThreadFactory daemons) {
        this.source = source;
        this.place = settings.place();
        this.requestTimeout = settings.requestTimeout();
        this.connections = settings.get(JdbcOptions.CONNECTIONS);
        this.keeps = keeps;
        this.threads = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, LINGER.toMillis(), TimeUnit.MILLISECONDS, new SynchronousQueue<>(), daemons);
    }

    /** {@return a connection for one piece of work} */
    Borrowed take(Purpose purpose, Deadline deadline) throws Exception {
        while (true) {
            Borrowed borrowed = await(purpose == Purpose.KEEPING && keeps, keeps, deadline);
            if (isAlive(borrowed, purpose, deadline)) {
                return borrowed;
            }
            borrowed.discard();
            borrowed.close();
        }
    }

    /** {@return a connection that is not the kept one, for as long as the caller wants it} */
    Borrowed take(Deadline deadline) throws Exception {
        return await(false, false, deadline);
    }

    /** A pool has tried its connections itself; the kept one has not been there since. */
    private boolean isAlive(Borrowed borrowed, Purpose purpose, Deadline deadline) {
        lock.lock();
        try {
            if (borrowed != kept || System.nanoTime() - keptSince < IDLE) {
                return true;
            }
        } finally {
            lock.unlock();
        }
        try {
            Deadline limit = limit(borrowed, purpose, deadline);
            borrowed.limit(limit);
            return borrowed.connection.isValid(limit.seconds());
        } catch (SQLException e) {
            return false;
        }
    }

    private Borrowed await(boolean keeper, boolean mayHaveKept, Deadline deadline) throws Exception {
        long begun = System.nanoTime();
        boolean seeks = false;
        @Nullable Borrowed surplus;
        lock.lockInterruptibly();
        try {
            int before = failures;
            keeperWaits |= keeper;
            while (true) {
                boolean wants = !keeper || kept == null;
                waiting += wants == seeks ? 0 : wants ? 1 : -1;
                seeks = wants;
                if (closed) {
                    throw new NotExecutedException("the client is closed");
                }
                boolean failed = failures != before;
                Borrowed found = found(keeper, mayHaveKept && (failed || isShort(begun)));
                if (found != null) {
                    return found;
                }
                boolean awaitsKept = kept != null && mayHaveKept;
                if (failed && !awaitsKept) {
                    throw refused();
                }
                long left = deadline.nanos();
                if (left == 0) {
                    throw full();
                }
                if (seeks && !failed && lacks()) {
                    fetch();
                }
                warnIfFull();
                change.awaitNanos(Math.min(left, awaitsKept ? GRACE : requestTimeout.toNanos()));
            }
        } finally {
            waiting -= seeks ? 1 : 0;
            keeperWaits &= !keeper;
            surplus = ready.size() > waiting ? ready.poll() : null;
            lock.unlock();
            if (surplus != null) {
                surplus.restore();
            }
        }
    }

    private @Nullable Borrowed found(boolean keeper, boolean mayHaveKept) {
        if (!ready.isEmpty() && (!keeper || kept == null)) {
            Borrowed found = ready.poll();
            if (keeper) {
                kept = found;
                keptIsFree = false;
                keptSince = System.nanoTime();
            }
            return found;
        }
        if (kept != null && keptIsFree && (keeper || (mayHaveKept && !keeperWaits))) {
            keptIsFree = false;
            return kept;
        }
        return null;
    }

    /** Whether one more call of the pool may help a caller that waits. */
    private boolean lacks() {
        long hopeful = fetches.stream().filter(each -> !isHopeless(each)).count();
        return hopeful + ready.size() < waiting && calls < waiting + connections;
    }

    private boolean isHopeless(Fetch fetch) {
        return fetch.nanos() >= requestTimeout.toNanos();
    }

    /** Whether the pool makes a caller wait that came then. */
    private boolean isShort(long since) {
        return !fetches.isEmpty() && (System.nanoTime() - since >= GRACE || isShort());
    }

    private boolean isShort() {
        return !fetches.isEmpty() && fetches.iterator().next().nanos() >= GRACE;
    }

    /** Whether the pool has no connection at the moment, as far as is known. */
    boolean isFull() {
        lock.lock();
        try {
            return isShort() || failure != null;
        } finally {
            lock.unlock();
        }
    }

    /**
     * A call that is in a hurry must not cost the others the kept connection, which may not come again; a renewal may,
     * unless the pool is known to have no other one.
     */
    Deadline limit(Borrowed borrowed, Purpose purpose, Deadline deadline) {
        Deadline request = Deadline.after(requestTimeout);
        lock.lock();
        try {
            boolean spared = borrowed == kept && (purpose == Purpose.ASKING || isShort() || failure != null);
            return spared && request.nanos() > deadline.nanos() ? request : deadline;
        } finally {
            lock.unlock();
        }
    }

    private void fetch() {
        Fetch fetch = new Fetch();
        threads.execute(() -> fetch(fetch));
        // It needs the lock to end, which this thread has.
        fetches.add(fetch);
        calls++;
    }

    private void fetch(Fetch fetch) {
        Borrowed fetched = null;
        Throwable failed = null;
        try {
            fetched = new Borrowed(source.getConnection(), null, this);
        } catch (Throwable e) {
            // The callers that wait throw it.
            failed = e;
        }
        boolean wanted = false;
        lock.lock();
        try {
            warnIfFull();
            fetches.remove(fetch);
            calls--;
            if (fetched != null) {
                failure = null;
                // The pool has served a later call first.
                fetches.removeIf(this::isHopeless);
                wanted = comeBack(fetched);
            } else {
                failures++;
                failure = failed;
            }
            change.signalAll();
        } finally {
            lock.unlock();
        }
        if (fetched != null && !wanted) {
            fetched.restore();
        }
    }

    /** That connection is free. {@return whether it is wanted here; else it goes back to the pool} */
    boolean takesBack(Borrowed borrowed) {
        lock.lock();
        try {
            change.signalAll();
            return comeBack(borrowed);
        } finally {
            lock.unlock();
        }
    }

    private boolean comeBack(Borrowed borrowed) {
        boolean isKept = borrowed == kept;
        if (borrowed.isDiscarded() || closed) {
            if (isKept) {
                kept = null;
            }
            return false;
        }
        if (isKept || (kept == null && keeps)) {
            kept = borrowed;
            keptIsFree = true;
            keptSince = System.nanoTime();
            return true;
        }
        return ready.size() < waiting && ready.add(borrowed);
    }

    private void warnIfFull() {
        if (!warned && !fetches.isEmpty() && fetches.iterator().next().nanos() > requestTimeout.toNanos()) {
            warned = true;
            LOG.warn("There is {}. {}", nothingCame(), WHAT_TO_DO);
        }
    }

    private static final String WHAT_TO_DO = "The application may have taken all of them, as by threads that wait for a"
            + " lock with a connection in hand. Give locks a pool of their own: leave the option dataSource out, or"
            + " give it another DataSource.";

    private String nothingCame() {
        return "no connection to " + place + " came in time from the application's DataSource (" + name() + ")";
    }

    private NotExecutedException full() {
        return new NotExecutedException(nothingCame() + ". " + WHAT_TO_DO);
    }

    /** What the pool says by itself, without a word of the database, is that it has none left. */
    private Exception refused() {
        Throwable said = failure;
        if (said instanceof Error e) {
            throw e;
        }
        if (said instanceof SQLException e && e.getSQLState() == null) {
            return new NotExecutedException(nothingCame() + ": " + Masked.message(e) + ". " + WHAT_TO_DO, e);
        }
        return said instanceof Exception e ? e : full();
    }

    /** Its address may hold a secret, which its text may show. */
    private String name() {
        return source instanceof HikariDataSource hikari && hikari.getPoolName() != null
                ? hikari.getPoolName()
                : source.getClass().getSimpleName();
    }

    /** Gives back what nobody uses; the rest goes back when it is no longer used. */
    @Override
    public void close() {
        Deque<Borrowed> all = new ArrayDeque<>();
        lock.lock();
        try {
            closed = true;
            all.addAll(ready);
            ready.clear();
            if (kept != null && keptIsFree) {
                all.add(kept);
                kept = null;
            }
            change.signalAll();
        } finally {
            lock.unlock();
        }
        threads.shutdown();
        all.forEach(Borrowed::restore);
    }
}
