// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.testing.ElectionHistories;
import io.keyway.lock.testing.Islands;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Elections on members of {@code lock:native:agent://}, all processes, whose net splits into islands and heals: each
 * history begins with the next shape of all that there are, and may go on with others, and with candidates that are
 * killed and stopped. Never do two believe that they lead, and at the latest a ttl and a second after the heal somebody
 * leads. {@code -Dkeyway.seed} and {@code -Dkeyway.histories} choose others.
 */
class SplitElectionTest {
    @TempDir
    Path directory;

    /** Members and candidates on whatever islands: 203 shapes. */
    @Test
    @Tag("soak")
    void manyHistoriesOfThreeMembers() throws Exception {
        histories(3, Islands.shapes(6), false);
    }

    /** The same, elected by a majority of the members: in each shape, by whichever island has one. */
    @Test
    @Tag("soak")
    void manyHistoriesOfAMajorityOfThreeMembers() throws Exception {
        histories(3, Islands.shapes(6), true);
    }

    /** Each candidate on the island of a member: 52 shapes. */
    @Test
    @Tag("soak")
    void manyHistoriesOfFiveMembers() throws Exception {
        histories(5, fiveWithTheirCandidates(), false);
    }

    @Test
    @Tag("soak")
    void manyHistoriesOfAMajorityOfFiveMembers() throws Exception {
        histories(5, fiveWithTheirCandidates(), true);
    }

    private static List<int[]> fiveWithTheirCandidates() {
        List<int[]> shapes = new ArrayList<>();
        for (int[] members : Islands.shapes(5)) {
            int[] both = Arrays.copyOf(members, 10);
            System.arraycopy(members, 0, both, 5, 5);
            shapes.add(both);
        }
        return shapes;
    }

    /** With as many candidates as members. */
    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    private void histories(int members, List<int[]> shapes, boolean majority) throws Exception {
        int count = Integer.getInteger("keyway.histories", 20);
        Cluster cluster = Cluster.divisible("agent", directory, members, members, ElectionHistories.TTL);
        long seed = Histories.SEED;
        Splits splits = new Splits(cluster, shapes, seed);
        try (cluster;
                ElectionHistories elections = ElectionHistories.across(
                        splits,
                        members,
                        majority ? cluster.ids() : List.of(),
                        cluster.url(ElectionHistories.TTL),
                        directory)) {
            cluster.start();
            System.out.println(elections.run(count, seed) + "; " + splits.seen.size() + " shapes of " + shapes.size());
        }
        assertThat(splits.seen).hasSizeGreaterThanOrEqualTo(Math.min(count, shapes.size()));
    }

    private static final class Splits implements ElectionHistories.Net {
        private final Cluster cluster;
        private final List<int[]> shapes;
        private final Set<String> seen = new HashSet<>();
        private final List<String> now = new ArrayList<>();
        private long seed;

        /** @param seed of the first history; each begins with a shape of its own */
        Splits(Cluster cluster, List<int[]> shapes, long seed) {
            this.cluster = cluster;
            this.shapes = shapes;
            this.seed = seed;
        }

        @Override
        public void begin() {
            now.clear();
            split((int) Math.floorMod(seed, (long) shapes.size()), seed % 2 == 0);
            seed++;
        }

        @Override
        public String fault(SplittableRandom random) {
            return split(random.nextInt(shapes.size()), random.nextBoolean());
        }

        private String split(int number, boolean noticed) {
            int[] islands = shapes.get(number);
            cluster.split(islands, noticed);
            String shape = "islands of members and candidates " + Arrays.toString(islands);
            seen.add(shape);
            now.add(shape + (noticed ? ", noticed" : ""));
            return now.get(now.size() - 1);
        }

        @Override
        public void heal() {
            cluster.heal();
        }

        @Override
        public List<String> options(int candidate) {
            return cluster.client(candidate).options();
        }

        @Override
        public String logs() {
            return now + "\n" + cluster.logs();
        }
    }
}
