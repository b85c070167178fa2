// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.wire;

import io.keyway.lock.peer.kernel.Message;

/**
 * Writes and reads the messages of one algorithm. Stateless. A body on the wire is
 * {@code u8 algorithm | u8 type | varint view | fields}; a codec sees the fields only.
 */
public interface BodyCodec {
    /** 1 to 255; as in the keys of its messages. */
    int algorithm();

    /**
     * The type of a message, 1 to 255. Numbers are never used again for something else.
     *
     * @throws IllegalArgumentException for a message of another algorithm
     */
    int type(Message message);

    /**
     * The view in which it was said: for lease the epoch, in each message that grants, confirms or ends; 0 where none
     * matters.
     */
    default long view(Message message) {
        return 0;
    }

    void write(Message message, WireWriter out);

    /**
     * Reads the fields that {@link #write} wrote.
     *
     * @param type as read; an unknown one is refused with {@link WireReader#unknown}
     * @throws WireException if no codec of this version writes such bytes
     */
    Message read(int type, long view, WireReader in) throws WireException;
}
