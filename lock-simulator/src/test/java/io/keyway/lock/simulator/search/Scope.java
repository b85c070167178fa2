// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.service.LockKeys;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A small world all of whose states are searched: who is in it, what users do, and how much may go wrong. Times are
 * counted in units, of which some are a lease: the more, the finer the clocks, and the more states.
 */
final class Scope {
    /** A lease, in nanoseconds: it can be divided by 2, 3 and 4. */
    static final long TTL = 12_000_000_000L;

    /**
     * A user of a client wants the lock. Users of one client come one after another, each when the one before has
     * released, or given up, or was refused; one that converts comes while the one before holds.
     *
     * @param capacity how many permits there are in its view; 1 for a lock
     * @param waits false: it wants an answer at once
     * @param converts it wants what the user before it holds, in this mode
     */
    record Ask(LockMode mode, int permits, int capacity, boolean waits, boolean converts) {
        static final Ask EXCLUSIVE = new Ask(LockMode.EXCLUSIVE, 1, 1, true, false);
        static final Ask SHARED = new Ask(LockMode.SHARED, 1, 1, true, false);

        static Ask permits(int permits, int capacity) {
            return new Ask(LockMode.PERMITS, permits, capacity, true, false);
        }

        Ask atOnce() {
            return new Ask(mode, permits, capacity, false, converts);
        }

        Ask instead() {
            return new Ask(mode, permits, capacity, waits, true);
        }
    }

    final String name;
    final Algorithm algorithm;
    MachineFactory memberMachines;
    MachineFactory clientMachines;
    final List<String> members = new ArrayList<>(List.of("a"));
    final List<List<Ask>> asks = new ArrayList<>();
    final List<Integer> memberOf = new ArrayList<>();
    /** What a search of it must have seen, or it proves nothing. */
    final Set<String> goals = new LinkedHashSet<>();

    /** A lease, in units. */
    int lease = 4;

    int toMember = 2;
    int toClient = 2;
    int ticks;
    int restarts;
    /** The members that may be killed. */
    private final Set<Integer> mortal = new LinkedHashSet<>();

    int cuts;
    /** The member that may be cut off. */
    int lonely;

    int forgets;
    int deaths;
    int drifts;
    int withdrawals;
    int pauses;
    /** What is said between clients and members, and of elections alone, arrives before all else. */
    boolean prompt;
    /** How much longer than a lease a member that starts anew grants nothing, in units. */
    private int quarantine = 1;

    Scope(String name, Algorithm algorithm) {
        this.name = name;
        this.algorithm = algorithm;
        this.memberMachines = algorithm.memberMachines(all -> true);
        this.clientMachines = algorithm.clientMachines();
    }

    /** So many members, instead of one. */
    Scope members(int count) {
        members.clear();
        members.addAll(List.of("a", "b", "c", "d").subList(0, count));
        return this;
    }

    /** One more client, of that member. */
    Scope client(int member, Ask... users) {
        memberOf.add(member);
        asks.add(List.of(users));
        return this;
    }

    /** Other machines than those that ship. */
    Scope machines(MachineFactory ofMembers, MachineFactory ofClients) {
        memberMachines = ofMembers;
        clientMachines = ofClients;
        return this;
    }

    /** At most so many frames stand on a link in each direction: what would send more comes later. */
    Scope frames(int toTheMember, int toTheClient) {
        toMember = toTheMember;
        toClient = toTheClient;
        return this;
    }

    /** Time passes for so many units in all; -1: forever. */
    Scope ticks(int units) {
        ticks = units;
        return this;
    }

    /** So often a member is killed and starts anew, with what it has forced; one of these, if any is named. */
    Scope restarts(int count, Integer... ofMembers) {
        restarts = count;
        mortal.addAll(List.of(ofMembers));
        return this;
    }

    /** Whether that member may be killed. */
    boolean isMortal(int member) {
        return mortal.isEmpty() || mortal.contains(member);
    }

    /** So often that member is cut off from all others; when it is cut off no more, what was held up arrives. */
    Scope cutOff(int member, int count) {
        lonely = member;
        cuts = count;
        return this;
    }

    /** So often a member ends the session of a client that was silent for the longest lease. */
    Scope forgets(int count) {
        forgets = count;
        return this;
    }

    /** So many clients end without a word. */
    Scope deaths(int count) {
        deaths = count;
        return this;
    }

    /** So often a clock misses a unit, once in a lease at the most. */
    Scope drifts(int count) {
        drifts = count;
        return this;
    }

    /** So many users give up while they wait. */
    Scope withdrawals(int count) {
        withdrawals = count;
        return this;
    }

    /** For so many units in all a client has something to do and does not. */
    Scope pauses(int units) {
        pauses = units;
        return this;
    }

    /**
     * What a client and its member say to each other arrives at once, and so does what members say of elections alone:
     * what else members say is late.
     */
    Scope prompt() {
        prompt = true;
        return this;
    }

    /** So many units are a lease: 2, 3 or 4. */
    Scope lease(int units) {
        lease = units;
        return this;
    }

    /** A member that starts anew grants at once. */
    Scope noQuarantine() {
        quarantine = -lease;
        return this;
    }

    /** How long a member that starts anew grants nothing, in units. */
    int quarantine() {
        return lease + quarantine;
    }

    /** In nanoseconds. */
    long unit() {
        return TTL / lease;
    }

    /** The search must have seen these, by the names of their goals. */
    Scope reaches(String... compulsory) {
        goals.addAll(List.of(compulsory));
        return this;
    }

    int clients() {
        return memberOf.size();
    }

    /** Of the lock that all ask for, or of the semaphore. */
    Key key() {
        boolean permits = asks.get(0).get(0).mode() == LockMode.PERMITS;
        return permits ? LockKeys.semaphore(algorithm.id(), "n") : LockKeys.lock(algorithm.id(), "n");
    }
}
