// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockException;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.util.List;
import java.util.OptionalInt;

/** What the {@link StoreMachine} wants done: calls to the store, and words to the sink of a request. */
sealed interface StoreEffect {

    /** A call to the store, as the next four; each is answered by an input of the machine. A heartbeat can wait. */
    record Attempt(Request request, boolean heartbeat) implements StoreEffect {}

    /** An attempt of a request that is to take the place of that grant. */
    record Convert(Grant held, Request request, boolean heartbeat) implements StoreEffect {}

    /** One batch; all of one ttl. */
    record Renew(List<Grant> grants) implements StoreEffect {}

    /** {@code keeps}: its place stays for what is left of the time that it was to be held at least. */
    record Release(Grant grant, boolean keeps) implements StoreEffect {}

    record Withdraw(Request request) implements StoreEffect {}

    record Waiting(long id, OptionalInt ahead, List<Owner> holders) implements StoreEffect {}

    /** Final. */
    record Refused(long id, List<Owner> holders) implements StoreEffect {}

    record Granted(long id, Grant grant, long deadlineNanos) implements StoreEffect {}

    /** The grant of {@code from} has become that of {@code id}: the first is over. */
    record Converted(long from, long id, Grant grant, long deadlineNanos) implements StoreEffect {}

    /** Belief in all of these goes on until the new deadline. */
    record Extended(List<Grant> grants, long deadlineNanos) implements StoreEffect {}

    /** Trouble: with the store before a grant, with the lease after it. */
    record Doubt(long id, String why) implements StoreEffect {}

    record Certain(long id) implements StoreEffect {}

    /** The lease is over; a release may go on in the background. */
    record Ended(long id, LeaseLoss.Cause cause, String detail) implements StoreEffect {}

    /** Final, before a grant. */
    record Failed(long id, LockException failure) implements StoreEffect {}

    /** The answer to a release. */
    record Released(long id, Answer answer) implements StoreEffect {}

    /** Nothing of this request is left; its id is forgotten. */
    record Gone(Request request) implements StoreEffect {
        long id() {
            return request.id();
        }
    }
}
