// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.supervisor;

/**
 * The lines that keyway and its supervisor send each other. Times are readings of the supervisor's
 * {@link System#nanoTime()}, lengths are nanoseconds.
 */
final class SupervisorProtocol {
    /** To the supervisor: DEADLINE at grace. The lease ends then unless a later one comes. */
    static final String DEADLINE = "deadline";

    /** GUARD byte file: lock this byte for as long as you live. */
    static final String GUARD = "guard";

    /** The command may run from now on, even if its pid is never told. */
    static final String STARTING = "starting";

    /** COMMAND pid. */
    static final String COMMAND = "command";

    /** The lease has expired: ask the command to end, kill it after the grace. */
    static final String TERMINATE = "terminate";

    /** The lock may be somebody else's already: kill the command. */
    static final String KILL = "kill";

    /** Nothing is left to guard. */
    static final String END = "end";

    /** To keyway: READY clock. */
    static final String READY = "ready";

    /** The answer to GUARD: the byte is locked. */
    static final String GUARDING = "guarding";

    /** The other answer to GUARD, with a message. */
    static final String UNGUARDED = "unguarded";

    /** The deadline passed without an extension; the command is being ended. */
    static final String LAPSED = "lapsed";

    /** Nothing of the command runs any more, after TERMINATE, KILL or LAPSED. */
    static final String ENDED = "ended";

    private SupervisorProtocol() {}
}
