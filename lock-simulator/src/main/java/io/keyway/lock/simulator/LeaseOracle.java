// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.service.LockMessage;
import java.util.List;

/**
 * One property of the lease service. It is told what happens at the authority and at the users, and asks for nothing
 * else.
 */
interface LeaseOracle {
    /** A user of that client asks for a lock, by that number of all requests. */
    default void asked(int client, long request) {}

    /** That request has come to the authority of the name, for the first time or again. */
    default void came(String name, LockMessage.Acquire request) {}

    /** A user was told that its request waits in the queue of a member, in that life and session of that. */
    default void waits(long request, long memberLife, long session) {}

    /** The authority grants: never before the {@link #ended} of what it replaces. */
    default void granted(Grant grant) {}

    default void ended(Grant grant, Grant.End how) {}

    /** The authority has heard that this session of it gives that token back. */
    default void released(String name, int member, long session, long token) {}

    /** The authority has heard that this session of it withdraws that request. */
    default void withdrawn(String name, int member, long session, long request) {}

    /** Somebody wants the grant ended that uses that token. */
    default void breaking(String name, long token) {}

    /** A user got the lock. */
    default void began(Use use) {}

    /** The user said that it is done; the answer is still to come. It believes no more. */
    default void releasing(Use use) {}

    /** The user's hold is over, by its own word or the library's. */
    default void finished(Use use, Use.Finish how) {}

    /** The process of that client ended; its unfinished uses are finished already. */
    default void died(int client) {}

    /** A client has just had an event: all uses of it that are not finished. */
    default void looked(int client, List<Use> uses) {}
}
