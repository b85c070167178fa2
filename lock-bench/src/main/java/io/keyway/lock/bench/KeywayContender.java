// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import io.keyway.lock.Capacity;
import io.keyway.lock.DeadlockException;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.Locks;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import io.keyway.lock.ReleaseOutcome;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Keyway by its public API. */
public final class KeywayContender implements Contender {
    private static final Capacity CAPACITY = Capacity.of(Use.PERMITS);

    private final LockClient client;
    private final boolean waits;
    private final String name;
    /** At which its transactions have their locks; null if those are usual ones. */
    private final @Nullable NodeSet nodes;

    /** Opens a client. */
    public KeywayContender(String url) {
        this("keyway", url, true, null);
    }

    private KeywayContender(String name, String url, boolean waits, @Nullable NodeSet nodes) {
        client = Locks.open(url);
        this.name = name;
        this.waits = waits;
        this.nodes = nodes;
    }

    /** One beside others of other URLs. */
    static KeywayContender named(String name, String url) {
        return new KeywayContender(name, url, true, null);
    }

    /** One that does not wait for the reply to a release. */
    static KeywayContender withoutWait(String url) {
        return new KeywayContender("keyway", url, false, null);
    }

    /** One whose transactions have their locks at so many of all members. */
    static KeywayContender overNodes(String url, NodeRule rule) {
        List<String> members = List.of(url.replaceFirst("^lock:native:(//)?", "")
                .replaceFirst("/.*", "")
                .split(",", -1));
        return new KeywayContender("keyway", url, true, NodeSet.of(rule, members));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Set<Use> offers() {
        Set<Use> offered = EnumSet.of(Use.LOCK);
        if (client.features().contains(Feature.READ_WRITE)) {
            offered.addAll(EnumSet.of(Use.READ, Use.WRITE));
        }
        if (client.features().contains(Feature.SEMAPHORE)) {
            offered.add(Use.PERMIT);
        }
        if (client.features().contains(nodes == null ? Feature.TRANSACTIONS : Feature.NODE_SETS)) {
            offered.add(Use.TRANSACTION);
        }
        return offered;
    }

    @Override
    public Hold take(String name) throws InterruptedException {
        return take(name, Use.LOCK);
    }

    @Override
    public Hold take(String name, Use use) throws InterruptedException {
        if (use == Use.TRANSACTION) {
            InTransaction steps = begin();
            steps.take(name);
            return steps::close;
        }
        Lease lease = switch (use) {
            case LOCK -> client.lock(name).acquire();
            case WRITE -> client.readWriteLock(name).write().acquire();
            case READ -> client.readWriteLock(name).read().acquire();
            case PERMIT -> client.semaphore(name, CAPACITY).acquire();
            case TRANSACTION -> throw new IllegalArgumentException(use + " is no lease");
        };
        if (!waits) {
            return lease::releaseAsync;
        }
        return () -> {
            ReleaseOutcome outcome = lease.release();
            if (outcome != ReleaseOutcome.RELEASED) {
                throw new IllegalStateException("The release of " + name + " ended in " + outcome);
            }
        };
    }

    @Override
    public boolean isTaken(String lock) throws InterruptedException {
        Optional<Lease> lease = client.lock(lock).tryAcquire();
        lease.ifPresent(Lease::release);
        return lease.isEmpty();
    }

    @Override
    public InTransaction begin() {
        return new InTransaction(client.transaction(), nodes);
    }

    record InTransaction(
            LockTransaction transaction, @Nullable NodeSet nodes) implements Steps {
        @Override
        public boolean take(String lock) throws InterruptedException {
            try {
                if (nodes == null) {
                    transaction.lock(lock);
                } else {
                    transaction.lock(lock, LockMode.EXCLUSIVE, nodes.nodes(), nodes.rule());
                }
                return true;
            } catch (DeadlockException e) {
                return false;
            }
        }

        @Override
        public void close() {
            transaction.close();
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
