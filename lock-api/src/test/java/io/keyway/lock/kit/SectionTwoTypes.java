// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.DeadlockException;
import io.keyway.lock.Discovery;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.JavaLocks;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockListener;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.LockedAction;
import io.keyway.lock.LockedFunction;
import io.keyway.lock.Locks;
import io.keyway.lock.Option;
import io.keyway.lock.OutcomeUnknownException;
import io.keyway.lock.ProviderNotFoundException;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.Renewal;
import io.keyway.lock.Subscription;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.spi.LockProvider;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.Lock;

/**
 * The second half of {@link SectionTwoProgram}: the types of sections 2.4 to 2.7 and of 4, every component and constant
 * by its name.
 */
final class SectionTwoTypes {

    private SectionTwoTypes() {}

    static void discovery(Discovery discovery) {
        List<LockProvider> providers = discovery.providers();
        for (Discovery.Failure failure : discovery.failures()) {
            String source = failure.source();
            String reason = failure.reason();
            Optional<Throwable> cause = failure.cause();
            check(!source.isEmpty() && !reason.isEmpty() && cause != null, "a failure says what");
        }
        check(!providers.isEmpty(), "there is a provider");
    }

    static void constants() {
        check(
                Set.of(LockMode.values()).containsAll(Set.of(LockMode.EXCLUSIVE, LockMode.SHARED, LockMode.PERMITS)),
                "modes");
        check(
                Set.of(ReleaseOutcome.RELEASED, ReleaseOutcome.ALREADY_LOST, ReleaseOutcome.UNKNOWN)
                        .equals(Set.of(ReleaseOutcome.values())),
                "outcomes");
        check(Set.of(Renewal.AUTO, Renewal.NONE).equals(Set.of(Renewal.values())), "renewal");
        check(Set.of(LockKey.Kind.LOCK, LockKey.Kind.SEMAPHORE).equals(Set.of(LockKey.Kind.values())), "kinds");
        check(
                Set.of(Lease.State.HELD, Lease.State.DOUBTFUL, Lease.State.LOST, Lease.State.RELEASED)
                        .equals(Set.of(Lease.State.values())),
                "states");
        check(
                Set.of(
                                LeaseLoss.Cause.EXPIRED,
                                LeaseLoss.Cause.DENIED,
                                LeaseLoss.Cause.BROKEN,
                                LeaseLoss.Cause.MAX_HOLD,
                                LeaseLoss.Cause.DEADLOCK,
                                LeaseLoss.Cause.CLIENT_CLOSED)
                        .equals(Set.of(LeaseLoss.Cause.values())),
                "causes");
        check(
                Set.of(
                                LockEvent.Type.WAITING,
                                LockEvent.Type.GRANTED,
                                LockEvent.Type.DOUBTFUL,
                                LockEvent.Type.RECOVERED,
                                LockEvent.Type.LOST,
                                LockEvent.Type.RELEASED,
                                LockEvent.Type.WITHDRAWN,
                                LockEvent.Type.HELD_LONG,
                                LockEvent.Type.CONNECTED,
                                LockEvent.Type.DISCONNECTED,
                                LockEvent.Type.UNLOCKING,
                                LockEvent.Type.CLUSTER_UP,
                                LockEvent.Type.CLUSTER_DOWN,
                                LockEvent.Type.LOCK_READY,
                                LockEvent.Type.NO_LOCK)
                        .equals(Set.of(LockEvent.Type.values())),
                "events");
        check(
                Set.of(
                                Feature.READ_WRITE,
                                Feature.SEMAPHORE,
                                Feature.FENCING,
                                Feature.FIFO,
                                Feature.LIST,
                                Feature.BREAK,
                                Feature.WAKE_UP,
                                Feature.CACHING,
                                Feature.UPGRADE,
                                Feature.HOLD_AT_LEAST,
                                Feature.DRAIN,
                                Feature.TRANSACTIONS,
                                Feature.TREE,
                                Feature.NODE_SETS)
                        .equals(Set.of(Feature.values())),
                "features");
        check(Set.of(Grade.ALWAYS, Grade.TIMED, Grade.NO).equals(Set.of(Grade.values())), "grades");
    }

    static void guarantees(Guarantees guarantees) {
        for (Guarantee each :
                List.of(guarantees.exclusion(), guarantees.belief(), guarantees.tokens(), guarantees.failover())) {
            Grade grade = each.grade();
            String condition = each.condition();
            check(grade == Grade.ALWAYS || !condition.isEmpty(), "a promise that is not firm has a condition");
        }
        Duration min = guarantees.minTtl();
        Duration max = guarantees.maxTtl();
        check(min.compareTo(max) <= 0, "bounds of the ttl");
    }

