// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The program that starts {@link CrashingFollowers}, since a check of the kit looks at the threads of its own JVM: its
 * argument is a directory. Says {@code url} and the clients' URL; then does what it is told and says {@code done}, or
 * {@code kills} and how often a follower was killed. Ends with its members when its input does.
 */
final class CrashingFollowersProgram {
    static final String KILL = "kill";
    static final String RESTART = "restart";
    static final String PAUSE = "pause";
    static final String RESUME = "resume";
    static final String END = "end";

    private CrashingFollowersProgram() {}

    public static void main(String[] args) throws Exception {
        BufferedReader told = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (ThreeMembers members = new ThreeMembers(Path.of(args[0]), "failover");
                CrashingFollowers followers = new CrashingFollowers(members)) {
            System.out.println("url " + members.url());
            for (String line = told.readLine(); line != null; line = told.readLine()) {
                switch (line) {
                    case KILL -> followers.killLeader();
                    case RESTART -> followers.restartLeader();
                    case PAUSE -> followers.pauseLeader();
                    case RESUME -> followers.resumeLeader();
                    case END -> {
                        followers.close();
                        System.out.println("kills " + followers.kills());
                    }
                    default -> throw new IllegalArgumentException(line);
                }
                System.out.println("done");
            }
        }
    }
}
