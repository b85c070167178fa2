// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.Feature;
import io.keyway.lock.LockKey;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * An engine whose locks at several nodes have tokens of each node, and that can have a node go on above the token of
 * another one: what a single token needs that rises over all of them. With {@link Feature#NODE_SETS}.
 */
public interface RaisingEngine extends LockEngine {
    /**
     * Has all tokens that are given after this use of a grant, by this client or its server, be higher than
     * {@code least}; over restarts of the server too. Ends and extends nothing.
     *
     * @param key of the lock that is held
     * @param hold what it is held by
     * @param token of the use, which is going on
     * @param least what the tokens are to exceed
     * @param limit how long to try
     * @return false if that use is over, or no server can have given {@code least}; the stage fails with a
     *     {@link io.keyway.lock.LockException} if there was no answer, and then it may be so or not
     */
    CompletionStage<Boolean> raise(LockKey key, Hold hold, long token, long least, Duration limit);
}
