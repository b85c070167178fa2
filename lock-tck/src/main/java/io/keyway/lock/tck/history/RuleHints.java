// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import java.util.Map;

/** What to look at first when a history breaks a rule of the book, whatever check made it. */
final class RuleHints {
    private static final Map<String, String> FIRST = Map.of(
            "LK-301",
            "Is it one step at the store to look whether a lock is free and to take it, and does a grant stay until "
                    + "its release or the end of its ttl?",
            "LK-302",
            "Does the store keep a grant for its whole ttl from its last renewal, and does the client count its "
                    + "deadline from before the request was sent?",
            "LK-501",
            "From what reading of the clock is the deadline counted: from before the request was sent?",
            "LK-502",
            "How long does the store keep a grant of which it hears nothing, and from when does it count?",
            "LK-504",
            "Can anything that arrives after the end of a lease change its state?",
            "LK-602",
            "Where do tokens come from: one counter of the name, or of all, that no grant, restart or other client "
                    + "takes back?",
            "LK-707",
            "What does a release answer whose lease had been lost?",
            "LK-802",
            "How often is the end of a lease told, and by whom?",
            "LK-1301",
            "Is it one step at the store to count the permits that are out and to take some, and does it count "
                    + "permits, not holders?",
            "LK-1508",
            "Which calls does the engine make to the sink of one request: one of granted, refused and failed, after "
                    + "it nothing but doubt, certain and one ended, and never two at once?");

    private RuleHints() {}

    /** Empty text if there is nothing to say. */
    static String hint(String law) {
        return FIRST.getOrDefault(law, "");
    }
}
