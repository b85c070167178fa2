// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.Request;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Stands between one client and its backend where no proxy can: for stores in this JVM, in files, or behind a driver. A
 * verb over a broken link takes all of its time and fails, as over a network that swallows everything; in virtual time,
 * where no thread can wait, it fails at once.
 */
final class BackendLink implements LockBackend {
    private final LockBackend backend;
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
    private interface Verb<T> {
        T call(Duration limit) throws Exception;
    }

    private <T> T over(Duration limit, Verb<T> verb) throws Exception {
        Deadline deadline = Deadline.after(limit);
        passes(deadline);
        return answered(deadline, () -> verb.call(Duration.ofNanos(Math.max(1, deadline.nanos()))));
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
    private <T> T answered(Deadline deadline, Callable<T> verb) throws Exception {
        try {
            T answer = verb.call();
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

    // The verbs

    @Override
    public void start(Signals signals, Incarnation client) throws Exception {
        lock.lock();
        try {
            if (cut) {
                throw new IOException("nobody can be reached over the link that the TCK broke");
            }
        } finally {
            lock.unlock();
        }
        backend.start(new Ears(signals), client);
    }

    @Override
    public Attempt attempt(Request request, Duration limit) throws Exception {
        return over(limit, left -> backend.attempt(request, left));
    }

    @Override
    public Attempt convert(Grant grant, Request wanted, Duration limit) throws Exception {
        return over(limit, left -> backend.convert(grant, wanted, left));
    }

    @Override
    public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
        return over(limit, left -> backend.renew(grants, left));
    }

    @Override
    public Answer release(Grant grant, Duration limit) throws Exception {
        return over(limit, left -> backend.release(grant, left));
    }

    @Override
    public Answer keep(Grant grant, Duration limit) throws Exception {
        return over(limit, left -> backend.keep(grant, left));
    }

    @Override
    public void withdraw(Request request, Duration limit) throws Exception {
        over(limit, left -> {
            backend.withdraw(request, left);
            return true;
        });
    }

    @Override
    public LockPage list(String prefix, Optional<String> after, int max, Duration limit) throws Exception {
        return over(limit, left -> backend.list(prefix, after, max, left));
    }

    @Override
    public Optional<LockStatus> show(LockKey key, Duration limit) throws Exception {
        return over(limit, left -> backend.show(key, left));
    }

    @Override
    public boolean breakGrant(LockKey key, long token, String reason, Duration limit) throws Exception {
        return over(limit, left -> backend.breakGrant(key, token, reason, left));
    }

    @Override
    public int availablePermits(LockKey key, int capacity, Duration limit) throws Exception {
        return over(limit, left -> backend.availablePermits(key, capacity, left));
    }

    // What needs no link

    @Override
    public Duration longestHoldAtLeast() {
        return backend.longestHoldAtLeast();
    }

    @Override
    public boolean prompt() {
        return backend.prompt();
    }

    @Override
    public boolean sessionBound() {
        return backend.sessionBound();
    }

    @Override
    public void forgotten(Request request) {
        backend.forgotten(request);
    }

    @Override
    public Set<Feature> features() {
        return backend.features();
    }

    @Override
    public Guarantees guarantees() {
        return backend.guarantees();
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return type.isInstance(backend) ? Optional.of(type.cast(backend)) : backend.unwrap(type);
    }

    @Override
    public void close() throws Exception {
        backend.close();
    }

    /** What the store says unasked: hints are lost on a broken link, and all else arrives late. */
    private final class Ears implements Signals {
        private final Signals client;

        Ears(Signals client) {
            this.client = client;
        }

        private void hint(Runnable told) {
            boolean whole;
            lock.lock();
            try {
                whole = isWhole();
            } finally {
                lock.unlock();
            }
            if (whole) {
                told.run();
            }
        }

        private void word(Runnable told) {
            lock.lock();
            try {
                if (!isWhole()) {
                    held.add(told);
                    return;
                }
            } finally {
                lock.unlock();
            }
            told.run();
        }

        @Override
        public void recheck(LockKey key) {
            hint(() -> client.recheck(key));
        }

        @Override
        public void recheckAll() {
            hint(client::recheckAll);
        }

        @Override
        public void recheck(LockKey key, long request) {
            hint(() -> client.recheck(key, request));
        }

        @Override
        public void granted(Request request, Supplier<Optional<Attempt.Granted>> word) {
            hint(() -> client.granted(request, word));
        }

        @Override
        public void doubt(String why) {
            word(() -> client.doubt(why));
        }

        @Override
        public void ended(LockKey key, long token, LeaseLoss.Cause cause) {
            word(() -> client.ended(key, token, cause));
        }

        @Override
        public void ended(LockKey key, long token, LeaseLoss.Cause cause, String detail) {
            word(() -> client.ended(key, token, cause, detail));
        }

        @Override
        public void endedAll(LeaseLoss.Cause cause) {
            word(() -> client.endedAll(cause));
        }

        @Override
        public void connected(String server) {
            word(() -> client.connected(server));
        }

        @Override
        public void disconnected(String server, String why) {
            word(() -> client.disconnected(server, why));
        }

        @Override
        public void awaitDelivery(Duration limit) {
            client.awaitDelivery(limit);
        }

        @Override
        public void background(String name, Loop loop) {
            client.background(name, loop);
        }
    }
}
