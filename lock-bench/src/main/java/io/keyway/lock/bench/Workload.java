// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/** What the contenders of {@code native} are asked to do. */
enum Workload {
    PAIR(Kind.PAIRS, 1, 1, 1, "uncontended pair: one thread, one name"),
    FIRST(Kind.FIRST, 1, 1, 0, "first acquire of a name: a new name each time, the release not counted"),
    ACQUIRE(Kind.FIRST, 1, 1, 1, "uncontended acquire of one name, the release not counted"),
    NAMES8(Kind.PAIRS, 1, 8, 8, "8 threads, 8 names"),
    NAMES100(Kind.PAIRS, 1, 8, 100, "8 threads, 100 names drawn at random"),
    NAMES10000(Kind.PAIRS, 1, 8, 10_000, "8 threads, 10,000 names drawn at random"),
    NAMES64(Kind.PAIRS, 1, 64, 64, "64 threads, 64 names"),
    QUEUE16(Kind.PAIRS, 4, 16, 1, "16 threads of 4 clients, one lock"),
    HANDOVER(Kind.HANDOVER, 2, 2, 1, "hand-over on an idle machine: release called to acquire returned"),
    EXPERIMENT(
            Kind.EXPERIMENT,
            Trials.CLIENTS,
            Trials.CLIENTS,
            1,
            "the experiment: 10 clients, 1 lock, 2 operations each"),
    COLD(Kind.COLD, 1, 1, 1, "cold start: one thread, one name, in a JVM that has just been started"),
    COLD16(Kind.COLD, 4, 16, 1, "cold start: 16 threads of 4 clients, one lock"),
    HELD(Kind.FOOTPRINT, 1, 1, 0, "100,000 locks held for 30 s: the client's share of a core, heap for each lock"),
    ONCE(Kind.FOOTPRINT, 1, 1, 0, "100,000 names locked once each: heap that is left for each"),
    READ(Kind.MODES, 1, 1, 1, "uncontended pair of a reader: one thread, one name"),
    PERMIT(Kind.MODES, 1, 1, 1, "uncontended pair of a permit: one thread, a semaphore of 10"),
    RW95(Kind.MODES, 4, 16, 1, "16 threads, 95 % readers and 5 % writers, one name"),
    SEMAPHORE10(Kind.MODES, 4, 16, 1, "16 threads, a semaphore of 10"),
    TRANSACTION(Kind.TRANSACTIONS, 1, 1, 1, "transactions of one lock, begin to end: one thread, one name"),
    TRANSACTION8(Kind.TRANSACTIONS, 8, 8, 1, "the same of 8 clients, one name"),
    DEADLOCK(Kind.DEADLOCK, 2, 2, 2, "two transactions ask for what the other one has: until the first has it"),
    WAKEUP(Kind.WAKEUP, 0, 0, 0, "the limit of this machine: a word to a waiting thread, until that runs");

    /** How a workload is run, and what its figure is. */
    enum Kind {
        /** Acquire and release as fast as it goes. */
        PAIRS("pairs per second; more is better"),
        /** The same with readers, or with permits. */
        MODES("pairs per second; more is better"),
        /** The same with transactions. */
        TRANSACTIONS("transactions per second; more is better"),
        DEADLOCK("median in microseconds; less is better"),
        FIRST("median in microseconds; less is better"),
        HANDOVER("median in microseconds; less is better"),
        EXPERIMENT("median in microseconds; less is better"),
        COLD("pairs per second in the 2nd second of a JVM's life; more is better"),
        FOOTPRINT("percent of a core, or bytes; less is better"),
        WAKEUP("microseconds one way; less is better");

        /** What the figure is. */
        final String unit;

        Kind(String unit) {
            this.unit = unit;
        }

        /** Whether less of the figure is better. */
        boolean isTime() {
            return unit.endsWith("less is better");
        }
    }

    private static final int READERS_PERCENT = 95;

    final Kind kind;
    final int clients;
    final int threads;
    /** As many as there are threads: each has its own. Otherwise each draws one anew. */
    final int names;

    final String text;

    Workload(Kind kind, int clients, int threads, int names, String text) {
        this.kind = kind;
        this.clients = clients;
        this.threads = threads;
        this.names = names;
        this.text = text;
    }

    /** Whether that contender can take part in it. */
    boolean suits(String contender) {
        if (contender.matches("zookeeper|curator") && kind != Kind.MODES) {
            // Their locks have a comparison of their own, on one ensemble.
            return false;
        }
        boolean ofTransactions = kind == Kind.TRANSACTIONS || kind == Kind.DEADLOCK;
        if (contender.matches(".*-(all|majority)") && !ofTransactions) {
            return false;
        }
        return switch (kind) {
            // Others have none; the wire's are pairs, of which no two are ever in a circle.
            case TRANSACTIONS -> contender.matches("(wire|mem|local|member|failover).*");
            case DEADLOCK -> contender.matches("(mem|local|member|failover).*");
            // It has no lock that could be handed over.
            case HANDOVER -> !contender.equals("ping");
            // What is held or forgotten is the same with a cache, which keeps what was used last on purpose.
            case FOOTPRINT -> contender.matches("(member|local)-off.*");
            // Who takes part is asked what it offers.
            case MODES -> !contender.matches("wire.*|ping");
            case COLD -> contender.matches("wire|ping|postgres|redis.*|(member|local).*");
            default -> true;
        };
    }

    /** What its threads take. */
    Set<Use> uses() {
        return switch (this) {
            case READ -> EnumSet.of(Use.READ);
            case RW95 -> EnumSet.of(Use.READ, Use.WRITE);
            case PERMIT, SEMAPHORE10 -> EnumSet.of(Use.PERMIT);
            case TRANSACTION, TRANSACTION8, DEADLOCK -> EnumSet.of(Use.TRANSACTION);
            default -> EnumSet.of(Use.LOCK);
        };
    }

    /** What a thread takes next. */
    Use next() {
        return switch (this) {
            case READ -> Use.READ;
            case RW95 -> ThreadLocalRandom.current().nextInt(100) < READERS_PERCENT ? Use.READ : Use.WRITE;
            case PERMIT, SEMAPHORE10 -> Use.PERMIT;
            case TRANSACTION, TRANSACTION8, DEADLOCK -> Use.TRANSACTION;
            default -> Use.LOCK;
        };
    }

    /** Whether it is run as pairs of acquire and release. */
    boolean isPairs() {
        return kind == Kind.PAIRS || kind == Kind.MODES || kind == Kind.TRANSACTIONS;
    }

    /** Whose figure the others are compared with. */
    String reference() {
        return kind == Kind.MODES ? "redisson" : "wire";
    }

    /** Whether threads wait for one another. */
    boolean contended() {
        return names == 1 && threads > 1;
    }

    /** Whether its figures are looked at as ratios. */
    boolean isCompared() {
        return kind != Kind.FOOTPRINT && kind != Kind.WAKEUP;
    }

    /** As it is written. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
