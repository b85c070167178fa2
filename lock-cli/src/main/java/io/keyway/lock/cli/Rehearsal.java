// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

/** Loads what a run loads, for the class archive that the launcher makes once per build. */
final class Rehearsal {
    private Rehearsal() {}

    /** What it prints is thrown away by the launcher, and a failure costs no more than a slower start. */
    public static void main(String[] args) {
        CommandTree tree = new CommandTree(Console.ofThisProcess());
        String url = "lock:native:mem://rehearsal";
        tree.execute("providers");
        tree.execute("show", "--url", url);
        System.exit(tree.execute("run", "--url", url, "rehearsal", "--", "true"));
    }
}
