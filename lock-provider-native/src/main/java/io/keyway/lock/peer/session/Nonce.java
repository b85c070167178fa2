// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Turn;

/** 128 random bits that prove that an answer was made for this link. */
public record Nonce(long high, long low) {
    static Nonce draw(Turn turn) {
        return new Nonce(draw64(turn), draw64(turn));
    }

    private static long draw64(Turn turn) {
        return turn.draw(32) << 32 | turn.draw(32);
    }
}
