// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Message;
import java.util.List;

/**
 * A frame of sessions at the grain of calls. The stamp that it carries, or gives back, is the business of who brings
 * it: it is an age, and grows on the way.
 *
 * @param acks how many messages of the receiver it is the first to acknowledge
 * @param clock the logical clock that the sender shows
 */
public record RpcFrame(List<Message> messages, int acks, long clock) implements Frame {
    /** Nothing is said; the sender lives. */
    public boolean keeps() {
        return messages.isEmpty() && acks == 0;
    }
}
