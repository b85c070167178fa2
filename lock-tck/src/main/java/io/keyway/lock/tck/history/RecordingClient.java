// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import io.keyway.lock.Capacity;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockedAction;
import io.keyway.lock.LockedFunction;
import io.keyway.lock.NodeSet;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.wrap.Proxies;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A client whose requests and leases are written down. Its locks are proxies: whatever call hands out a lease, or runs
 * work under one, is a request.
 */
final class RecordingClient {
    /** What is done instead of a call; null arguments are none. */
    private interface Instead {
        @Nullable
        Object call(Method method, @Nullable Object[] arguments) throws Throwable;
    }

    private static final Capacity ONE = Capacity.of(1);

    private final Recorder recorder;
    private final String who;

    private RecordingClient(Recorder recorder, String who) {
        this.recorder = recorder;
        this.who = who;
    }

    static LockClient of(Recorder recorder, String who, LockClient client) {
        RecordingClient recording = new RecordingClient(recorder, who);
        return shown(LockClient.class, (method, arguments) -> {
            Object result = Proxies.pass(client, method, arguments);
            if (result instanceof DistributedLock lock) {
                return recording.lock(lock, LockMode.EXCLUSIVE);
            }
            if (result instanceof DistributedReadWriteLock lock) {
                return recording.readWriteLock(lock);
            }
            return result instanceof DistributedSemaphore semaphore
                    ? recording.semaphore(semaphore, (Capacity) arguments[1])
                    : result;
        });
    }

    private DistributedLock lock(DistributedLock to, LockMode mode) {
        return shown(
                DistributedLock.class,
                (method, arguments) -> method.getName().equals("with")
                        ? lock((DistributedLock) result(to, method, arguments), mode)
                        : recorded(to, method, arguments, LockKey.lock(to.name()), mode, ONE));
    }

    private DistributedReadWriteLock readWriteLock(DistributedReadWriteLock to) {
        return shown(DistributedReadWriteLock.class, (method, arguments) -> switch (method.getName()) {
            case "read" -> lock((DistributedLock) result(to, method, arguments), LockMode.SHARED);
            case "write" -> lock((DistributedLock) result(to, method, arguments), LockMode.EXCLUSIVE);
            case "tryUpgrade", "downgrade" -> {
                LockMode mode = method.getName().equals("downgrade") ? LockMode.SHARED : LockMode.EXCLUSIVE;
                arguments[0] = arguments[0] instanceof Shown shown ? shown.bare() : arguments[0];
                yield recorded(to, method, arguments, LockKey.lock(to.name()), mode, ONE);
            }
            default -> Proxies.pass(to, method, arguments);
        });
    }

    private DistributedSemaphore semaphore(DistributedSemaphore to, Capacity capacity) {
        return shown(DistributedSemaphore.class, (method, arguments) -> {
            if (method.getName().equals("with")) {
                return semaphore((DistributedSemaphore) result(to, method, arguments), capacity);
            }
            return recorded(to, method, arguments, LockKey.semaphore(to.name()), LockMode.PERMITS, capacity);
        });
    }

    /** Makes the call, and writes down what it came to if it was a request. */
    private @Nullable Object recorded(
            Object to, Method method, @Nullable Object[] arguments, LockKey key, LockMode mode, Capacity capacity)
            throws Throwable {
        Class<?> type = method.getReturnType();
        boolean works = takesWork(method);
        if (!works && type != Lease.class && type != Optional.class && type != CompletableFuture.class) {
            return Proxies.pass(to, method, arguments);
        }
        int permits =
                mode == LockMode.PERMITS && arguments.length > 0 && arguments[0] instanceof Integer many ? many : 1;
        Duration limit = Stream.of(arguments)
                .filter(Duration.class::isInstance)
                .map(Duration.class::cast)
                .findFirst()
                .orElse(Duration.ZERO);
        RecordedHold hold = recorder.asked(who, key, mode, permits, capacity.current(), limit);
        UnaryOperator<Lease> granted = lease -> {
            hold.stated(capacity.current());
            return recorder.granted(hold, lease);
        };
        if (works) {
            int last = arguments.length - 1;
            arguments[last] = arguments[last] instanceof LockedFunction<?, ?> function
                    ? recorder.around(hold, granted, function)
                    : recorder.aroundAction(hold, granted, (LockedAction<?>) arguments[last]);
        }
        Object result = Proxies.pass(to, method, arguments);
        if (result instanceof CompletableFuture<?> future) {
            return method.getName().startsWith("try") ? later(future, granted) : soon(future, granted);
        }
        return result instanceof Lease lease
                ? granted.apply(lease)
                : result instanceof Optional<?> found
                        ? found.map(Lease.class::cast).map(granted)
                        : result;
    }

