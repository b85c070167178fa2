// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockKey;
import io.keyway.lock.jdbc.Connections.Borrowed;
import io.keyway.lock.jdbc.Lanes.Purpose;
import io.keyway.lock.kit.table.Notice;
import io.keyway.lock.kit.table.RowStore.Listener;
import io.keyway.lock.kit.table.RowStore.Stored;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How the waiters of one client hear that their turn has come: by the database's notifications where it has them, else
 * by looking, for all of them together. A message of the client to itself, now and then, shows whether notifications
 * arrive; while they do not, and while the application has taken all connections, it looks. Nothing is done, and no
 * connection kept, while nobody waits.
 */
final class WakeUps implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(WakeUps.class);

    private static final String TRIAL = "trial ";
    private static final Duration SLICE = Duration.ofMillis(100);
    private static final Duration TRIAL_LIMIT = Duration.ofSeconds(2);
    private static final Duration TRIAL_EVERY = Duration.ofSeconds(10);
    private static final Duration DEAF_FOR = Duration.ofSeconds(10);
    private static final Duration IDLE_FOR = Duration.ofSeconds(30);
    private static final long SOONEST = Duration.ofMillis(10).toNanos();
    private static final long LATEST = Duration.ofMillis(100).toNanos();
    private static final int LOOKED_AT = 200;

    private final TableStore store;
    private final Connections connections;
    private final Dialect dialect;
    private final TableName table;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition change = lock.newCondition();

    /** The keys for which this client waits, and the versions of their rows as they were seen by looking. */
    private final Map<LockKey, Long> waited = new HashMap<>();

    private String client = "";
    private @Nullable Listener listener;
    private boolean warned;
    private volatile boolean closed;

    WakeUps(TableStore store, Connections connections, Dialect dialect, TableName table) {
        this.store = store;
        this.connections = connections;
        this.dialect = dialect;
        this.table = table;
    }

    void start(String incarnation, Listener heard) {
        client = incarnation;
        listener = heard;
        heard.signals().background("wake-ups", this::run);
    }

    /** Whether a request of this client waits for that key. */
    void waits(LockKey key, boolean waits) {
        lock.lock();
        try {
            if (!waits) {
                waited.remove(key);
            } else if (waited.putIfAbsent(key, 0L) == null) {
                change.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    private void run() throws Exception {
        while (!closed) {
            awaitWaiters();
            if (!listen()) {
                look(DEAF_FOR);
            }
        }
    }

    private void awaitWaiters() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (waited.isEmpty()) {
                change.await();
            }
        } finally {
            lock.unlock();
        }
    }

    // Listening.

    /** Returns when nobody has waited for a while; false if notifications do not arrive. */
    private boolean listen() throws Exception {
        if (connections.sharesSessions()) {
            // The next client that has the session would hear it.
            deaf();
            return false;
        }
        if (connections.isFull()) {
            return false;
        }
        try (Borrowed borrowed = connections.borrow(Deadline.after(TRIAL_LIMIT))) {
            Optional<Dialect.Channel> channel = dialect.channel(borrowed.connection);
            if (channel.isEmpty()) {
                return false;
            }
            if (isShared(borrowed)) {
                deaf();
                return false;
            }
            try {
                return listen(borrowed, channel.get());
            } finally {
                // In the pool it would go on to listen.
                borrowed.discard();
            }
        } catch (NotExecutedException e) {
            if (connections.isFull()) {
                return false;
            }
            throw e;
        }
    }

    /** Whether a session is another client's next: the address may lead to a pool since a fail-over. */
    private boolean isShared(Borrowed borrowed) throws Exception {
        Deadline deadline = Deadline.after(TRIAL_LIMIT);
        borrowed.limit(deadline);
        if (dialect.isPooled(borrowed.connection)) {
            store.heedPoolers(deadline);
        }
        return connections.sharesSessions();
    }

    private boolean listen(Borrowed borrowed, Dialect.Channel channel) throws SQLException, InterruptedException {
        borrowed.limit(Deadline.after(TRIAL_LIMIT));
        channel.listen(client);
        long lastWaited = System.nanoTime();
        long tried = 0;
        boolean heard = false;
        boolean pending = false;
        while (System.nanoTime() - lastWaited < IDLE_FOR.toNanos()) {
            long now = System.nanoTime();
            if (pending && now - tried > TRIAL_LIMIT.toNanos()) {
                deaf();
                return false;
            }
            if (!pending && (tried == 0 || now - tried > TRIAL_EVERY.toNanos())) {
                channel.tell(client, TRIAL);
                pending = true;
                tried = now;
            }
            for (String text : channel.next(SLICE)) {
                if (text.equals(TRIAL)) {
                    pending = false;
                    if (!heard) {
                        heard = true;
                        // What was told before it listened.
                        listener().signals().recheckAll();
                    }
                } else {
                    Optional<Notice> notice = NoticeText.read(client, text);
                    notice.ifPresent(listener()::told);
                }
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (isWaitedFor()) {
                lastWaited = now;
            }
        }
        return true;
    }

    private boolean isWaitedFor() {
        lock.lock();
        try {
            return !waited.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    private void deaf() {
        if (!warned) {
            warned = true;
            LOG.warn(
                    "Notifications of {} do not arrive, as behind a pool that gives each transaction another"
                            + " connection: this client looks every {} ms whether a lock that it waits for has come"
                            + " free. Connect to the server itself.",
                    dialect.name(),
                    TimeUnit.NANOSECONDS.toMillis(LATEST));
        }
    }

    // Looking.

    private void look(Duration limit) throws Exception {
        long end = System.nanoTime() + limit.toNanos();
        long pause = SOONEST;
        while (System.nanoTime() - end < 0 && !closed && isWaitedFor()) {
            // Not all clients at once.
            TimeUnit.NANOSECONDS.sleep(ThreadLocalRandom.current().nextLong(pause / 2, pause));
            pause = lookOnce() ? SOONEST : Math.min(LATEST, pause + pause / 2);
        }
    }

    /** Whether a row has changed; only of those that have the state is read, which is long where many wait. */
    private boolean lookOnce() throws Exception {
        List<LockKey> keys;
        lock.lock();
        try {
            keys = List.copyOf(waited.keySet());
        } finally {
            lock.unlock();
        }
        boolean changed = false;
        for (int from = 0; from < keys.size(); from += LOOKED_AT) {
            List<LockKey> some = keys.subList(from, Math.min(keys.size(), from + LOOKED_AT));
            List<LockKey> others = store
                    .call(
                            Purpose.ASKING,
                            Deadline.after(TRIAL_LIMIT),
                            connection -> SqlText.versions(connection, table, some))
                    .entrySet()
                    .stream()
                    .filter(each -> isNew(each.getKey(), each.getValue()))
                    .map(Map.Entry::getKey)
                    .toList();
            if (!others.isEmpty()) {
                changed = true;
                List<Stored> rows = store.call(
                        Purpose.ASKING,
                        Deadline.after(TRIAL_LIMIT),
                        connection -> dialect.read(connection, table, others));
                for (int i = 0; i < others.size(); i++) {
                    if (rows.get(i).version() != SqlText.UNREADABLE) {
                        listener().changed(others.get(i), rows.get(i));
                    }
                }
            }
        }
        return changed;
    }

    private boolean isNew(LockKey key, long version) {
        lock.lock();
        try {
            Long before = waited.get(key);
            if (before == null || before == version) {
                return false;
            }
            waited.put(key, version);
            return true;
        } finally {
            lock.unlock();
        }
    }

    private Listener listener() {
        Listener heard = listener;
        if (heard == null) {
            throw new IllegalStateException("not started");
        }
        return heard;
    }

    @Override
    public void close() {
        closed = true;
    }
}
