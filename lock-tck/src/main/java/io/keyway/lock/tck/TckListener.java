// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck;

/** Is told how a run goes; one call at a time, on the runner's threads. */
public interface TckListener {
    /** The subject could be opened: what is known of it, as a result without checks. Not called if it could not. */
    default void opened(TckResult subject) {}

    /** The run begins with so many checks. */
    default void planned(int checks) {}

    /** A check begins. */
    default void started(String id) {}

    /** A check has its verdict. */
    default void finished(CheckResult result) {}
}
