// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.peer.bakery.BakeryAlgorithm;
import io.keyway.lock.peer.lamport.LamportAlgorithm;
import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.simulator.search.Scope.Ask;
import java.util.Arrays;
import java.util.OptionalInt;

/** The scopes that are searched, by the algorithm. */
final class Scopes {
    /** An idle lock goes back after half a lease. */
    static final LockSettings CACHE = LockSettings.defaults().withCache(Scope.TTL / 2, 10);

    private static final LeaseAlgorithm LEASE = new LeaseAlgorithm(CACHE);
    private static final Ask WRITE = Ask.EXCLUSIVE;
    private static final Ask READ = Ask.SHARED;

    private Scopes() {}

    /** Two clients and one lock, forever. */
    static Scope lease() {
        return new Scope("lease, 2 clients", LEASE)
                .lease(2)
                .client(0, WRITE)
                .client(0, WRITE)
                .frames(1, 1)
                .ticks(-1)
                .reaches("GRANT_AFTER_EXPIRY", "RECALL_ACCEPTED", "IDLE_RETURN", "LAPSED", "PASSED_OVER_HEARD_AGAIN");
    }

    /** The same without time: more frames on the way, and nothing that a timer mends. */
    static Scope leaseAtOnce() {
        return new Scope("lease, 3 clients, no time", LEASE)
                .client(0, WRITE, WRITE)
                .client(0, WRITE, WRITE)
                .client(0, WRITE.atOnce())
                .withdrawals(1)
                .reaches("TWO_WAITERS", "RECALL_DENIED", "NO_WAIT_THROUGH_IDLE_CACHE", "WITHDRAWN_AFTER_GRANT");
    }

    static Scope leaseTroubled() {
        return new Scope("lease, 2 clients, forgotten, withdrawn", LEASE)
                .lease(2)
                .client(0, WRITE, WRITE)
                .client(0, WRITE)
                .frames(1, 1)
                .ticks(-1)
                .withdrawals(1)
                .forgets(1);
    }

    /** One client may die, and the member ends its session. */
    static Scope leaseOfTheDead() {
        return new Scope("lease, 2 clients, 1 death", LEASE)
                .lease(2)
                .client(0, WRITE)
                .client(0, WRITE)
                .frames(1, 1)
                .ticks(-1)
                .deaths(1)
                .forgets(1);
    }

    static Scope leaseRestarted() {
        return new Scope("lease, 2 clients, 1 restart", LEASE)
                .lease(2)
                .client(0, WRITE)
                .client(0, WRITE)
                .frames(1, 1)
                .ticks(-1)
                .restarts(1)
                .reaches("GRANT_AFTER_QUARANTINE", "BELIEF_FROZEN", "REASSERTED", "TWO_WAITERS");
    }

    /** An answer may be on the way behind another one for longer than a lease. */
    static Scope leaseWithOldAnswers() {
        return new Scope("lease, 2 clients, old answers", LEASE)
                .lease(2)
                .client(0, WRITE)
                .client(0, WRITE)
                .frames(1, 2)
                .ticks(-1);
    }

    static Scope leaseOfThree() {
        return new Scope("lease, 3 clients", LEASE)
                .lease(2)
                .client(0, WRITE)
                .client(0, WRITE)
                .client(0, WRITE)
                .frames(1, 1)
                .ticks(-1);
    }

    static Scope shared() {
        return new Scope("lease, readers and writers, 1 recall", LEASE)
                .lease(2)
                .client(0, READ, WRITE)
                .client(0, READ)
                .frames(1, 1)
                .ticks(-1)
                .reaches("JOINED", "RECALL_ACCEPTED", "TWO_WAITERS", "GRANT_AFTER_EXPIRY");
    }

    static Scope sharedAtOnce() {
        return new Scope("lease, readers and writers, no time", LEASE)
                .client(0, READ, WRITE.instead(), WRITE)
                .client(0, READ, WRITE.instead())
                .client(0, READ)
                .withdrawals(1)
                .reaches("UPGRADED_AT_ONCE", "UPGRADED_AFTER_WAITING", "UPGRADE_TAKEN_BACK", "SECOND_UPGRADE_REFUSED");
    }

    static Scope sharedRestarted() {
        return new Scope("lease, readers, 1 restart", LEASE)
                .lease(2)
                .client(0, READ)
                .client(0, READ)
                .frames(1, 1)
                .ticks(-1)
                .restarts(1);
    }

