// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck;

import io.keyway.lock.tck.check.Catalog;
import io.keyway.lock.tck.check.Run;
import io.keyway.lock.tck.checks.AllChecks;
import java.util.List;

/**
 * The door for programs: runs the TCK in this JVM. A provider that ends the JVM ends the run; the command line has a
 * JVM for that.
 */
public final class TckRunner {
    private TckRunner() {}

    /**
     * Runs the TCK.
     *
     * @throws InterruptedException if the calling thread is interrupted before the first check; later the result says
     *     CANCELLED
     */
    public static TckResult run(TckSubject subject, TckConfig config) throws InterruptedException {
        return run(subject, config, new TckListener() {});
    }

    /**
     * Runs the TCK and tells how it goes.
     *
     * @throws InterruptedException if the calling thread is interrupted before the first check; later the result says
     *     CANCELLED
     */
    public static TckResult run(TckSubject subject, TckConfig config, TckListener listener)
            throws InterruptedException {
        return new Run(catalog(), subject, config, listener).run();
    }

    /** The ids of the checks that such a run makes or gives a reason for, in order. */
    public static List<String> planned(TckConfig config) {
        return catalog().ids(config);
    }

    /** Every check of the TCK, of all profiles, in the order of the rules. */
    public static List<CheckInfo> checks() {
        return catalog().infos();
    }

    private static Catalog catalog() {
        return Catalog.of(AllChecks.all());
    }
}
