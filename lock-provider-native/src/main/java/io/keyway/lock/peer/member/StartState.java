// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import java.util.Optional;

/** What a member finds when it starts. */
public sealed interface StartState {
    /** The highest epoch on disk, 0 if none. */
    default long storedEpoch() {
        return 0;
    }

    /** This cluster never granted anything, and the file that says so is the original. */
    record FirstUse() implements StartState {}

    /** No member file. */
    record Missing() implements StartState {}

    /**
     * A member file that cannot be trusted.
     *
     * @param storedEpoch of the half that can be read, 0 if none can
     */
    record Damaged(String why, long storedEpoch) implements StartState {}

    /** A member file of another member, cluster, format or member list; its epoch still counts. */
    record Foreign(String why, Optional<StoredRecord> stored) implements StartState {
        @Override
        public long storedEpoch() {
            return stored.map(s -> s.record().epoch()).orElse(0L);
        }
    }

    /**
     * This member's own file.
     *
     * @param whyNot why its horizon, or the grants of a clean end, cannot be used; empty if they can
     */
    record Restarted(StoredRecord stored, Optional<String> whyNot) implements StartState {
        /** Whether the horizon, and the grants of a clean end, say the truth about the time since. */
        public boolean horizonUsable() {
            return whyNot.isEmpty();
        }

        /** The same file, of which that keeps from being used what it says of the time since. */
        Restarted without(String why) {
            return new Restarted(stored, Optional.of(whyNot.orElse(why)));
        }

        /** Whether the last life ended in order and its grants can be imported, held for a full ttl each. */
        public boolean clean() {
            return horizonUsable() && stored.state() == StoredRecord.State.CLEAN;
        }

        @Override
        public long storedEpoch() {
            return stored.record().epoch();
        }
    }
}
