// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.simulator.Options.Profile;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Plans of members that start again where it counts, one for each rule that a start keeps. Who leads at first is drawn
 * by the seed, so each plan comes in all orders of the members.
 */
final class StartPlans {
    private static final int MEMBERS = 3;

    private StartPlans() {}

    /** Of three members in one order. */
    private interface Lines {
        String of(int former, int pivot, int other);
    }

    private static List<Plan> orders(Profile profile, long seeds, long maxTtl, Lines lines) {
        List<Plan> plans = new ArrayList<>();
        for (long seed = 1; seed <= seeds; seed++) {
            for (int former = 0; former < MEMBERS; former++) {
                for (int step = 1; step < MEMBERS; step++) {
                    int pivot = (former + step) % MEMBERS;
                    plans.add(Plan.parse(options(profile, seed, MEMBERS, maxTtl)
                            + lines.of(former, pivot, MEMBERS - former - pivot)
                            + "listed mishaps 0\n"));
                }
            }
        }
        return plans;
    }

    /**
     * Three of five members start again one after the other, with leases of an eighth: two that do not lead, and one
     * leader. The others refuse them. Another leader has a client that holds, and counts what that one has confirmed
     * by the longer leases. The three are a majority, and elect two leaders.
     */
    static List<Plan> shorterLeases() {
        List<Plan> plans = new ArrayList<>();
        int members = 5;
        for (int one = 0; one < members; one++) {
            for (int two = one + 1; two < members; two++) {
                for (int leader = 0; leader < members; leader++) {
                    for (int holder = 0; holder < members; holder++) {
                        boolean differ = new HashSet<>(List.of(one, two, leader, holder)).size() == 4;
                        if (differ) {
                            StringBuilder plan = new StringBuilder(
                                    options(Profile.BAKERY, 1, members, 16).replace("clients=3", "clients=5"));
                            plan.append(shorter(one, 20)).append(shorter(two, 20));
                            plan.append(startsAgain(client(one, members), 30));
                            plan.append(shorter(leader, 45));
                            for (int last = 0; last < members; last++) { // so that all can go on in the end
                                plan.append(
                                        Set.of(one, two, leader).contains(last)
                                                ? startsAgain(client(last, members), 161)
                                                : shorter(last, 160) + startsAgain(client(last, members), 161));
                            }
                            plan.append(lock(client(holder, members), 40, "100s"));
                            plan.append(lock(client(one, members), 48, "100s"));
                            plans.add(
                                    Plan.parse(plan.append("listed mishaps 0\n").toString()));
                        }
                    }
                }
            }
        }
        return plans;
    }

    /** The client of that member. */
    private static int client(int member, int members) {
        return member == 0 ? members : member;
    }

    private static String startsAgain(int client, int at) {
        return "fault CRASH at %ds for 100ms node %d amount 0\n".formatted(at, client);
    }

    private static String shorter(int member, int at) {
        return "fault CRASH at %ds for 100ms node %d amount 6\n".formatted(at, -member);
    }

    private static String options(Profile profile, long seed, int members, long maxTtl) {
        return """
                options seed=%d profile=%s budget=AIMED members=%d spares=0 clients=3 users=1 names=1 ordered=true \
                latency=1000000 jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 lateness=0 \
                diskLatency=1000000 faultPhase=200000000000 faults=0 acts=0 maxTtl=%d drift=0 outOfSpec=false \
                purityPerMille=0
                """.formatted(seed, profile, members, maxTtl * Nanos.SECOND);
    }

    private static String cut(int one, int other, int from, int to) {
        return "fault CUT at %ds for %ds node %d peer %d amount 0\n".formatted(from, to - from, -one, -other);
    }

    private static String lock(int client, int at, String hold) {
        return "act lock at %ds client %d user 0 name 0 wait 0ns hold %s\n".formatted(at, client, hold);
    }

    /**
     * A member loses its directory while the former leader is alone, waits, ends in order and starts where it hears
     * that leader alone: its second life finds no record and has nothing to wait for.
     */
    static List<Plan> secondStartWithoutRecords() {
        return orders(
                Profile.FAILOVER,
                1,
                8,
                (former, pivot, other) -> cut(former, other, 20, 200)
                        + cut(former, pivot, 20, 60)
                        + cut(pivot, other, 60, 200)
                        + "fault CRASH at 47s for 500ms node %d amount 3\n".formatted(-pivot)
                        + "fault HAND_OVER at 59500ms for 600ms node %d amount 0\n".formatted(-pivot)
                        + lock(1, 31, "10ms")
                        + lock(2, 62, "10ms"));
    }

    /** The same, of a member whose directory is put back to what it was before another leader was elected. */
    static List<Plan> directoryPutBack() {
        List<Plan> plans = new ArrayList<>();
        for (int copy = 0; copy < 6; copy++) {
            long nanos = 600 * Nanos.MILLI + copy;
            plans.addAll(orders(
                    Profile.FAILOVER,
                    1,
                    8,
                    (former, pivot, other) -> cut(former, other, 20, 200)
                            + cut(former, pivot, 20, 60)
                            + cut(pivot, other, 60, 200)
                            + "fault CRASH at 59500ms for %dns node %d amount 2\n".formatted(nanos, -pivot)
                            + lock(1, 31, "10ms")
                            + lock(2, 62, "10ms")));
        }
        return plans;
    }

    /** A leader ends in order, is away while another one leads and grants, comes back, and leads again. */
    static List<Plan> leaderAgainAfterACleanEnd() {
        return orders(
                Profile.FAILOVER,
                1,
                32,
                (former, pivot, other) -> "fault HAND_OVER at 30s for 60s node %d amount 0\n".formatted(-former)
                        + "fault CRASH at 95s for 100s node %d amount 0\n".formatted(-pivot)
                        + lock(1, 20, "25s")
                        + lock(2, 50, "140s"));
    }

    /**
     * A leader that was counted on starts twice, the second time when its first life would have waited for one lease:
     * its word counts for two.
     */
    static List<Plan> secondStartOfALeader() {
        return orders(
                Profile.BAKERY,
                3,
                16,
                (former, pivot, other) -> cut(former, other, 20, 200)
                        + cut(former, pivot, 30, 200)
                        + "fault CRASH at 30100ms for 300ms node %d amount 0\n".formatted(-pivot)
                        + "fault CRASH at 31s for 15920ms node %d amount 0\n".formatted(-pivot)
                        + "fault CUT at 42s for 158s node %d peer %d amount 0\n"
                                .formatted(client(former, MEMBERS), -former)
                        + lock(client(former, MEMBERS), 22, "150s")
                        + lock(client(other, MEMBERS), 40, "20s"));
    }

    /** A member gets a seat, and starts again before it has spoken in it. */
    static List<Plan> startInTheSilenceOfASeat() {
        return List.of(Plan.parse("""
                options seed=5912 profile=BAKERY budget=AIMED members=4 spares=0 clients=1 users=1 names=1 \
                ordered=true latency=864999 jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 \
                lateness=0 diskLatency=1073067 faultPhase=74652070707 faults=15 acts=45 maxTtl=16000000000 drift=0 \
                outOfSpec=false purityPerMille=0
                fault CUT at 20826ms for 11421ms node 0 peer -3 amount 0
                fault CUT at 20826ms for 27421ms node -1 peer -3 amount 0
                fault CUT at 20826ms for 27421ms node -2 peer -3 amount 0
                fault HAND_OVER at 32238ms for 41ms node 0 amount 0
                listed mishaps 0
                """));
    }
}
