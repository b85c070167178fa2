// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.FenceGuard;
import io.keyway.lock.JavaLocks;
import io.keyway.lock.Lease;
import io.keyway.lock.LeasedLock;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockName;
import io.keyway.lock.Locks;
import io.keyway.lock.ReentrantLocks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.wrap.ForwardingLease;
import io.keyway.lock.tck.wrap.ForwardingLock;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Mutants 7, 19 to 21 and 50: what stands over a good provider has the defect. */
class AdapterMutantsTest {

    /** Changes one call of a good adapter. */
    private interface Change {
        Object call(LeasedLock good, String method, Object... arguments) throws Throwable;
    }

    private static TckSubject.Adapter adapter(Change change) {
        return lock -> (Lock) Proxy.newProxyInstance(
                AdapterMutantsTest.class.getClassLoader(),
                new Class<?>[] {LeasedLock.class},
                new Altered(JavaLocks.reentrant(lock), change)::invoke);
    }

    private record Altered(LeasedLock good, Change change) {
        Object invoke(Object proxy, Method method, Object... arguments) throws Throwable {
            Object changed = change.call(good, method.getName(), arguments);
            return changed == Altered.class ? pass(method, arguments) : changed;
        }

        private Object pass(Method method, Object... arguments) throws Throwable {
            try {
                return method.invoke(good, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }
    }

    private static final Object UNCHANGED = Altered.class;

    private static void adapterFoundBy(String rule, TckSubject.Adapter adapter) throws InterruptedException {
        foundBy(rule, subject -> subject.withAdapter(adapter));
    }

    private static void foundBy(String rule, UnaryOperator<TckSubject> change) throws InterruptedException {
        String url = "lock:reference://adapters?clock=manual";
        try (LockClient owner = Locks.open(url)) {
            TckSubject subject = TckSubject.of(url).withAdvance(owner.unwrap(ReferenceWorld.class)::advance);
            TckConfig config = TckConfig.of(Profile.FULL)
                    .withOnly(List.of("LK-1601", "LK-1602", "LK-1603", "LK-1604", "LK-1605", "LK-605"));
            assertThat(TckRunner.run(subject, config).outcome()).isEqualTo(TckResult.Outcome.COMPATIBLE);
            TckResult result =
                    TckRunner.run(change.apply(subject), config.withCheckLimit(Patience.of(Duration.ofSeconds(3))));
            assertThat(result.with(Verdict.FAIL))
                    .anySatisfy(check -> assertThat(check.rules().get(0)).isEqualTo(rule));
        }
    }

    @Test
    void aNestedLockThatAsksTheStoreIsFound() throws Exception {
        adapterFoundBy(
                "LK-1601",
                lock -> adapter((good, method, arguments) -> method.equals("tryLock") && good.holdCount() > 0
                                ? (Object) lock.tryAcquire().isPresent()
                                : UNCHANGED)
                        .over(lock));
    }

    @Test
    void aStrangersUnlockIsFound() throws Exception {
        AtomicReference<Lease> last = new AtomicReference<>();
        adapterFoundBy("LK-1603", adapter((good, method, arguments) -> {
            if (method.equals("unlock") && good.holdCount() == 0) {
                Optional.ofNullable(last.get()).ifPresent(Lease::close);
                return null;
            }
            if (method.equals("unlock")) {
                last.set(good.currentLease().orElse(null));
            }
            return UNCHANGED;
        }));
    }

    @Test
    void anInnerUnlockThatFreesIsFound() throws Exception {
        adapterFoundBy("LK-1602", adapter((good, method, arguments) -> {
            if (method.equals("unlock") && good.holdCount() > 1) {
                good.currentLease().ifPresent(Lease::close);
            }
            return UNCHANGED;
        }));
    }

    @Test
    void anUnlockTooManyThatIsIgnoredIsFound() throws Exception {
        adapterFoundBy(
                "LK-1603",
                adapter((good, method, arguments) ->
                        method.equals("unlock") && good.holdCount() == 0 ? null : UNCHANGED));
    }

    @Test
    void aGuardThatAdmitsAllIsFound() throws Exception {
        foundBy("LK-605", subject -> subject.withGuard(() -> (name, token) -> true));
    }

    @Test
    void aGuardThatRefusesTheSameHolderIsFound() throws Exception {
        foundBy(
                "LK-605",
                subject -> subject.withGuard(() -> {
                    FenceGuard good = FenceGuard.inMemory();
                    Map<LockName, Long> seen = new ConcurrentHashMap<>();
                    return (name, token) ->
                            good.admits(name, token) && !Long.valueOf(token).equals(seen.put(name, token));
                }));
    }

    /** Re-entrant locks that are made one by one. */
    private record Made(Function<LockName, DistributedLock> maker) implements ReentrantLocks {
        @Override
        public DistributedLock lock(LockName name) {
            return maker.apply(name);
        }

        @Override
        public int holdCount(LockName name) {
            return 0;
        }
    }

    /** A lock whose leases are changed. */
    private static final class Changed extends ForwardingLock {
        private final UnaryOperator<Lease> change;

        Changed(DistributedLock to, UnaryOperator<Lease> change) {
            super(to);
            this.change = change;
        }

        @Override
        protected DistributedLock around(DistributedLock other) {
            return new Changed(other, change);
        }

        @Override
        public Lease acquire() throws InterruptedException {
            return change.apply(to().acquire());
        }
    }

    @Test
    void aNestedAcquireThatAsksTheStoreIsFound() throws Exception {
        foundBy("LK-1601", subject -> subject.withReentrance(client -> new Made(client::lock)));
    }

    @Test
    void anInnerLeaseThatIsTheOuterOneIsFound() throws Exception {
        foundBy(
                "LK-1602",
                subject -> subject.withReentrance(client -> {
                    ReentrantLocks good = JavaLocks.reentrant(client);
                    AtomicReference<Lease> outer = new AtomicReference<>();
                    return new Made(name -> new Changed(
                            good.lock(name),
                            lease -> outer.updateAndGet(last -> good.holdCount(name) > 1 ? last : lease)));
                }));
    }

    @Test
    void aSecondReleaseThatCountsIsFound() throws Exception {
        foundBy(
                "LK-1604",
                subject -> subject.withReentrance(client -> {
                    ReentrantLocks good = JavaLocks.reentrant(client);
                    AtomicReference<Lease> outer = new AtomicReference<>();
                    return new Made(name -> new Changed(good.lock(name), lease -> {
                        outer.compareAndSet(null, lease);
                        return new ForwardingLease(lease) {
                            @Override
                            public ReleaseOutcome release() {
                                if (!lease.isHeld()) {
                                    outer.get().close();
                                }
                                return super.release();
                            }
                        };
                    }));
                }));
    }

    @Test
    void aLockThatIsReentrantForEveryThreadIsFound() throws Exception {
        foundBy(
                "LK-1605",
                subject -> subject.withReentrance(client -> {
                    ReentrantLocks good = JavaLocks.reentrant(client);
                    AtomicReference<Lease> held = new AtomicReference<>();
                    return new Made(name -> new ForwardingLock(good.lock(name)) {
                        @Override
                        protected DistributedLock around(DistributedLock other) {
                            return other;
                        }

                        @Override
                        public Lease acquire() throws InterruptedException {
                            return hold(to().acquire());
                        }

                        private Lease hold(Lease lease) {
                            held.set(lease);
                            return lease;
                        }

                        @Override
                        public Optional<Lease> tryAcquire() throws InterruptedException {
                            Lease last = held.get();
                            return last != null && last.isHeld() ? Optional.of(last) : to().tryAcquire();
                        }
                    });
                }));
    }
}
