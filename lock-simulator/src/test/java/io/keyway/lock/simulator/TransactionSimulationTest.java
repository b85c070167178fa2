// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.simulator.Options.Profile;
import io.keyway.lock.simulator.TransactionModel.Names;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What users of transactions hear, over the clients and members that ship: several threads of one transaction that
 * lock, try, await, cancel, surrender and unlock, while others do.
 */
class TransactionSimulationTest {
    /** The first world of the soak. */
    private static final long SOAK = 1L << 40;

    /** The first world of locks over nodes, and that of their soak. */
    private static final long OVER_NODES = 1L << 41;

    private static final long SOAK_OVER_NODES = 1L << 42;

    private static Options options(long seed) {
        Draws draws = new Draws(seed, 31);
        Options options = Options.of(Profile.LEASE, seed)
                .with("members", seed < OVER_NODES ? "1" : "3")
                .with("spares", "0")
                .with("clients", String.valueOf(draws.between(2, 4)))
                .with("users", String.valueOf(draws.between(1, 2)))
                .with("names", String.valueOf(draws.between(2, 4)))
                .with("outOfSpec", "false");
        return isCalm(seed)
                ? options.with("ordered", "true")
                        .with("lossPerMille", "0")
                        .with("duplicatePerMille", "0")
                        .with("tail", "0")
                        .with("latency", String.valueOf(Math.min(options.latency(), options.maxTtl() / 50)))
                        .with("jitter", String.valueOf(Math.min(options.jitter(), options.maxTtl() / 50)))
                : options;
    }

    /** Three worlds in four: nothing breaks in them, and nothing is lost. */
    private static boolean isCalm(long seed) {
        return seed % 4 != 0;
    }

    private static Names names(long seed) {
        if (seed >= OVER_NODES) {
            return Names.OVER_NODES;
        }
        return seed % 5 == 4 ? Names.MIXED : seed % 2 == 0 ? Names.FLAT : Names.TREES;
    }

    private static Plan plan(long seed) {
        Options options = options(seed);
        Draws draws = new Draws(seed, 32);
        List<Act> acts = new ArrayList<>();
        for (int i = 0; i < 80; i++) {
            acts.add(new Act(
                    draws.below(options.faultPhase()),
                    (int) draws.between(1, options.clients()),
                    draws.below(options.users()),
                    "transact",
                    0,
                    0,
                    0));
        }
        return new Plan(options, isCalm(seed) ? List.of() : FaultPlanner.plan(options), acts, null);
    }

    private static RunResult run(long seed, Map<String, Integer> seen) {
        TransactionModel[] made = new TransactionModel[1];
        RunResult result = new SimWorld(
                        plan(seed),
                        world -> {
                            made[0] = new TransactionModel(world, names(seed), isCalm(seed), seed % 3 == 0);
                            return made[0];
                        },
                        null)
                .run();
        made[0].seen.forEach((what, times) -> seen.merge(what, times, Integer::sum));
        return result;
    }

    private static Map<String, Integer> run(long first, int seeds) {
        Map<String, Integer> seen = new TreeMap<>();
        for (long seed = first; seed < first + seeds; seed++) {
            RunResult result = run(seed, seen);
            if (result.violation() != null) {
                throw new AssertionError("seed " + seed + " (" + names(seed) + "): " + plan(seed), result.violation());
            }
        }
        return seen;
    }

    @Test
    void whatUsersOfTransactionsAreToldIsSo() {
        Map<String, Integer> seen = run(0, Integer.getInteger("keyway.worlds", 60));
        assertThat(seen.keySet())
                .contains(
                        "a lock that was cancelled",
                        "aborted",
                        "all",
                        "break",
                        "failed",
                        "looked at",
                        "surrender",
                        "try too late",
                        "try true",
                        "unlock",
                        "waits for somebody");
    }

    @Test
    void whatUsersOfLocksOverNodesAreToldIsSo() {
        assertThat(run(OVER_NODES, Integer.getInteger("keyway.worlds", 20)).keySet())
                .contains(
                        "a spare part",
                        "alone: acquired",
                        "alone: not acquired",
                        "aborted",
                        "all",
                        "break",
                        "lost",
                        "try false",
                        "try true",
                        "unlock");
    }

    /** {@code -Dkeyway.worlds} and {@code -Dkeyway.seed} choose others. */
    @Test
    @Tag("soak")
    @SuppressWarnings("SystemOut") // figures for those who run the soak
    void whatUsersOfManyTransactionsAreToldIsSo() {
        System.out.println(run(Long.getLong("keyway.seed", SOAK), Integer.getInteger("keyway.worlds", 200)));
    }

    /** The same of locks over nodes. */
    @Test
    @Tag("soak")
    @SuppressWarnings("SystemOut") // figures for those who run the soak
    void whatManyUsersOfLocksOverNodesAreToldIsSo() {
        System.out.println(run(Long.getLong("keyway.seed", SOAK_OVER_NODES), Integer.getInteger("keyway.worlds", 200)));
    }
}
