// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.journal;

/**
 * While surely nothing that a worker sends is answered: it is stopped or dead, or its links are cut.
 *
 * @param worker which
 * @param from the clock when it had begun
 * @param to the clock before it ended; {@link Long#MAX_VALUE} for a process that was killed
 * @param ended the process was killed, and the authority may know it
 */
public record Silence(String worker, long from, long to, boolean ended) {}
