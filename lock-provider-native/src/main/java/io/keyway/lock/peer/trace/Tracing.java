// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.trace;

import java.util.List;
import java.util.concurrent.CompletionStage;

/** What `keyway trace` asks of a client: {@code client.unwrap(Tracing.class)}. */
public interface Tracing {
    /** What to do with the log of a member. */
    enum What {
        READ,
        START,
        STOP
    }

    /**
     * A part of a member's log.
     *
     * @param on whether it records now
     * @param next the number of the first event that is not in it
     * @param more whether there are more events
     * @param text lines, as in docs/protocol.md
     */
    record Page(boolean on, long next, boolean more, String text) {}

    /** The ids of all members, when one has answered; the URL may name some of them only. Makes the client connect. */
    CompletionStage<List<String>> members();

    /**
     * Asks the member that this client has found; of a client whose URL names one member it is that one.
     *
     * @param from of {@link What#READ}, the number of the first event that is wanted
     * @return fails at once if there is no connection
     */
    CompletionStage<Page> ask(What what, long from);
}
