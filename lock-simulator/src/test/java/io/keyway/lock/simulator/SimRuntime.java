// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.engine.ClientCell;
import io.keyway.lock.peer.engine.ClientRuntime;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.TimeSource;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * The cells of a client of a world, and its clock, as a shipping client has them: what its users ask comes to a cell
 * after the step in which they ask, and their events come after the step in which a cell tells of them.
 */
final class SimRuntime implements ClientRuntime, TimeSource, Executor {
    /** What is said to a call that blocks, when it has done what it does. */
    static final String NOBODY_WAITS = "nobody waits in a world of one thread";

    private static final long SOON = 1;

    private final SimWorld world;
    private final SimNode node;
    private final Function<Input.Command, SimCell> routes;
    private final BiConsumer<Notice, ClientCell> listener;
    private final Map<SimCell, ClientCell> origins = new HashMap<>();
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private boolean draining;

    SimRuntime(
            SimWorld world,
            SimNode node,
            Function<Input.Command, SimCell> routes,
            BiConsumer<Notice, ClientCell> listener) {
        this.world = world;
        this.node = node;
        this.routes = routes;
        this.listener = listener;
    }

    /** A cell of this client tells something. */
    void heard(SimCell cell, Notice notice) {
        execute(() -> listener.accept(notice, origins.computeIfAbsent(cell, Origin::new)));
    }

    /** That cell, as what it tells of sees it. */
    private final class Origin implements ClientCell {
        private final SimCell cell;

        Origin(SimCell cell) {
            this.cell = cell;
        }

        @Override
        public void post(Input input) {
            execute(() -> cell.input(input));
        }

        @Override
        public String server() {
            return cell.toString();
        }
    }

    /** When the step is over, in order. */
    @Override
    public void execute(Runnable task) {
        tasks.addLast(task);
        if (!draining) {
            draining = true;
            world.wake(node, SOON, 0, (Runnable) () -> {
                draining = false;
                int count = tasks.size();
                for (int i = 0; i < count; i++) {
                    tasks.removeFirst().run();
                }
            });
        }
    }

    @Override
    public void post(Input input) {
        if (input instanceof Input.Command command) {
            execute(() -> routes.apply(command).input(command));
        }
    }

    @Override
    public void after(long nanos, Runnable task) {
        world.wake(node, Math.max(SOON, nanos), 0, task);
    }

    @Override
    public TimeSource time() {
        return this;
    }

    @Override
    public long nanoTime() {
        return node.clock();
    }

    @Override
    public Scheduled at(long atNanos, Runnable task) {
        boolean[] dropped = new boolean[1];
        arm(atNanos, task, dropped);
        return () -> dropped[0] = true;
    }

    private void arm(long atNanos, Runnable task, boolean[] dropped) {
        after(atNanos - nanoTime(), () -> {
            if (!dropped[0] && nanoTime() - atNanos < 0) {
                arm(atNanos, task, dropped); // its clock is slow
            } else if (!dropped[0]) {
                task.run();
            }
        });
    }

    @Override
    public boolean manual() {
        return true;
    }

    @Override
    public <T> T await(CompletableFuture<T> outcome) {
        if (outcome.isDone()) {
            return outcome.join();
        }
        throw new IllegalStateException(NOBODY_WAITS);
    }

    @Override
    public String server() {
        return node.toString();
    }

    @Override
    public void observe(LockEngine.Observer observer) {}

    @Override
    public void close() {}
}
