// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.tck.process.Patience;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** An {@code await()} without a limit waits for half a minute of an idle machine. JUnit finds this by itself. */
public final class PatientAwaitility implements BeforeEachCallback {
    private static final Duration IDLE = Duration.ofSeconds(30);

    @Override
    public void beforeEach(ExtensionContext context) {
        Awaitility.setDefaultTimeout(Patience.of(IDLE));
    }
}
