// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

/**
 * The steps of a world and where they happen. A step is its kind and, in the lower 4 bits, whose it is; processes are
 * counted members first.
 */
final class Steps {
    static final int TICK = 0;
    static final int FIRE = 1;
    static final int TO_MEMBER = 2;
    static final int TO_CLIENT = 3;
    static final int PAIR = 4;
    static final int ASK = 5;
    static final int RELEASE = 6;
    static final int WITHDRAW = 7;
    static final int HEAR_END = 8;
    static final int CONNECT = 9;
    static final int FORGET = 10;
    static final int DIE = 11;
    static final int RESTART = 12;
    static final int LAG = 13;
    static final int CUT = 14;
    static final int HEAL = 15;

    private final Scope scope;
    private final Links links;

    Steps(Scope scope, Links links) {
        this.scope = scope;
        this.links = links;
    }

    boolean passesTime(int step) {
        return step >>> 4 == TICK || step >>> 4 == LAG;
    }

    /** The first process if it happens everywhere. */
    int process(int step) {
        int who = step & 15;
        return switch (step >>> 4) {
            case TICK -> 0;
            case LAG, FIRE, RESTART, CUT, HEAL -> who;
            case TO_MEMBER, FORGET -> scope.memberOf.get(who);
            case PAIR -> who & 3;
            default -> links.client(who);
        };
    }

    /** From where the frame comes that a step delivers; where the step happens if it delivers none. */
    int sender(int step) {
        int who = step & 15;
        return switch (step >>> 4) {
            case TO_MEMBER -> links.client(who);
            case TO_CLIENT -> scope.memberOf.get(who);
            case PAIR -> who >> 2;
            default -> process(step);
        };
    }

    /** Where in a state the number of the frames is of which a step delivers the first; -1 if it delivers none. */
    int queue(int step) {
        int who = step & 15;
        return switch (step >>> 4) {
            case TO_MEMBER -> links.toMember(who);
            case TO_CLIENT -> links.toClient(who);
            case PAIR -> links.pair(who >> 2, who & 3);
            default -> -1;
        };
    }
}
