// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.StringJoiner;

/**
 * What kind of world it is; all of it follows from the seed, and a plan prints it. Times are nanoseconds.
 *
 * @param members how many nodes are members, or may become ones
 * @param spares how many of them only become ones when the list changes
 * @param ordered links behave like TCP: nothing is lost, doubled or overtaken while a link lives, only late; otherwise
 *     like datagrams
 * @param latency the least time of a frame on its way
 * @param jitter what is added to it, evenly
 * @param tail what one of 64 frames may take longer
 * @param lossPerMille frames that are lost without any fault; they are only late if ordered
 * @param batchWindow inputs of one cell within this time get one flush
 * @param lateness timers are late by up to this
 * @param diskLatency what a record takes to be forced
 * @param faultPhase when faults stop and the liveness phase begins
 * @param drift clock rates are off by up to this many parts per million
 * @param outOfSpec clocks may break every bound; only what needs no clock is asserted
 */
record Options(
        long seed,
        Profile profile,
        Budget budget,
        int members,
        int spares,
        int clients,
        int users,
        int names,
        boolean ordered,
        long latency,
        long jitter,
        long tail,
        int lossPerMille,
        int duplicatePerMille,
        long batchWindow,
        long lateness,
        long diskLatency,
        long faultPhase,
        int faults,
        int acts,
        long maxTtl,
        long drift,
        boolean outOfSpec,
        int purityPerMille) {

    /** The most that a clock's rate may be off by within the specification, in parts per million. */
    static final long RATE_LIMIT = 10_000;

    enum Profile {
        SESSION,
        LEASE,
        /** Three members of the lease service, and sometimes a fourth. */
        CLUSTER,
        /** Three members that talk to each other: an algorithm of the tests alone. */
        COUNTER,
        /** Three members that keep Lamport's queues. */
        LAMPORT,
        /** Three to five members, of which three are the leaders of a bakery. */
        BAKERY,
        /** Three to five members, of which one leads the lease service. */
        FAILOVER,
        /** Readers and writers, who change from one to the other: one member, and in some worlds three or four. */
        SHARED,
        /** Permits of semaphores, of whose capacity each client has its own view: the same members. */
        PERMITS;

        /** Whether each client has one session, whichever member decides, and members talk to each other. */
        boolean attaches() {
            return this == LAMPORT || elects();
        }

        /** Whether members elect leaders. */
        boolean elects() {
            return this == BAKERY || this == FAILOVER;
        }
    }

    /** How much may break: most worlds must stay able to do something, or nothing interesting happens in them. */
    enum Budget {
        /** The member lives on; links and clients fail. */
        STEADY,
        /** The member restarts now and then. */
        RESTARTS,
        /** Anything, all the time. */
        CHAOS,
        /** What {@link RestartPlanner} aims at members that start again. */
        AIMED
    }

    static Options of(Profile profile, long seed) {
        Draws draws = new Draws(seed, 1);
        boolean counter = profile == Profile.COUNTER;
        boolean small = profile == Profile.SESSION || counter;
        boolean modes = profile == Profile.SHARED || profile == Profile.PERMITS;
        boolean members = profile == Profile.CLUSTER || (modes && new Draws(seed, 14).chance(300));
        boolean cluster = members || profile.attaches();
        boolean elastic = profile.elects() && new Draws(seed, 20).chance(400);
        int spares = elastic || (members && new Draws(seed, 12).chance(500)) ? 1 : 0;
        long of100 = draws.below(100);
        int more = profile.elects() ? new Draws(seed, 15).below(3) : 0;
        Budget budget = of100 < 70 ? Budget.STEADY : of100 < 90 ? Budget.RESTARTS : Budget.CHAOS;
        // In some worlds of fail-over grants are still believed when another member leads, some seconds later.
        long longest = profile == Profile.FAILOVER ? 32L : 8L;
        long maxTtl = draws.one(1L, 2L, 4L, longest) * Nanos.SECOND;
        boolean calm = draws.chance(100);
        return new Options(
                seed,
                profile,
                budget,
                cluster ? 3 + spares + more : counter ? 3 : 1,
                spares,
                small ? draws.between(1, 3) == 1 ? 1 : 2 : (int) draws.between(2, 6),
                small ? 1 : (int) draws.between(1, 3),
                small ? 2 : (int) draws.between(cluster ? 2 : 1, cluster ? 6 : 4),
                draws.chance(400),
                draws.logarithmic(10 * Nanos.MICRO, 80 * Nanos.MILLI),
                draws.chance(100) ? 0 : draws.logarithmic(10 * Nanos.MICRO, 50 * Nanos.MILLI),
                draws.chance(300) ? 0 : draws.logarithmic(Nanos.MILLI, 2 * maxTtl),
                calm ? 0 : draws.one(0, 5, 20, 60),
                calm ? 0 : draws.one(0, 5, 20, 60),
                draws.one(0L, 50 * Nanos.MICRO, Nanos.MILLI),
                draws.one(0L, 100 * Nanos.MICRO, 5 * Nanos.MILLI),
                draws.logarithmic(100 * Nanos.MICRO, 50 * Nanos.MILLI),
                (small ? 4 : 8) * maxTtl,
                (int) (budget == Budget.CHAOS ? draws.between(6, 30) : draws.between(1, small ? 5 : cluster ? 20 : 14)),
                (int) (small ? draws.between(4, 16) : draws.between(20, 160)),
                maxTtl,
                draws.one(0L, 100L, RATE_LIMIT),
                budget == Budget.CHAOS && draws.chance(300) && !cluster && !counter,
                10);
    }

    /** These options with one changed; for the shrinker and for plans that were printed. */
    Options with(String name, String value) {
        RecordComponent[] components = Options.class.getRecordComponents();
        Object[] arguments = new Object[components.length];
        Class<?>[] types = new Class<?>[components.length];
        boolean known = false;
        try {
            for (int i = 0; i < components.length; i++) {
                types[i] = components[i].getType();
                boolean changed = components[i].getName().equals(name);
                known |= changed;
                arguments[i] = changed
                        ? parse(types[i], value)
                        : components[i].getAccessor().invoke(this);
            }
            if (!known) {
                throw new IllegalArgumentException("no option " + name);
            }
            return Options.class.getDeclaredConstructor(types).newInstance(arguments);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("a record can be read and made", e);
        }
    }

    private static Object parse(Class<?> type, String value) {
        if (type == long.class) {
            return Long.parseLong(value);
        }
        if (type == int.class) {
            return Integer.parseInt(value);
        }
        if (type == boolean.class) {
            return Boolean.parseBoolean(value);
        }
        return Arrays.stream(type.getEnumConstants())
                .filter(constant -> constant.toString().equals(value))
                .findAny()
                .orElseThrow(() -> new IllegalArgumentException("no " + type.getSimpleName() + " " + value));
    }

    /** One line: {@code options seed=1 profile=LEASE ...}. */
    @Override
    public String toString() {
        StringJoiner line = new StringJoiner(" ", "options ", "");
        try {
            for (RecordComponent component : Options.class.getRecordComponents()) {
                line.add(component.getName() + "=" + component.getAccessor().invoke(this));
            }
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("a record can be read", e);
        }
        return line.toString();
    }

    static Options parse(String line) {
        Options options = of(Profile.SESSION, 0);
        Words words = new Words(line);
        for (int i = 1; i < words.size(); i++) {
            String word = words.word(i);
            int equals = word.indexOf('=');
            options = options.with(word.substring(0, equals), word.substring(equals + 1));
        }
        return options;
    }
}