    /** Four processes, of which two see one resource and two see both. */
    static Scope bucket() {
        return new Scope("bucket, 4 processes, 2 sizes", LEASE)
                .client(0, Ask.permits(1, 1))
                .client(0, Ask.permits(1, 1), Ask.permits(1, 2))
                .client(0, Ask.permits(1, 2), Ask.permits(1, 1))
                .client(0, Ask.permits(1, 2))
                .reaches("JOINED", "NARROW_CACHES_ASKED", "PASSED_BY_A_LARGER_VIEW", "SEVERAL_RECALLED");
    }

    /** Members, and a client of each, who asks so often. */
    static Scope lamport(int members, int rounds) {
        Scope scope = new Scope("lamport, n = " + members + ", " + rounds + " rounds", new LamportAlgorithm())
                .members(members)
                .frames(2, 3)
                .reaches("EQUAL_STAMPS", "WAITED_FOR_A_RELEASE");
        Ask[] asks = new Ask[rounds];
        Arrays.fill(asks, WRITE);
        for (int member = 0; member < members; member++) {
            scope.client(member, asks);
        }
        return scope;
    }

    /** Leaders of a bakery, and clients of them, each of whom asks once. */
    static Scope bakery(int leaders, int... memberOf) {
        Scope scope = new Scope(
                        "bakery, " + leaders + " leaders, " + memberOf.length + " clients", new BakeryAlgorithm())
                .members(leaders)
                .frames(2, 3)
                .reaches("EQUAL_TICKETS", "KEPT_BY_ITS_HOLDER", "RELINQUISHED", "WAITED_FOR_AN_ENTERING");
        for (int member : memberOf) {
            scope.client(member, WRITE);
        }
        return scope;
    }

    /** Two readers and a writer, each of another member. */
    static Scope bakeryReaders() {
        return new Scope("bakery, 3 leaders, 2 readers, 1 writer", new BakeryAlgorithm())
                .members(3)
                .frames(2, 3)
                .client(0, READ)
                .client(1, WRITE)
                .client(2, READ)
                .reaches("LET_IN_BESIDE", "WAITED_BEHIND_A_WRITER");
    }

    /** A reader and a writer, of two of three leaders. */
    static Scope bakeryReader() {
        return new Scope("bakery, 3 leaders, 1 reader, 1 writer", new BakeryAlgorithm())
                .members(3)
                .frames(2, 3)
                .client(0, READ)
                .client(1, WRITE)
                .reaches("EQUAL_TICKETS", "KEPT_BY_ITS_HOLDER", "RELINQUISHED", "WAITED_FOR_AN_ENTERING");
    }

    /** The same, and a leader without clients is killed. */
    static Scope bakeryRestarted() {
        return bakery(3, 0, 1).frames(1, 1).restarts(1, 2);
    }

    /** The same in a prompt world, and time passes until the leader speaks again. */
    static Scope bakeryRestartedInTime() {
        return bakeryRestarted().lease(2).ticks(6).prompt();
    }

    /**
     * The only leader, which has a client, is cut off from the three other members, which elect one of them; and it
     * comes back, early or late.
     *
     * @param lease in units
     * @param ticks so many units pass
     */
    static Scope bakeryReplaced(int lease, int ticks) {
        Algorithm ofOneLeader = new BakeryAlgorithm().electing(OptionalInt.of(1), OptionalInt.empty());
        return replaced(new Scope("bakery, 4 members, 1 leader, cut off, lease of " + lease, ofOneLeader), lease, ticks)
                .client(1, WRITE);
    }

    /** The same with three leaders, of which one is cut off, and a client of the member that does not lead. */
    static Scope bakeryReplaced() {
        return replaced(new Scope("bakery, 4 members, 3 leaders, 1 cut off", new BakeryAlgorithm()), 2, 6)
                .client(3, WRITE);
    }

    private static Scope replaced(Scope scope, int lease, int ticks) {
        return scope.members(4)
                .frames(1, 1)
                .client(0, WRITE)
                .lease(lease)
                .ticks(ticks)
                .cutOff(0, 1)
                .prompt()
                .reaches("FIRST_USE", "LEADER_REPLACED", "SEATED", "ASKED_WHILE_SILENT", "LAPSED", "EQUAL_TICKETS");
    }

    /** Two clients of one member, and one of another. */
    static Scope lamportOfThree() {
        return new Scope("lamport, n = 2, 3 clients", new LamportAlgorithm())
                .members(2)
                .client(0, WRITE, WRITE)
                .client(0, WRITE)
                .client(1, WRITE);
    }

    /** Clocks go, and whoever is silent loses the lock. */
    static Scope lamportInTime() {
        return lamport(2, 1).lease(2).frames(1, 1).ticks(-1);
    }
}
