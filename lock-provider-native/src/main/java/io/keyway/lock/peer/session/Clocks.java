// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Turn;

/** Comparison of times that may be {@link Turn#NEVER}. */
final class Clocks {
    private Clocks() {}

    static long earlier(long a, long b) {
        if (a == Turn.NEVER || b == Turn.NEVER) {
            return a == Turn.NEVER ? b : a;
        }
        return a - b <= 0 ? a : b;
    }

    static boolean due(long at, long now) {
        return at != Turn.NEVER && now - at >= 0;
    }
}
