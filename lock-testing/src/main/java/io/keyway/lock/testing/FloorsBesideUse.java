// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import java.util.List;

/** Runs the TCK's checks of floors of tokens on a store that an application uses. */
public final class FloorsBesideUse {
    private static final List<String> RULES = List.of("LK-608", "LK-609", "LK-610");

    private FloorsBesideUse() {}

    /**
     * {@return how many tokens of the application's lock the checks have used up, the application's own among them}
     *
     * @param url of the store
     * @param inUse the application's URL of the same store, with a floor, as one that came from another store
     * @throws AssertionError if a check did not pass
     */
    public static long tokensUsed(String url, String inUse) throws Exception {
        long before = token(inUse);
        TckResult result = TckRunner.run(
                TckSubject.of(url), TckConfig.of(Profile.SMOKE).withOnly(RULES).withParallel(1));
        if (result.with(Verdict.PASS).size() != RULES.size()) {
            throw new AssertionError("not each of " + RULES + " passed: " + result.checks());
        }
        return token(inUse) - before;
    }

    private static long token(String inUse) throws InterruptedException {
        try (LockClient application = Locks.open(inUse)) {
            return application.lock("nightly").acquire().token();
        }
    }
}
