// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Capacity;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.WriterPolicy;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Rule 1403: what is not declared is refused. */
final class FeatureChecks {
    private static final String FIRST =
            "Declare the feature, or let the client refuse it: half a feature is worse than none.";

    @Check(rules = "LK-1403", lacks = Feature.READ_WRITE, from = Profile.SMOKE)
    @Hint(FIRST)
    void readWriteLocksAreRefusedIfNotDeclared(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        refused(t, Feature.READ_WRITE, "readWriteLock", () -> client.readWriteLock(t.name()));
    }

    @Check(rules = "LK-1403", lacks = Feature.SEMAPHORE, from = Profile.SMOKE)
    @Hint(FIRST)
    void semaphoresAreRefusedIfNotDeclared(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        refused(t, Feature.SEMAPHORE, "semaphore", () -> client.semaphore(t.name(), Capacity.of(2)));
    }

    @Check(rules = "LK-1403", lacks = Feature.LIST, from = Profile.SMOKE)
    @Hint(FIRST)
    void listingIsRefusedIfNotDeclared(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        refused(t, Feature.LIST, "list", () -> client.admin().list(t.prefix(), Optional.empty(), 10));
        refused(t, Feature.LIST, "show", () -> client.admin().show(t.key(t.name())));
    }

    @Check(rules = "LK-1403", lacks = Feature.BREAK, from = Profile.SMOKE)
    @Hint(FIRST)
    void breakingIsRefusedIfNotDeclared(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        Lease lease = client.lock(t.name()).acquire();
        refused(
                t,
                Feature.BREAK,
                "breakLease",
                () -> client.admin().breakLease(t.key(t.name()), lease.token(), "not declared"));
        t.expect(lease.isHeld(), "a break that was refused has ended the lease");
    }

    @Check(rules = "LK-1403", needs = Feature.READ_WRITE, lacks = Feature.UPGRADE, from = Profile.SMOKE)
    @Hint(FIRST)
    void upgradesAreRefusedIfNotDeclared(CheckContext t) throws Exception {
        DistributedReadWriteLock lock = t.client("first").readWriteLock(t.name());
        Lease read = lock.read().acquire();
        refused(t, Feature.UPGRADE, "tryUpgrade", () -> lock.tryUpgrade(read, Duration.ZERO));
        t.expect(read.isHeld(), "an upgrade that was refused has ended the read lease");
        read.release();
        Lease write = lock.write().acquire();
        refused(t, Feature.UPGRADE, "downgrade", () -> lock.downgrade(write));
        t.expect(write.isHeld(), "a downgrade that was refused has ended the write lease");
    }

    @Check(rules = "LK-1403", lacks = Feature.HOLD_AT_LEAST, from = Profile.SMOKE)
    @Hint(FIRST)
    void holdingAtLeastIsRefusedIfNotDeclared(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        LockOptions options = LockOptions.none().withHoldAtLeast(t.ttl());
        refused(
                t,
                Feature.HOLD_AT_LEAST,
                "lock.with",
                () -> client.lock(t.name()).with(options));
    }

    @Check(rules = "LK-1403", needs = Feature.READ_WRITE, lacks = Feature.DRAIN, from = Profile.SMOKE)
    @Hint(FIRST)
    void softWritersAreRefusedIfNotDeclared(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        refused(
                t,
                Feature.DRAIN,
                "readWriteLock with a soft writer",
                () -> client.readWriteLock(t.name(), WriterPolicy.soft()));
    }

    @Check(rules = "LK-1403", lacks = Feature.TRANSACTIONS, from = Profile.SMOKE)
    @Hint(FIRST)
    void transactionsAreRefusedIfNotDeclared(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        refused(t, Feature.TRANSACTIONS, "transaction", client::transaction);
    }

    @Check(rules = "LK-1403", lacks = Feature.TREE, from = Profile.SMOKE)
    @Hint(FIRST)
    void treesAreRefusedIfNotDeclared(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        refused(t, Feature.TREE, "tree", () -> client.tree(t.name()));
    }

    @Check(rules = "LK-1403", needs = Feature.TRANSACTIONS, lacks = Feature.NODE_SETS, from = Profile.SMOKE)
    @Hint(FIRST)
    void locksOverNodesAreRefusedIfNotDeclared(CheckContext t) throws Exception {
        LockRequest wanted = LockRequest.exclusive(t.name()).at(NodeSet.of(NodeRule.ALL, List.of("a:7400")));
        try (LockTransaction transaction = TransactionChecks.begin(t, t.client("first"))) {
            refused(t, Feature.NODE_SETS, "a lock over nodes", () -> {
                transaction.lockAsync(List.of(wanted));
                return true;
            });
        }
    }

    private static void refused(CheckContext t, Feature feature, String call, java.util.concurrent.Callable<?> made)
            throws InterruptedException {
        UnsupportedFeatureException e = t.expectThrows(
                call + ", which needs " + feature.label() + " and that is not declared,",
                UnsupportedFeatureException.class,
                made);
        t.expectEqual("the feature that the refusal names", Optional.of(feature), e.feature());
        t.expect(
                !e.retryable() && !e.mayHold(),
                "the refusal of a feature says that it may succeed later, or that a grant may be in force");
    }
}
