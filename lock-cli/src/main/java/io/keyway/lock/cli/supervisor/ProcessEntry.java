// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.supervisor;

/**
 * A process as one look at the process table showed it. Pid and start together name a process forever: a pid alone is
 * used again.
 */
public record ProcessEntry(long pid, long parent, long started, String name) {

    boolean sameAs(ProcessEntry other) {
        return pid == other.pid && started == other.started;
    }
}