    @SuppressWarnings("unchecked") // what acquireAsync returns
    private static CompletableFuture<Lease> soon(CompletableFuture<?> own, UnaryOperator<Lease> granted) {
        return LeaseFutures.lease((CompletableFuture<Lease>) own, granted);
    }

    @SuppressWarnings("unchecked") // what tryAcquireAsync returns
    private static CompletableFuture<Optional<Lease>> later(CompletableFuture<?> own, UnaryOperator<Lease> granted) {
        return LeaseFutures.found((CompletableFuture<Optional<Lease>>) own, granted);
    }

    private static boolean takesWork(Method method) {
        return method.getName().equals("callLocked") || method.getName().equals("tryRunLocked");
    }

    /**
     * What an interface does by its other methods is recorded by those; work, and transactions, trees and locks over
     * nodes, which exclude others than their names say, go to who runs them.
     */
    private static <T> T shown(Class<T> type, Instead instead) {
        return Proxies.of(type, (proxy, method, arguments) -> {
            if (method.getName().equals("unwrap") && ((Class<?>) arguments[0]).isInstance(proxy)) {
                return proxy;
            }
            boolean isAlone = method.getReturnType() == LockTransaction.class
                    || method.getName().equals("tree")
                    || List.of(method.getParameterTypes()).contains(NodeSet.class);
            return method.isDefault() && !takesWork(method) && !isAlone
                    ? InvocationHandler.invokeDefault(proxy, method, arguments)
                    : instead.call(method, arguments);
        });
    }

    private static Object result(Object to, Method method, @Nullable Object[] arguments) throws Throwable {
        return Objects.requireNonNull(Proxies.pass(to, method, arguments), method::getName);
    }

    /** A lease that a user sees, which stands before another. */
    private interface Shown {
        Lease bare();
    }

    /** A lease whose answers are written down. */
    static final class RecordingLease {
        private final Recorder recorder;
        private final RecordedHold hold;
        private final Lease to;

        RecordingLease(Recorder recorder, RecordedHold hold, Lease to) {
            this.recorder = recorder;
            this.hold = hold;
            this.to = to;
        }

        /** The lease as its user sees it. */
        Lease shown() {
            return (Lease) Proxies.of((proxy, method, arguments) -> call(method, arguments), Lease.class, Shown.class);
        }

        RecordedHold hold() {
            return hold;
        }

        boolean isOver() {
            return hold.isReleasing() || !hold.losses().isEmpty();
        }

        private @Nullable Object call(Method method, @Nullable Object[] arguments) throws Throwable {
            return switch (method.getName()) {
                case "bare" -> to;
                case "isHeld" -> isHeld();
                case "release" -> {
                    beforeRelease();
                    ReleaseOutcome outcome = to.release();
                    recorder.released(hold, outcome);
                    yield outcome;
                }
                case "releaseAsync" -> {
                    beforeRelease();
                    yield to.releaseAsync().whenComplete((outcome, failure) -> {
                        if (outcome != null) {
                            recorder.released(hold, outcome);
                        }
                    });
                }
                case "close" -> {
                    beforeRelease();
                    yield Proxies.pass(to, method, arguments);
                }
                default -> Proxies.pass(to, method, arguments);
            };
        }

        private void beforeRelease() {
            if (!hold.isReleasing()) {
                isHeld();
            }
            recorder.releasing(hold);
        }

        boolean isHeld() {
            long before = recorder.now();
            long remaining = to.remaining().toNanos();
            boolean held = to.isHeld();
            recorder.answered(hold, new HeldAnswer(held, before, recorder.now(), remaining));
            return held;
        }
    }
}
