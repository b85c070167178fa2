// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import io.keyway.lock.Lease;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.wrap.ForwardingLease;
import java.util.concurrent.CompletionStage;

/** A lease whose answers are written down. */
final class RecordingLease extends ForwardingLease {
    private final Recorder recorder;
    private final RecordedHold hold;

    RecordingLease(Recorder recorder, RecordedHold hold, Lease to) {
        super(to);
        this.recorder = recorder;
        this.hold = hold;
    }

    RecordedHold hold() {
        return hold;
    }

    boolean isOver() {
        return hold.isReleasing() || !hold.losses().isEmpty();
    }

    @Override
    public boolean isHeld() {
        long before = recorder.now();
        long remaining = to().remaining().toNanos();
        boolean held = to().isHeld();
        recorder.answered(hold, new HeldAnswer(held, before, recorder.now(), remaining));
        return held;
    }

    @Override
    public ReleaseOutcome release() {
        beforeRelease();
        ReleaseOutcome outcome = to().release();
        recorder.released(hold, outcome);
        return outcome;
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        beforeRelease();
        return to().releaseAsync().whenComplete((outcome, failure) -> {
            if (outcome != null) {
                recorder.released(hold, outcome);
            }
        });
    }

    @Override
    public void close() {
        beforeRelease();
        to().close();
    }

    private void beforeRelease() {
        if (!hold.isReleasing()) {
            isHeld();
        }
        recorder.releasing(hold);
    }
}
