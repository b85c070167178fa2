// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.LockBackend.Signals;
import io.keyway.lock.tck.wrap.Proxies;
import java.io.IOException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Stands between one client and its backend where no proxy can: for stores in this JVM, in files, or behind a driver. A
 * verb over a broken link takes all of its time and fails, as over a network that swallows everything; in virtual time,
 * where no thread can wait, it fails at once.
 */
final class BackendLink {
    private final LockBackend backend;
    private final LockBackend shown;
    private final boolean waits;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Queue<Runnable> held = new ArrayDeque<>();
    private boolean cut;
    private boolean lost;
    private long losses;

    BackendLink(LockBackend backend, boolean waits) {
        this.backend = backend;
        this.waits = waits;
        this.shown = Proxies.of(LockBackend.class, (proxy, method, arguments) -> call(method, arguments));
    }

    /** While cut, no verb arrives and no answer and signal comes back. Verbs that still have time go on afterwards. */
    void cut(boolean on) {
        change(() -> cut = on);
    }

    /** While lost, verbs are carried out and nobody hears of it. */
    void loseReplies(boolean on) {
        change(() -> {
            lost = on;
            losses += on ? 1 : 0;
        });
    }

    private void change(Runnable turn) {
        List<Runnable> late = List.of();
        lock.lock();
        try {
            turn.run();
            changed.signalAll();
            if (isWhole()) {
                late = List.copyOf(held);
                held.clear();
            }
        } finally {
            lock.unlock();
        }
        late.forEach(Runnable::run);
    }

    /** Whether something that the store said has still to reach the client. */
    boolean holdsBack() {
        lock.lock();
        try {
            return !held.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    private boolean isWhole() {
        return !cut && !lost;
    }

    @FunctionalInterface
    private interface Verb {
        @Nullable
        Object call(Duration limit) throws Throwable;
    }

    private @Nullable Object over(Duration limit, Verb verb) throws Throwable {
        Deadline deadline = Deadline.after(limit);
        passes(deadline);
        return answered(deadline, verb);
    }

    /** Returns when the link lets a request through. */
    private void passes(Deadline deadline) throws IOException, InterruptedException {
        lock.lock();
        try {
            until(() -> !cut, deadline);
        } finally {
            lock.unlock();
        }
    }

    /** The answer, a failure too, when the link lets it through. */
    private @Nullable Object answered(Deadline deadline, Verb verb) throws Throwable {
        try {
            Object answer = verb.call(Duration.ofNanos(Math.max(1, deadline.nanos())));
            comesBack(deadline);
            return answer;
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            comesBack(deadline);
            throw e;
        }
    }

    private void comesBack(Deadline deadline) throws IOException, InterruptedException {
        lock.lock();
        try {
            boolean never = lost;
            long before = losses;
            until(this::isWhole, deadline);
            if (never || losses != before) {
                throw new IOException("the answer was lost on the link that the TCK broke");
            }
        } finally {
            lock.unlock();
        }
    }

    private void until(BooleanSupplier mended, Deadline deadline) throws IOException, InterruptedException {
        while (!mended.getAsBoolean()) {
            long left = waits ? deadline.nanos() : 0;
            if (left == 0) {
                throw new IOException("nothing moves on the link that the TCK broke");
            }
            changed.await(left, TimeUnit.NANOSECONDS);
        }
    }

    /** The backend as the client sees it. */
    LockBackend shown() {
        return shown;
    }

    private @Nullable Object call(Method method, @Nullable Object[] arguments) throws Throwable {
        int last = arguments.length - 1;
        if (method.getName().equals("start")) {
            reaches();
            arguments[0] = heard((Signals) Objects.requireNonNull(arguments[0], "signals"));
        } else if (method.getName().equals("unwrap") && ((Class<?>) arguments[0]).isInstance(backend)) {
            return Optional.of(backend);
        } else if (last >= 0 && arguments[last] instanceof Duration limit) {
            return over(limit, left -> {
                arguments[last] = left;
                return Proxies.pass(backend, method, arguments);
            });
        }
        return Proxies.pass(backend, method, arguments);
    }

    private void reaches() throws IOException {
        lock.lock();
        try {
            if (cut) {
                throw new IOException("nobody can be reached over the link that the TCK broke");
            }
        } finally {
            lock.unlock();
        }
    }

    /** What the store says unasked: hints are lost on a broken link, and all else arrives late. */
    private Signals heard(Signals client) {
        return Proxies.of(Signals.class, (proxy, method, arguments) -> {
            switch (method.getName()) {
                case "recheck", "recheckAll", "granted" -> {
                    if (letsThrough()) {
                        Proxies.pass(client, method, arguments);
                    }
                    return null;
                }
                case "doubt", "ended", "endedAll", "connected", "disconnected" -> {
                    Runnable told = () -> tell(client, method, arguments);
                    if (letsThroughOrKeeps(told)) {
                        told.run();
                    }
                    return null;
                }
                default -> {
                    return Proxies.pass(client, method, arguments);
                }
            }
        });
    }

    private static void tell(Signals client, Method method, @Nullable Object... arguments) {
        try {
            Proxies.pass(client, method, arguments);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private boolean letsThrough() {
        lock.lock();
        try {
            return isWhole();
        } finally {
            lock.unlock();
        }
    }

    private boolean letsThroughOrKeeps(Runnable told) {
        lock.lock();
        try {
            if (!isWhole()) {
                held.add(told);
            }
            return isWhole();
        } finally {
            lock.unlock();
        }
    }
}
