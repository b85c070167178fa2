// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * The position of one request in the queue of its lock.
 *
 * @param ahead how many requests are before it; empty if it became granted when the one before it left
 * @param behind the name of the one node that it watches; for {@link Kind#BEHIND}, and {@link Kind#YIELDS} if there is
 *     one
 * @param then what is known when that one has left
 * @param followed whether others are behind it
 */
record QueuePosition(Kind kind, OptionalInt ahead, Optional<String> behind, Knowledge then, boolean followed) {
    enum Kind {
        /** It holds. */
        GRANTED,
        /** It waits for one that is before it to leave. */
        BEHIND,
        /** It asks for permits, and nobody in its way waits: any holder that leaves may make room. */
        FIRST,
        /**
         * It asks for permits, or is a soft writer, and its turn has come: it is to be promoted, if that is still so
         * then.
         */
        PASSES,
        /** It is a soft writer: it waits until nobody holds or queues, and no reader was granted for its time. */
        YIELDS,
        /** Its node is not there: somebody has deleted it. */
        ABSENT
    }

    /** What it means that the node which a request watches is deleted. */
    enum Knowledge {
        /** Others may be in the way: list the queue again. */
        NONE,
        /** If the node held, nobody is in the way any more; if it waited, list the queue again. */
        ALL_LEFT_IF_IT_HELD,
        /** It was the only one in the way. */
        ALL_LEFT
    }

    static final QueuePosition ABSENT =
            new QueuePosition(Kind.ABSENT, OptionalInt.empty(), Optional.empty(), Knowledge.NONE, false);

    /** It was promoted: those that wait before it do not count. */
    static final QueuePosition PROMOTED =
            new QueuePosition(Kind.GRANTED, OptionalInt.empty(), Optional.empty(), Knowledge.NONE, true);

    /** Nobody is before it; whether somebody is behind it is not known. */
    static final QueuePosition FIRST =
            new QueuePosition(Kind.GRANTED, OptionalInt.of(0), Optional.empty(), Knowledge.NONE, false);

    /** Whether it holds, and nobody is before it. */
    boolean isFirst() {
        return kind == Kind.GRANTED && ahead.orElse(1) == 0;
    }

    /** Whether it waits for a time to pass, of which nobody tells it. */
    boolean isUntold() {
        return kind == Kind.YIELDS && behind.isEmpty();
    }

    /** The same of a soft writer in whose way nobody is but the time. */
    QueuePosition yields() {
        return new QueuePosition(Kind.YIELDS, ahead, Optional.empty(), Knowledge.NONE, followed);
    }

    /** The same, with a node of its own to be made that says that it holds. */
    QueuePosition toBePromoted() {
        return new QueuePosition(Kind.PASSES, ahead, Optional.empty(), Knowledge.NONE, followed);
    }

    /** The same after all that were in its way have left; other readers may hold beside a reader. */
    QueuePosition granted() {
        return new QueuePosition(Kind.GRANTED, OptionalInt.empty(), Optional.empty(), Knowledge.NONE, followed);
    }
}
