// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

/** Where the steps of a world happen: processes are counted members first. */
final class StepPlaces {
    private final Scope scope;
    private final Links links;

    StepPlaces(Scope scope, Links links) {
        this.scope = scope;
        this.links = links;
    }

    boolean passesTime(int step) {
        return step >>> 4 == RpcWorld.TICK || step >>> 4 == RpcWorld.LAG;
    }

    /** The first process if it happens everywhere. */
    int process(int step) {
        int who = step & 15;
        return switch (step >>> 4) {
            case RpcWorld.TICK -> 0;
            case RpcWorld.LAG, RpcWorld.FIRE, RpcWorld.RESTART -> who;
            case RpcWorld.TO_MEMBER, RpcWorld.FORGET -> scope.memberOf.get(who);
            case RpcWorld.PAIR -> who & 3;
            default -> links.client(who);
        };
    }

    /** From where the frame comes that a step delivers; where the step happens if it delivers none. */
    int sender(int step) {
        int who = step & 15;
        return switch (step >>> 4) {
            case RpcWorld.TO_MEMBER -> links.client(who);
            case RpcWorld.TO_CLIENT -> scope.memberOf.get(who);
            case RpcWorld.PAIR -> who >> 2;
            default -> process(step);
        };
    }

    /** Where in a state the number of the frames is of which a step delivers the first; -1 if it delivers none. */
    int queue(int step) {
        int who = step & 15;
        return switch (step >>> 4) {
            case RpcWorld.TO_MEMBER -> links.toMember(who);
            case RpcWorld.TO_CLIENT -> links.toClient(who);
            case RpcWorld.PAIR -> links.pair(who >> 2, who & 3);
            default -> -1;
        };
    }
}
