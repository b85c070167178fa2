// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.ReleaseOutcome;
import java.util.concurrent.CompletionStage;

/** A grant that its owner may give back, whatever lease it is at the moment. As of {@link io.keyway.lock.Lease}. */
interface Releasable extends AutoCloseable {
    ReleaseOutcome release();

    /**
     * Sends the release, once. The stage completes on the thread that brings the answer: a caller that waits for it
     * may be on the event executor.
     */
    CompletionStage<ReleaseOutcome> sendRelease();

    @Override
    void close();
}
