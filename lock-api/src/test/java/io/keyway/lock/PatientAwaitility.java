// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * An {@code await()} without a limit of its own waits for minutes: what these tests wait for takes a moment, however
 * busy the machine is. JUnit finds this by itself. (The kit, which measures the machine, needs this module.)
 */
public final class PatientAwaitility implements BeforeAllCallback {
    @Override
    public void beforeAll(ExtensionContext context) {
        Awaitility.setDefaultTimeout(Duration.ofMinutes(2));
    }
}
