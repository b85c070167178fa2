// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import io.keyway.lock.peer.service.LockNotice;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what a cell tells of a use that its sink does not know of yet. A thread that takes a cached lock makes its use
 * public first and calls the sink after that; if it stands still in between, the cell may end the grant meanwhile. What
 * the cell tells is passed on when the thread has gone on, in its order (rule LK-1508). Where notices are told.
 */
final class UntoldUses {
    /** Runs a task after some nanoseconds, where notices are told. */
    interface Later {
        void after(long nanos, Runnable task);
    }

    private record Kept(LockNotice.OfUse notice, GrantHold hold) {
        boolean ofSameUse(LockNotice.OfUse other, GrantHold of) {
            return hold == of && notice.token() == other.token();
        }
    }

    private static final long LOOK_NANOS = Duration.ofMillis(1).toNanos();

    private final Consumer<LockNotice.OfUse> tell;
    private final Later later;
    private final ArrayDeque<Kept> kept = new ArrayDeque<>();

    UntoldUses(Consumer<LockNotice.OfUse> tell, Later later) {
        this.tell = tell;
        this.later = later;
    }

    /** Keeps the notice until it may be told; false if it may be told now. {@code hold} is that of the use. */
    boolean keeps(LockNotice.OfUse notice, @Nullable GrantHold hold) {
        if (hold == null || (hold.isTold(notice.token()) && !keepsOf(notice, hold))) {
            return false;
        }
        kept.add(new Kept(notice, hold));
        if (kept.size() == 1) {
            later.after(LOOK_NANOS, this::look);
        }
        return true;
    }

    private boolean keepsOf(LockNotice.OfUse notice, GrantHold hold) {
        for (Kept one : kept) {
            if (one.ofSameUse(notice, hold)) {
                return true;
            }
        }
        return false;
    }

    private void look() {
        for (int i = kept.size(); i > 0; i--) {
            Kept one = kept.removeFirst();
            if (one.hold().isTold(one.notice().token())) {
                tell.accept(one.notice());
            } else {
                kept.add(one);
            }
        }
        if (!kept.isEmpty()) {
            later.after(LOOK_NANOS, this::look);
        }
    }
}
