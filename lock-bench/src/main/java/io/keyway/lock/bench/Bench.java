// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.PrintStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Runs one comparison. */
@Command(name = "bench", description = "Keyway beside other lock libraries, on the same server in the same run.")
final class Bench {
    private Bench() {}

    /** The entry point. */
    @SuppressWarnings("SystemOut") // the table is what this program is for
    public static void main(String[] arguments) {
        PrintStream out = System.out;
        System.exit(new CommandLine(new Bench())
                .addSubcommand(new RedisBench(out))
                .addSubcommand(new ZooKeeperBench(out))
                .addSubcommand(new JdbcBench(out))
                .addSubcommand(new CachedBench(out))
                .addSubcommand(new NativeBench(out))
                .addSubcommand(new FailoverBench(out))
                .addSubcommand(new CallPathCommand(out))
                .execute(arguments));
    }
}
