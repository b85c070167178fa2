// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.reference;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockKey;
import io.keyway.lock.kit.table.Notice;
import io.keyway.lock.kit.table.RowBackend;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One client's life at the store: whom to signal, on whose clock, and its way to the rows. */
public final class Session {

    private final LockBackend.Signals signals;
    private final TimeSource time;
    private final BooleanSupplier reachable;
    private final String client;
    private final RowBackend rows;
    private RowStore.@Nullable Listener listener;

    /** Begins a life: {@code signals} is told of what concerns it, on a thread of {@code time} if nobody else asked. */
    public Session(ReferenceStore store, LockBackend.Signals signals, TimeSource time) {
        this(store, signals, time, Incarnation.draw(), () -> true);
    }

    /** As the other, for a client whose link may be cut: what it is told meanwhile is lost. */
    Session(
            ReferenceStore store,
            LockBackend.Signals signals,
            TimeSource time,
            Incarnation incarnation,
            BooleanSupplier reachable) {
        this.signals = signals;
        this.time = time;
        this.reachable = reachable;
        this.client = incarnation.toString();
        this.rows = new RowBackend(new SessionRows(store, this), time::nanoTime);
        try {
            rows.start(new Linked(), incarnation);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    RowBackend rows() {
        return rows;
    }

    TimeSource time() {
        return time;
    }

    /** Returns the text of its incarnation, by which its rows name it. */
    public String client() {
        return client;
    }

    /** Called by its rows when they begin. */
    void listen(RowStore.Listener rowsOfClient) {
        listener = rowsOfClient;
    }

    void told(Notice notice) {
        RowStore.Listener told = listener;
        if (told != null) {
            told.told(notice);
        }
    }

    void tell(Consumer<LockBackend.Signals> word) {
        if (reachable.getAsBoolean()) {
            word.accept(signals);
        }
    }

    /** Waits until what the client was told has reached the application; for at most that much real time. */
    void awaitDelivery(Duration limit) {
        signals.awaitDelivery(limit);
    }

    /** What its rows say to the client, while the link stands. */
    private final class Linked implements LockBackend.Signals {
        @Override
        public void recheck(LockKey key) {
            tell(client -> client.recheck(key));
        }

        @Override
        public void ended(LockKey key, long token, LeaseLoss.Cause cause) {
            tell(client -> client.ended(key, token, cause));
        }

        @Override
        public void ended(LockKey key, long token, LeaseLoss.Cause cause, String detail) {
            tell(client -> client.ended(key, token, cause, detail));
        }

        @Override
        public void endedAll(LeaseLoss.Cause cause) {
            tell(client -> client.endedAll(cause));
        }

        @Override
        public void doubt(String why) {
            tell(client -> client.doubt(why));
        }

        @Override
        public void connected(String server) {
            tell(client -> client.connected(server));
        }

        @Override
        public void disconnected(String server, String why) {
            tell(client -> client.disconnected(server, why));
        }

        @Override
        public void background(String name, LockBackend.Loop loop) {
            signals.background(name, loop);
        }
    }
}
