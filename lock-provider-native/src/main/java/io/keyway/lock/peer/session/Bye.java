// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;

/** The last message of a client: everything of the session ends, in its place in the order. */
public record Bye() implements Message {
    /** The id under which the session's own messages travel. */
    public static final int ALGORITHM = 0;

    static final Key KEY = new Key(ALGORITHM, "");

    @Override
    public Key key() {
        return KEY;
    }
}
