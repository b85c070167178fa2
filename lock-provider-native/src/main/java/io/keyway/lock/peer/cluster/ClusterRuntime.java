// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.Opening;
import io.keyway.lock.peer.engine.ClientCell;
import io.keyway.lock.peer.engine.ClientRuntime;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.net.SuspendAwareClock;
import io.keyway.lock.peer.net.SuspendAwareTime;
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
public final class ClusterRuntime implements ClientRuntime {
    private final String client;
    private final ClusterConfig place;
    private final SuspendAwareClock clock = new SuspendAwareClock();
    private final TimeSource time;
    private final BiConsumer<Notice, ClientCell> ears;
    private final List<LockEngine.Observer> observers = new CopyOnWriteArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable SocketRouter running;
    private boolean closed;

    /** @param ears told what the cells tell, and which of them */
    ClusterRuntime(String client, ClusterConfig place, TimeSource timers, BiConsumer<Notice, ClientCell> ears) {
        this.client = client;
        this.place = place;
        this.time = new SuspendAwareTime(clock, timers);
        this.ears = ears;
    }

    @Override
    public void post(Input input) {
        SocketRouter now = started();
        if (now != null && input instanceof Input.Command command) {
            now.post(command);
        }
    }

    @Override
    public void tell(Input input) {
        SocketRouter now = running;
        if (now != null && input instanceof Input.Command command) {
            now.post(command);
        }
    }

    private @Nullable SocketRouter started() {
        SocketRouter now = running;
        if (now != null) {
            return now;
        }
        lock.lock();
        try {
            if (running == null && !closed) {
                running = new SocketRouter(client, place, clock, ears, observers);
            }
            return running;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Optional<CompletionStage<Void>> greeted() {
        SocketRouter now = started();
        return now == null ? Optional.empty() : Optional.of(now.greeted());
    }

    @Override
    public TimeSource time() {
        return time;
    }

    @Override
    public String server() {
        SocketRouter now = running;
        String trouble = now == null ? "" : now.trouble();
        return "cluster " + place.cluster() + " at "
                + String.join(
                        ",", place.addresses().stream().map(NodeId::toString).toList())
                + (trouble.isEmpty() ? "" : " (" + trouble + ")");
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        Opening.Watch watch = name -> {
            SocketRouter now = running;
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
        SocketRouter ending;
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