    /** A lease whose client is closed, seen by its listener too. */
    static void closing(String url, List<String> said) throws Exception {
        Option<Duration> option = CommonOptions.REQUEST_TIMEOUT;
        ClientOptions options = ClientOptions.defaults()
                .withName("closing")
                .withEventExecutor(Runnable::run)
                .with(option, Duration.ofSeconds(4));
        LockClient client = Locks.open(LockUrl.parse(url), options);
        ConcurrentLinkedQueue<LockEvent> events = new ConcurrentLinkedQueue<>();
        LockListener listener = events::add;
        Subscription subscription = client.addListener(listener);
        Lease lease = client.lock(LockName.of("closing")).acquire();
        LockClient same = client.unwrap(LockClient.class);
        check(same == client, "unwrap");
        client.close();
        client.close();
        subscription.close();
        LeaseLoss loss = lease.lost().toCompletableFuture().get();
        LeaseLoss.Cause cause = loss.cause();
        Duration heldFor = loss.heldFor();
        Optional<String> server = loss.server();
        String detail = loss.detail();
        check(!heldFor.isNegative() && server != null && !detail.isEmpty(), "a loss says how");
        LockEvent lost = events.stream()
                .filter(event -> event.type() == LockEvent.Type.LOST)
                .findFirst()
                .orElseThrow();
        LockKey key = lost.key();
        OptionalLong token = lost.token();
        Optional<String> from = lost.server();
        Duration after = lost.after();
        check(new LockKey(LockKey.Kind.LOCK, LockName.of("closing")).equals(key), "the key of an event");
        check(token.getAsLong() == lease.token() && from != null && !after.isNegative(), "an event says how");
        said.add("closed " + cause + " " + lease.state() + " " + lease.release());
        try {
            lease.ensureHeld();
            check(false, "a lost lease is not held");
        } catch (LeaseLostException e) {
            said.add("lost " + e.loss().cause() + " " + e.mayHold());
        }
        try {
            client.lock("closing");
            check(false, "a closed client refuses");
        } catch (ClientClosedException e) {
            said.add("closed client " + e.retryable());
        }
    }

    /** The exceptions, each thrown where the section says, or at least named with its accessors. */
    static void exceptions(LockClient client, List<String> said) throws Exception {
        try {
            LockUrl.parse("nonsense");
            check(false, "nonsense is no URL");
        } catch (InvalidLockUrlException e) {
            said.add("url " + e.retryable());
        }
        try {
            Locks.open("lock:nobody://x");
            check(false, "nobody serves this");
        } catch (ProviderNotFoundException e) {
            said.add("provider " + e.retryable());
        }
        List<Class<? extends LockException>> all = List.of(
                LeaseLostException.class,
                OutcomeUnknownException.class,
                LockUnavailableException.class,
                UnsupportedFeatureException.class,
                DeadlockException.class,
                ClientClosedException.class);
        check(all.stream().allMatch(RuntimeException.class::isAssignableFrom), "all are unchecked");
        if (!client.features().contains(Feature.READ_WRITE)) {
            refused(() -> client.readWriteLock("rw"), said);
        }
        if (!client.features().contains(Feature.SEMAPHORE)) {
            refused(() -> client.semaphore("pool", io.keyway.lock.Capacity.of(3)), said);
        }
        if (client.features().contains(Feature.READ_WRITE) && !client.features().contains(Feature.UPGRADE)) {
            DistributedReadWriteLock lock = client.readWriteLock("rw");
            try (Lease read = lock.read().acquire()) {
                Optional<Lease> write = lock.tryUpgrade(read, Duration.ZERO);
                check(write.isEmpty(), "not offered");
            } catch (UnsupportedFeatureException e) {
                said.add("upgrade " + e.retryable());
            }
            try (Lease write = lock.write().acquire()) {
                Lease read = lock.downgrade(write);
                read.close();
            } catch (UnsupportedFeatureException e) {
                said.add("downgrade " + e.retryable());
            }
        }
    }

    private static void refused(Runnable factory, List<String> said) {
        try {
            factory.run();
            check(false, "the factory refuses what is not offered");
        } catch (UnsupportedFeatureException e) {
            Optional<LockName> name = e.name();
            Optional<String> server = e.server();
            said.add("refused " + e.retryable() + " " + e.mayHold() + " " + (name != null && server != null));
        }
    }

    static void status(LockClient client, List<String> said) throws Exception {
        try (Lease lease = client.lock("shown")
                .with(io.keyway.lock.LockOptions.none().withMetadata(Map.of("job", "7")))
                .acquire()) {
            var waiting = client.lock("shown").acquireAsync();
            LockPage page = client.admin().list("shown", Optional.empty(), 1);
            Optional<String> next = page.next();
            LockStatus status = page.locks().get(0);
            LockKey key = status.key();
            LockKey.Kind kind = key.kind();
            LockName name = key.name();
            LockStatus.Holder holder = status.holders().get(0);
            check(
                    holder.client().equals(client.name())
                            && holder.mode() == LockMode.EXCLUSIVE
                            && holder.permits() == 1
                            && holder.token().getAsLong() == lease.token()
                            && !holder.since().isNegative()
                            && holder.metadata().equals(Map.of("job", "7")),
                    "a holder: " + holder);
            Optional<LockStatus> again = client.admin().show(key);
            while (again.orElseThrow().waiters().isEmpty()) {
                again = client.admin().show(key);
            }
            LockStatus.Waiter waiter = again.orElseThrow().waiters().get(0);
            check(
                    waiter.client().equals(client.name())
                            && waiter.mode() == LockMode.EXCLUSIVE
                            && waiter.permits() == 1
                            && !waiter.since().isNegative()
                            && waiter.metadata().isEmpty()
                            && waiter.token() != null,
                    "a waiter: " + waiter);
            said.add(kind + " " + name + " " + next.isPresent() + " "
                    + again.get().waiters().size());
            waiting.cancel(false);
        }
    }

    static void functions(LockClient client, List<String> said) throws Exception {
        LockedFunction<Long, RuntimeException> work = Lease::token;
        LockedAction<RuntimeException> action = Lease::ensureHeld;
        long token = client.lock("functions").callLocked(work);
        boolean ran = client.lock("functions").tryRunLocked(Duration.ofSeconds(5), action);
        Lock lock = JavaLocks.reentrant(client.lock("functions"));
        check(lock.tryLock(), "free");
        lock.unlock();
        Optional<Lease> current = JavaLocks.reentrant(client.lock("functions")).currentLease();
        said.add("functions " + (token > 0) + " " + ran + " " + current.isPresent());
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException("not what section 2 says: " + what);
        }
    }
}
