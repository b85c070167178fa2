// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.lease.UnsafeVariants;
import io.keyway.lock.peer.service.Unsafe;
import io.keyway.lock.simulator.Fault.Kind;
import io.keyway.lock.testing.Islands;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The lock of an election on members whose net splits in all shapes that there are, one after another, and heals, in
 * virtual time: each client wants it again and again, and never do two believe in it (R2); each is served within a ttl
 * and a second after the heal, so that somebody leads.
 */
class SplitSimulationTest {
    private static final long TTL = 2 * Nanos.SECOND;
    private static final long FIRST_SPLIT = 4 * Nanos.SECOND;
    private static final long SECOND_SPLIT = 9 * Nanos.SECOND;
    private static final long HEAL = 15 * Nanos.SECOND;
    private static final long PATIENCE = 900 * Nanos.MILLI;

    /** Three members and three clients on whatever islands. */
    @Test
    void ofThreeMembers() {
        List<int[]> shapes = Islands.shapes(6);
        assertThat(shapes).hasSize(203);
        for (int i = 0; i < shapes.size(); i++) {
            run(3, i, shapes.get(i), shapes.get((i + 97) % shapes.size()));
        }
    }

    /** Five members with a client on the island of each. */
    @Test
    @Tag("soak")
    void ofFiveMembers() {
        List<int[]> shapes = Islands.shapes(5);
        assertThat(shapes).hasSize(52);
        for (int i = 0; i < shapes.size(); i++) {
            run(5, i, doubled(shapes.get(i)), doubled(shapes.get((i + 23) % shapes.size())));
        }
    }

    /** What is not safe is found, whichever shape shows it. */
    @ParameterizedTest
    @EnumSource(
            value = Unsafe.class,
            names = {"DEADLINE_FROM_RECEIPT", "LATE_ANSWER_IS_A_GRANT"})
    void unsafeClientsAreFound(Unsafe variant) {
        Campaign unsafe = Campaigns.cluster(new LeaseModel.Kit(
                LeaseModel.Kit.PRODUCT.members(),
                settings -> UnsafeVariants.clients(variant, settings),
                true,
                Set.of()));
        List<int[]> shapes = Islands.shapes(6);
        for (int i = 0; i < shapes.size(); i++) {
            RunResult result = unsafe.run(plan(3, i, shapes.get(i), shapes.get((i + 97) % shapes.size())));
            Violation violation = result.violation();
            if (violation != null) {
                assertThat(violation.property()).isEqualTo(variant == Unsafe.LATE_ANSWER_IS_A_GRANT ? "R1" : "R8");
                return;
            }
        }
        throw new AssertionError(variant + " was not found");
    }

    private static int[] doubled(int[] members) {
        int[] both = Arrays.copyOf(members, 2 * members.length);
        System.arraycopy(members, 0, both, members.length, members.length);
        return both;
    }

    private static void run(int members, long seed, int[] first, int[] second) {
        Plan plan = plan(members, seed, first, second);
        RunResult result = new SimWorld(plan, SplitSimulationTest::inTime, null).run();
        assertThat(result.violation()).as(plan.toString()).isNull();
        assertThat(result.faults()).isEqualTo(plan.faults().size());
    }

    private static Plan plan(int members, long seed, int[] first, int[] second) {
        Options options = Options.of(Options.Profile.CLUSTER, seed)
                .with("members", String.valueOf(members))
                .with("spares", "0")
                .with("clients", String.valueOf(members))
                .with("users", "1")
                .with("names", "1")
                .with("ordered", "true")
                .with("maxTtl", String.valueOf(TTL))
                .with("faultPhase", String.valueOf(HEAL))
                .with("outOfSpec", "false");
        for (String name : List.of("tail", "lossPerMille", "duplicatePerMille", "lateness", "drift")) {
            options = options.with(name, "0");
        }
        options = options.with("latency", String.valueOf(Nanos.MILLI)).with("jitter", String.valueOf(Nanos.MILLI));
        List<Fault> faults = new ArrayList<>(cuts(members, first, FIRST_SPLIT, SECOND_SPLIT));
        faults.addAll(cuts(members, second, SECOND_SPLIT, HEAL));
        List<Act> acts = new ArrayList<>();
        Draws draws = new Draws(seed, 77);
        for (int client = 1; client <= members; client++) {
            for (long at = Nanos.SECOND; at < HEAL; at += Nanos.SECOND) {
                acts.add(new Act(
                        at + draws.below(Nanos.SECOND / 2), client, 0, "lock", 0, PATIENCE, draws.below(TTL / 2)));
            }
            acts.add(new Act(HEAL - 1, client, 0, "lock", 0, 0, Nanos.MILLI));
        }
        return new Plan(options, faults, acts, null);
    }

    private static List<Fault> cuts(int members, int[] islands, long from, long to) {
        List<Fault> cuts = new ArrayList<>();
        for (int i = 0; i < islands.length; i++) {
            for (int member = 0; member < Math.min(i, members); member++) {
                if (islands[i] != islands[member]) {
                    int node = i < members ? -i : i - members + 1;
                    cuts.add(new Fault(Kind.CUT, from, to - from, node, -member, 0));
                }
            }
        }
        return cuts;
    }

    /** The lease service, of which more is asked after the heal than of worlds in which anything may have happened. */
    private static Model inTime(SimWorld world) {
        Model model = new LeaseModel(world, LeaseModel.Kit.PRODUCT);
        return (Model) Proxy.newProxyInstance(
                Model.class.getClassLoader(), new Class<?>[] {Model.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("finishWithin")) {
                        return TTL + Nanos.SECOND;
                    }
                    try {
                        return method.invoke(model, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
