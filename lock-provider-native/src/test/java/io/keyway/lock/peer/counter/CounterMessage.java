// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.counter;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Notice;
import java.util.List;

/** The words of the counter. */
public sealed interface CounterMessage extends Message {
    /** A client counts: an increment that nobody else has. */
    record Add(Key key, long increment) implements CounterMessage {}

    /** To the client: every member has that increment on disk, and this one counts so many. */
    record Counts(Key key, long increment, long value) implements CounterMessage {}

    /** Member to member: these are counted here, on disk. */
    record Tell(Key key, Stamp stamp, List<Long> increments) implements CounterMessage {}

    /** The answer: here, too. */
    record Have(Key key, Stamp stamp, List<Long> increments) implements CounterMessage {}

    /**
     * What a member says to another one, numbered.
     *
     * @param life its epoch, which rises with each of its lives
     * @param period how often in this life the other one came up
     * @param number from 1, in that period
     */
    record Stamp(long life, long period, long number) {}

    /** A user counts. */
    record Count(long increment) implements Call {}

    /** To the user: it is counted. */
    record Counted(Key key, long increment, long value) implements Notice {}

    /** A member has heard another one, for the order of what it hears. */
    record Heard(Key key, String from, Stamp stamp) implements Notice {}

    /** What a member must not forget. */
    record Tally(Key key, List<Long> increments) implements DurableRecord {}
}
