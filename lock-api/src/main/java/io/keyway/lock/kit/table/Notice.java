// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import io.keyway.lock.LockKey;

/** What a change of a row makes known to one client. */
public sealed interface Notice {

    /** {@return the client that it is for, as the text of its incarnation} */
    String client();

    /** {@return the key whose row changed} */
    LockKey key();

    /**
     * The turn of that request may have come. A hint: one that is lost costs time only.
     *
     * @param client the client that it is for
     * @param key the key whose row changed
     * @param request the id of the request
     */
    record Turn(String client, LockKey key, long request) implements Notice {}

    /**
     * That grant was broken. If it is lost, the client hears it from its next renewal.
     *
     * @param client the client that it is for
     * @param key the key whose row changed
     * @param token of the grant
     * @param reason what the operator said
     */
    record Broken(String client, LockKey key, long token, String reason) implements Notice {}

    /**
     * {@return what that waiter is told when its turn may have come}
     *
     * @param waiter its place in the queue
     */
    static Notice turn(Entry waiter) {
        return new Turn(
                waiter.client(), waiter.request().key(), waiter.request().id());
    }

    /**
     * {@return what that holder is told when its grant was broken}
     *
     * @param holder of a row
     */
    static Notice broken(Entry holder) {
        return new Broken(holder.client(), holder.request().key(), holder.token(), holder.reason());
    }
}
