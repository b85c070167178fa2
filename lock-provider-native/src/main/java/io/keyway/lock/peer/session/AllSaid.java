// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;

/**
 * Of a client that comes to a leader which grants nothing yet, behind all that it says it holds: there is nothing more.
 */
public record AllSaid() implements Message {
    @Override
    public Key key() {
        return Bye.KEY;
    }
}
