// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lamport;

import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.spi.Owner;

/** What the processes of two members say to each other. All of it is stamped with the sender's logical clock. */
sealed interface LamportMessage extends Message {
    /** The sender's clock when this was said. */
    long stamp();

    @Override
    default Key key() {
        return LamportKeys.PROCESS;
    }

    /** What follows until {@link End} is all that the sender asks for: what it said before may be lost. */
    record Begin(long stamp) implements LamportMessage {}

    /** The whole of it was said; answered by {@link Ack}. */
    record End(long stamp) implements LamportMessage {}

    /**
     * The sender asks for that lock; its ticket is this stamp. Answered by {@link Ack}, unless it stands between
     * {@link Begin} and {@link End}.
     *
     * @param waited nanoseconds since its client asked, for administrators
     */
    record Request(long stamp, String name, Owner owner, long waited) implements LamportMessage {}

    /** All that came before is in the sender's queues. */
    record Ack(long stamp) implements LamportMessage {}

    /**
     * The sender's request of that stamp is over: released, withdrawn, or its client is gone.
     *
     * @param request the stamp of the request
     */
    record Release(long stamp, String name, long request) implements LamportMessage {}

    /**
     * An administrator breaks what the receiver's client holds.
     *
     * @param number the sender's, for the answer
     * @param request the stamp of the request that was granted
     */
    record Break(long stamp, long number, String name, long request, String reason) implements LamportMessage {}

    /**
     * Answers {@link Break}.
     *
     * @param done false if that request did not hold
     */
    record Broken(long stamp, long number, boolean done) implements LamportMessage {}

    /** The clock of this member has not passed that time, and no life of it ever shows an earlier one again. */
    record Reserved(long stamp) implements DurableRecord {}
}
