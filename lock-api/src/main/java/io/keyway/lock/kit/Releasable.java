// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.ReleaseOutcome;
import java.util.concurrent.CompletionStage;

/** A grant that its owner may give back, whatever lease it is at the moment. As of {@link io.keyway.lock.Lease}. */
interface Releasable extends AutoCloseable {
    ReleaseOutcome release();

    CompletionStage<ReleaseOutcome> releaseAsync();

    @Override
    void close();
}
