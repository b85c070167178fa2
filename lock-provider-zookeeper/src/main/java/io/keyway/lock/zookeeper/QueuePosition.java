// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * Where one request stands in its line.
 *
 * @param ahead how many stand before it; empty if it is granted by word of the one before it
 * @param behind the name of the one node that it watches; for {@link Kind#BEHIND}
 * @param then what is known when that one has left
 * @param followed whether others stand behind it
 */
record QueuePosition(Kind kind, OptionalInt ahead, Optional<String> behind, Knowledge then, boolean followed) {
    enum Kind {
        /** It holds. */
        GRANTED,
        /** One that stands before it decides when to look again. */
        BEHIND,
        /** It wants permits and is the first that waits: any holder that leaves may make room. */
        FIRST,
        /** It is not there: somebody has deleted it. */
        ABSENT
    }

    /** What it means that the node which a request watches is deleted. */
    enum Knowledge {
        /** Others may be in the way: look again. */
        NONE,
        /** If the node held, nobody is in the way any more; if it waited, look again. */
        ALL_LEFT_IF_IT_HELD,
        /** It was the only one in the way. */
        ALL_LEFT
    }

    static final QueuePosition ABSENT =
            new QueuePosition(Kind.ABSENT, OptionalInt.empty(), Optional.empty(), Knowledge.NONE, false);

    /** Nobody stands before it; whether somebody stands behind it is not known. */
    static final QueuePosition FIRST =
            new QueuePosition(Kind.GRANTED, OptionalInt.of(0), Optional.empty(), Knowledge.NONE, false);

    /** It holds, and nobody stands before it. */
    boolean isFirst() {
        return kind == Kind.GRANTED && ahead.orElse(1) == 0;
    }

    /** All that stood in its way have left; readers may hold beside a reader. */
    QueuePosition granted() {
        return new QueuePosition(Kind.GRANTED, OptionalInt.empty(), Optional.empty(), Knowledge.NONE, followed);
    }
}
