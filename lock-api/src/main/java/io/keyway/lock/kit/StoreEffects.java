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

/** What the {@link StoreMachine} wants done: calls of the store, and what the sink of a request is told. */
interface StoreEffects {

    // Calls of the store, each answered by an input of the machine. A heartbeat can wait.

    void attempt(Request request, boolean heartbeat);

    /** An attempt of a request whose grant is to replace {@code held}. */
    void convert(Grant held, Request request, boolean heartbeat);

    /** One batch; all of one ttl. */
    void renew(List<Grant> grants);

    /** {@code keeps}: others are kept out for what is left of the time that it was to be held at least. */
    void release(Grant grant, boolean keeps);

    void withdraw(Request request);

    // What the sink of the request with that id is told.

    void waiting(long id, OptionalInt ahead, List<Owner> holders);

    /** Final. */
    void refused(long id, List<Owner> holders);

    void granted(long id, Grant grant, long deadlineNanos);

    /** The grant of {@code from} has become that of {@code id}: the first is over. */
    void converted(long from, long id, Grant grant, long deadlineNanos);

    /** Belief in all of these goes on until the new deadline. */
    void extended(List<Grant> grants, long deadlineNanos);

    /** Trouble: with the store before a grant, with the lease after it. */
    void doubt(long id, String why);

    void certain(long id);

    /** The lease is over; a release may go on in the background. */
    void ended(long id, LeaseLoss.Cause cause, String detail);

    /** Final, before a grant. */
    void failed(long id, LockException failure);

    /** The answer to a release. */
    void released(long id, Answer answer);

    /** Nothing of this request is left; its id is forgotten. */
    void gone(Request request);
}
