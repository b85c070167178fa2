// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.Opening;
import io.keyway.lock.peer.engine.Origin;
import io.keyway.lock.peer.engine.Seat;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.net.WakefulClock;
import io.keyway.lock.peer.net.WakefulTime;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.TimeSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A client of a cluster. Nothing is opened before the first request; then the members are asked for at the addresses of the URL, and each name goes to the member that decides on it.
 *
 * <p>Belief stands on a clock that counts the time in which this machine slept, since the members did not sleep with it.
 */
public final class ClusterSeat implements Seat {
    private final String client;
    private final ClusterPlace place;
    private final WakefulClock clock = new WakefulClock();
    private final TimeSource time;
    private final BiConsumer<Notice, Origin> ears;
    private final List<LockEngine.Observer> observers = new CopyOnWriteArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable Switchboard running;
    private boolean closed;

    /** @param ears told what the cells tell, and which of them */
    ClusterSeat(String client, ClusterPlace place, TimeSource timers, BiConsumer<Notice, Origin> ears) {
        this.client = client;
        this.place = place;
        this.time = new WakefulTime(clock, timers);
        this.ears = ears;
    }

    @Override
    public void post(Input input) {
        Switchboard now = started();
        if (now != null && input instanceof Input.Command command) {
            now.post(command);
        }
    }

    @Override
    public void tell(Input input) {
        Switchboard now = running;
        if (now != null && input instanceof Input.Command command) {
            now.post(command);
        }
    }

    private @Nullable Switchboard started() {
        Switchboard now = running;
        if (now != null) {
            return now;
        }
        lock.lock();
        try {
            if (running == null && !closed) {
                running = new Switchboard(client, place, clock, ears, observers);
            }
            return running;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Optional<CompletionStage<Void>> greeted() {
        Switchboard now = started();
        return now == null ? Optional.empty() : Optional.of(now.greeted());
    }

    @Override
    public TimeSource time() {
        return time;
    }

    @Override
    public String server() {
        Switchboard now = running;
        String trouble = now == null ? "" : now.trouble();
        return "cluster " + place.cluster() + " at "
                + String.join(
                        ",", place.addresses().stream().map(NodeId::toString).toList())
                + (trouble.isEmpty() ? "" : " (" + trouble + ")");
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        Opening.Watch watch = name -> {
            Switchboard now = running;
            return now == null ? Optional.empty() : now.opening(name.toString());
        };
        return type.isInstance(watch) ? Optional.of(type.cast(watch)) : Optional.empty();
    }

    @Override
    public void observe(LockEngine.Observer observer) {
        observers.add(observer);
    }

    @Override
    public void close() {
        Switchboard ending;
        lock.lock();
        try {
            ending = closed ? null : running;
            closed = true;
        } finally {
            lock.unlock();
        }
        if (ending != null) {
            ending.end();
        }
    }
}
