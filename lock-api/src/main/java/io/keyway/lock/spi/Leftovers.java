// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import java.time.Duration;

/**
 * What clients of a place for tests have left in the store ({@link LockProvider#testUrl}):
 * {@code client.unwrap(Leftovers.class)}, for a client of that URL.
 */
@FunctionalInterface
public interface Leftovers {
    /**
     * Removes all that was kept for good there, as the floor of tokens, tables and directories, and nothing else.
     * Called when no other client of the URL is open, and the last thing for which this one is used before it is
     * closed.
     *
     * @param limit how long it may take
     * @throws Exception if something may be left
     */
    void remove(Duration limit) throws Exception;
}
