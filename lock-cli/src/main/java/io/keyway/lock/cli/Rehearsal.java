// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

/** Loads what a run loads, for the class archive that the launcher makes once per build. */
final class Rehearsal {
    private Rehearsal() {}

    /** Prints what it does to standard output, which the launcher throws away. */
    public static void main(String[] args) {
        new CommandTree(Console.ofThisProcess()).execute("providers");
    }
}
