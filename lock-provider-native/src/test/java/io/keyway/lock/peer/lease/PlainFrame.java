// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Message;
import java.util.List;

/**
 * A frame of the plain session layers of these tests: the sender's stamp, or the echo of the receiver's, and messages.
 */
record PlainFrame(long session, long stamp, long seen, List<Message> messages) implements Frame {}
