// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseSet;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Several locks as a careless author takes them: over the good set, or by a loop of his own. */
final class CarelessSet implements LockSet {
    /** What he did not think of. */
    enum Defect {
        ORDER_AS_GIVEN("LK-1702"),
        ALL_AT_ONCE("LK-1702"),
        KEEPS_WHAT_IT_HAS("LK-1701"),
        INTERRUPT_KEEPS("LK-1701"),
        CANCEL_KEEPS("LK-1701"),
        STALE("LK-1701"),
        LIMIT_FOR_EACH("LK-1703"),
        BELIEVES_THE_REST("LK-1704"),
        TOLD_TWICE("LK-1704"),
        LOSS_WITHOUT_NAME("LK-1704"),
        TOLD_AFTER_RELEASE("LK-1705"),
        REST_AT_ONCE("LK-1706"),
        REST_NEVER("LK-1706"),
        REST_WAITS_FOR_CLOSE("LK-1706"),
        TOKEN_OF_THE_FIRST("LK-1707"),
        DROPS_WHAT_IS_TWICE("LK-1708"),
        TAKES_ANY_NUMBER("LK-1708"),
        RELEASES_THE_FIRST("LK-1701"),
        RELEASE_OF_LOST_IS_FINE("LK-1704");

        /** The first rule of a check that finds it. */
        final String rule;

        Defect(String rule) {
            this.rule = rule;
        }
    }

    private final Defect defect;
    private final LockClient client;
    private final LockSet good;
    private final List<DistributedLock> locks;

    private CarelessSet(Defect defect, LockClient client, LockSet good, List<DistributedLock> locks) {
        this.defect = defect;
        this.client = client;
        this.good = good;
        this.locks = locks;
    }

    static LockSet of(Defect defect, LockClient client, List<LockName> names) {
        List<LockName> given = names;
        if (defect == Defect.DROPS_WHAT_IS_TWICE) {
            given = names.stream().distinct().toList();
        }
        if (defect == Defect.TAKES_ANY_NUMBER && names.size() > MAX_NAMES) {
            given = names.subList(0, MAX_NAMES);
        }
        LockSet good = client.locks(given);
        List<LockName> order = defect == Defect.ORDER_AS_GIVEN ? given : good.names();
        return new CarelessSet(
                defect, client, good, order.stream().map(client::lock).toList());
    }

    @Override
    public List<LockName> names() {
        return good.names();
    }

    @Override
    public LockSet with(LockOptions options) {
        return new CarelessSet(
                defect,
                client,
                good.with(options),
                locks.stream().map(lock -> lock.with(options)).toList());
    }

    @Override
    public LeaseSet acquire() throws InterruptedException {
        return switch (defect) {
            case ALL_AT_ONCE -> {
                List<CompletableFuture<Lease>> all =
                        locks.stream().map(DistributedLock::acquireAsync).toList();
                List<Lease> leases = new ArrayList<>();
                for (CompletableFuture<Lease> one : all) {
                    leases.add(one.join());
                }
                yield leases(leases);
            }
            case ORDER_AS_GIVEN, STALE, REST_WAITS_FOR_CLOSE -> {
                List<Lease> leases = new ArrayList<>();
                for (DistributedLock lock : locks) {
                    leases.add(lock.acquire());
                }
                yield leases(leases);
            }
            case INTERRUPT_KEEPS -> {
                List<Lease> leases = new ArrayList<>();
                for (DistributedLock lock : locks) {
                    leases.add(lock.acquire());
                }
                leases.forEach(Lease::close);
                yield changed(good.acquire());
            }
            default -> changed(good.acquire());
        };
    }

    @Override
    public Optional<LeaseSet> tryAcquire() throws InterruptedException {
        return tryAcquire(Duration.ZERO);
    }

    @Override
    public Optional<LeaseSet> tryAcquire(Duration wait) throws InterruptedException {
        if (defect == Defect.KEEPS_WHAT_IT_HAS || defect == Defect.LIMIT_FOR_EACH) {
            List<Lease> leases = new ArrayList<>();
            for (DistributedLock lock : locks) {
                Optional<Lease> lease = lock.tryAcquire(wait);
                if (lease.isEmpty()) {
                    if (defect == Defect.LIMIT_FOR_EACH) {
                        leases.forEach(Lease::close);
                    }
                    return Optional.empty();
                }
                leases.add(lease.get());
            }
            return Optional.of(leases(leases));
        }
        return good.tryAcquire(wait).map(this::changed);
    }

    private LeaseSet leases(List<Lease> leases) throws InterruptedException {
        return new CarelessLeases(defect, client, leases, null);
    }

    private LeaseSet changed(LeaseSet leases) {
        return new CarelessLeases(defect, client, List.of(), leases);
    }

    @Override
    public CompletableFuture<LeaseSet> acquireAsync() {
        CompletableFuture<LeaseSet> of = good.acquireAsync();
        // What is chained to a future is not what withdraws the request.
        return defect == Defect.CANCEL_KEEPS ? of.thenApply(this::changed) : of;
    }

    @Override
    public CompletableFuture<Optional<LeaseSet>> tryAcquireAsync(Duration wait) {
        return good.tryAcquireAsync(wait);
    }
}
