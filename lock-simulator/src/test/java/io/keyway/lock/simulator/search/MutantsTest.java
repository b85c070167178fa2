// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.client.UnsafeCaches;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.lamport.UnsafeLamport;
import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.keyway.lock.peer.lease.UnsafeVariants;
import io.keyway.lock.peer.queue.UnsafeModes;
import io.keyway.lock.peer.queue.UnsafeQueue;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.Unsafe;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What was broken on purpose, one repair of the shipping machines at a time, and where it is found: a search that could
 * not find it would say nothing about the product.
 */
class MutantsTest {
    private static final int MOST = 2_000_000;
    /** No way to any of them is longer. */
    private static final int STEPS = 30;

    private static final LockSettings CACHE = Scopes.CACHE;
    private static final LeaseAlgorithm LEASE = new LeaseAlgorithm(CACHE);

    /**
     * Found by the explorer.
     *
     * @param property what it breaks
     */
    record Mutant(Enum<?> undone, Supplier<Scope> scope, String property) {
        @Override
        public String toString() {
            return undone.name();
        }
    }

    private static Mutant of(Unsafe undone, Supplier<Scope> scope, String property) {
        return new Mutant(
                undone,
                () -> {
                    Scope changed = scope.get();
                    changed.machines(UnsafeVariants.members(undone, CACHE), UnsafeVariants.clients(undone, CACHE));
                    return UnsafeVariants.quarantine(undone, 1) == 0 ? changed.noQuarantine() : changed;
                },
                property);
    }

    private static Mutant of(UnsafeQueue undone, Supplier<Scope> scope, String property) {
        MachineFactory members = UnsafeVariants.members(undone, CACHE);
        return new Mutant(undone, () -> scope.get().machines(members, LEASE.clientMachines()), property);
    }

    private static Mutant of(UnsafeModes undone, Supplier<Scope> scope, String property) {
        MachineFactory members = UnsafeVariants.members(undone, CACHE, all -> true);
        return new Mutant(undone, () -> scope.get().machines(members, LEASE.clientMachines()), property);
    }

    private static Mutant of(UnsafeCaches undone, Supplier<Scope> scope, String property) {
        MachineFactory clients = UnsafeVariants.clients(undone, CACHE);
        return new Mutant(undone, () -> scope.get().machines(LEASE.memberMachines(all -> true), clients), property);
    }

    private static Mutant of(UnsafeLamport undone, Supplier<Scope> scope, String property) {
        return new Mutant(
                undone,
                () -> {
                    Scope lamport = scope.get();
                    return lamport.machines(undone.machines(), lamport.algorithm.clientMachines());
                },
                property);
    }

    static List<Mutant> mutants() {
        return List.of(
                of(Unsafe.DEADLINE_FROM_RECEIPT, Scopes::leaseWithOldAnswers, "R1"),
                of(Unsafe.RELEASE_WITHOUT_TOKEN, Scopes::leaseAtOnce, "R1"),
                of(Unsafe.NO_QUARANTINE, Scopes::leaseRestarted, "R1"),
                of(Unsafe.CACHE_DURING_OFFER, Scopes::leaseAtOnce, "R1"),
                of(Unsafe.LATE_ANSWER_IS_A_GRANT, Scopes::leaseAtOnce, "R1"),
                of(Unsafe.WAITER_STAYS, Scopes::leaseAtOnce, "R15"),
                of(UnsafeQueue.FORGETS_THE_FLOOR, Scopes::lease, "R5"),
                of(UnsafeQueue.GRANTS_WHAT_LOOKS_FREE, Scopes::leaseRestarted, "R1"),
                of(UnsafeQueue.UPGRADES_BESIDE_READERS, Scopes::sharedAtOnce, "R"),
                of(UnsafeQueue.HEARD_IGNORED, Scopes::lease, "R15"),
                of(UnsafeQueue.EXPIRY_IGNORED, Scopes::leaseOfTheDead, "R15"),
                of(UnsafeQueue.LEASE_WITHOUT_END, Scopes::leaseOfTheDead, "R15"),
                of(UnsafeQueue.OPENING_IGNORED, Scopes::leaseRestarted, "R15"),
                of(UnsafeQueue.ACCEPTED_IGNORED, Scopes::leaseAtOnce, "R15"),
                of(UnsafeQueue.RELEASE_IGNORED, Scopes::leaseAtOnce, "R15"),
                of(UnsafeQueue.RELEASE_OF_ANY_TOKEN, Scopes::leaseAtOnce, "R1"),
                of(UnsafeCaches.ACCEPTS_WHILE_IN_USE, Scopes::leaseAtOnce, "R1"),
                of(UnsafeCaches.SWALLOWS_REFUSALS, Scopes::leaseAtOnce, "R15"),
                of(UnsafeCaches.RECALL_IGNORED, Scopes::leaseAtOnce, "R15"),
                of(UnsafeCaches.ASKS_ONCE, Scopes::leaseRestarted, "R15"),
                of(UnsafeModes.CAPACITY_OF_THE_FIRST, Scopes::bucket, "R12"),
                of(UnsafeModes.READER_BESIDE_A_WRITER, Scopes::sharedAtOnce, "R1"),
                of(UnsafeLamport.NO_TIE_BREAK, () -> Scopes.lamport(2, 2), "R1"),
                of(UnsafeLamport.UNORDERED, () -> Scopes.lamport(2, 2), "R15"),
                of(UnsafeLamport.MAJORITY, () -> Scopes.lamport(3, 1), "R1"),
                of(UnsafeLamport.RELEASES_ALL, Scopes::lamportOfThree, "R"));
    }

    @ParameterizedTest
    @MethodSource("mutants")
    @SuppressWarnings("SystemOut") // the table of what was found
    void isFound(Mutant mutant) {
        Trail found = Searches.broken(mutant.scope().get(), MOST);
        System.out.println(mutant + ", " + found.scope() + ": " + found.broken() + " after "
                + found.steps().size() + " steps");
        assertThat(found.broken()).startsWith(mutant.property());
        assertThat(found.steps()).hasSizeLessThanOrEqualTo(STEPS);
    }
}
