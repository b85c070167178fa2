// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck;

import io.keyway.lock.LockUrl;
import java.util.Optional;

/** Is told how a run goes; one call at a time, on the runner's threads. */
public interface TckListener {
    /** The subject could be opened: what is known of it, as a result without checks. Not called if it could not. */
    default void opened(TckResult subject) {}

    /** The run begins with so many checks. */
    default void planned(int checks) {}

    /** A check begins. */
    default void started(String id) {}

    /**
     * A check may leave something at that URL, a place for tests ({@code LockProvider.testUrl}), from now on; empty:
     * nothing is left any more.
     */
    default void left(Optional<LockUrl> place) {}

    /** A check has its verdict. */
    default void finished(CheckResult result) {}
}
