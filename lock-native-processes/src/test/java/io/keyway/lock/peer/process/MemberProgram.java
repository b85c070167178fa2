// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.cluster.ClusterMember;
import io.keyway.lock.peer.cluster.MemberConfig;
import io.keyway.lock.peer.cluster.MemberList;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.security.SecuritySettings;
import io.keyway.lock.peer.service.Algorithm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * The program of a member: arguments are its port on the loopback address, its id, the ids of all, its data directory,
 * the cluster's longest ttl in milliseconds, the file of the secret, {@code init}, {@code again} or {@code join}, and
 * the ids of former members that have ended for good. Says {@code listening}, and who leads when it is told {@code
 * leader}; ends in order when it is told anything else or its input ends, with status {@value #FAILED} if it stops by
 * itself.
 */
final class MemberProgram {
    /** The property that names another algorithm than the lease service. */
    static final String ALGORITHM = "keyway.algorithm";

    /** The property that names the directory of its trace; without it there is none. */
    static final String TRACE = "keyway.trace";

    /** The property that names its priority in elections; without it there is none. */
    static final String PRIORITY = "keyway.priority";

    /** The property that says how many cells it has; without it as many as its algorithm has in these tests. */
    static final String CELLS = "keyway.cells";

    /** What it is asked, and the word that its answer begins with. */
    static final String LEADER = "leader";

    private static final int FAILED = 9;
    /** More than by default: names are divided in these tests. */
    private static final int SHARDS = 4;

    private MemberProgram() {}

    public static void main(String[] args) throws IOException {
        List<NodeId> members = nodes(args[2]);
        MemberConfig plan = new MemberConfig(
                NodeId.parse(args[1]),
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0])),
                new MemberList(members),
                MemberConfig.CLUSTER,
                Path.of(args[3]),
                args[6].equals("init"),
                Set.copyOf(nodes(args[7])),
                Duration.ofMillis(Long.parseLong(args[4])),
                Integer.getInteger(CELLS, algorithm().isElastic() ? 1 : SHARDS),
                security(Path.of(args[5])),
                0,
                args[6].equals("join"));
        try (ClusterMember member = ClusterMember.start(plan, algorithm(), () -> System.exit(FAILED))) {
            String trace = System.getProperty(TRACE);
            if (trace != null) {
                member.startTrace(Path.of(trace));
            }
            System.out.println("listening");
            BufferedReader told = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            while (LEADER.equals(told.readLine())) {
                System.out.println(LEADER + " " + String.join(",", member.leaders()));
            }
        }
    }

    private static Algorithm algorithm() {
        Algorithm algorithm =
                Algorithms.named(System.getProperty(ALGORITHM, "lease")).orElseThrow();
        Integer priority = Integer.getInteger(PRIORITY);
        return priority == null ? algorithm : algorithm.electing(OptionalInt.empty(), OptionalInt.of(priority));
    }

    private static List<NodeId> nodes(String ids) {
        List<NodeId> nodes = new ArrayList<>();
        for (String id : ids.split(",", -1)) {
            if (!id.isEmpty()) {
                nodes.add(NodeId.parse(id));
            }
        }
        return nodes;
    }

    private static Security security(Path secret) {
        return Security.of(new SecuritySettings(
                Optional.empty(),
                Optional.of(secret),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                false,
                false,
                Optional.empty(),
                UnaryOperator.identity()));
    }
}
