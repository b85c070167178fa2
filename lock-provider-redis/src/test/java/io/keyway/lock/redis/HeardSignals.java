// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockKey;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/** Writes down what a link says, and runs its loops, each on a thread, until closed. */
final class HeardSignals implements LockBackend.Signals, AutoCloseable {
    /** A grant by message. */
    record Granted(Request request, Attempt.Granted word) {}

    final List<String> heard = new CopyOnWriteArrayList<>();
    final List<Granted> granted = new CopyOnWriteArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean closed;

    @Override
    public void recheck(LockKey key) {
        heard.add("recheck " + key);
    }

    @Override
    public void recheck(LockKey key, long request) {
        heard.add("recheck " + key + " " + request);
    }

    @Override
    public void granted(Request request, Supplier<Optional<Attempt.Granted>> word) {
        word.get()
                .ifPresentOrElse(
                        told -> granted.add(new Granted(request, told)), () -> recheck(request.key(), request.id()));
    }

    @Override
    public void doubt(String why) {
        heard.add("doubt " + why);
    }

    @Override
    public void ended(LockKey key, long token, LeaseLoss.Cause cause) {
        heard.add("ended " + key);
    }

    @Override
    public void endedAll(LeaseLoss.Cause cause) {
        heard.add("ended all");
    }

    @Override
    public void connected(String server) {
        heard.add("connected " + server);
    }

    @Override
    public void disconnected(String server, String why) {
        heard.add("disconnected " + server);
    }

    @Override
    public void background(String name, LockBackend.Loop loop) {
        Thread thread = new Thread(() -> run(loop), "loop-" + name);
        threads.add(thread);
        thread.start();
    }

    private void run(LockBackend.Loop loop) {
        while (!closed) {
            try {
                loop.run();
            } catch (Exception e) {
                heard.add("loop failed: " + e);
            }
        }
    }

    @Override
    public void close() throws InterruptedException {
        closed = true;
        for (Thread thread : threads) {
            thread.interrupt();
            thread.join();
        }
    }
}
