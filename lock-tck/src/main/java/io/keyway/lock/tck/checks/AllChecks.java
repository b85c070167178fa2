// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import java.util.List;

/** The classes that have checks. */
public final class AllChecks {
    private AllChecks() {}

    /** One object of each; they have no state. */
    public static List<Object> all() {
        return List.of(
                new NameChecks(),
                new OpeningChecks(),
                new ExclusionChecks(),
                new ExpiryChecks(),
                new RenewalChecks(),
                new ReleaseChecks(),
                new LossChecks(),
                new EventChecks(),
                new AdminChecks(),
                new ModeChecks(),
                new UpgradeChecks(),
                new PermitChecks(),
                new FeatureChecks(),
                new ProcessChecks(),
                new LinkChecks(),
                new ServerChecks(),
                new LeakChecks(),
                new AdapterChecks());
    }
}
