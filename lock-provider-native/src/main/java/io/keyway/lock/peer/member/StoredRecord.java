// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.os.BootClock;
import java.util.List;

/**
 * A record as it was read from a member file.
 *
 * @param sequence number of the write
 * @param state what the file says of the life that wrote it
 * @param record what the member promised
 * @param settings what the member was
 * @param bootId the run of the operating system, empty if not known
 * @param timeNamespace empty if not known
 * @param inode of the file itself, as it was written
 * @param bootNanos the boot clock at the write, {@link BootClock#NONE} if not known
 * @param nanoTime the monotonic clock at the write
 * @param wallMillis the wall clock at the write
 * @param grants what CLEAN carries: opaque to this package; empty in other states
 */
public record StoredRecord(
        long sequence,
        State state,
        MemberRecord record,
        MemberSettings settings,
        String bootId,
        String timeNamespace,
        long inode,
        long bootNanos,
        long nanoTime,
        long wallMillis,
        List<byte[]> grants) {
    /** What a file says of the life that wrote it. */
    public enum State {
        /** Nothing was ever granted by this cluster: the word of whoever made the file. */
        FRESH(1),
        /** A member serves, or ended without a word. */
        OPEN(2),
        /** A member ended in order; the grants are all that lived. */
        CLEAN(3);

        private final byte code;

        State(int code) {
            this.code = (byte) code;
        }

        /** The byte that stands for it in the file. */
        byte code() {
            return code;
        }

        /** The state of a byte; an IllegalArgumentException if none. */
        static State of(byte code) {
            for (State state : values()) {
                if (state.code == code) {
                    return state;
                }
            }
            throw new IllegalArgumentException("state " + code);
        }
    }
}
