// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Optional;

/**
 * Looking at the locks of all clients, and breaking one. Each method waits at most {@code requestTimeout}. What it
 * answers may be over when it is read.
 *
 * <pre>{@code
 * Optional<String> after = Optional.empty();
 * do {
 *     LockPage page = client.admin().list("orders/", after, 100);
 *     page.locks().forEach(System.out::println);
 *     after = page.next();
 * } while (after.isPresent());
 * }</pre>
 *
 * <p>Rules LK-1101 to LK-1106.
 */
public interface LockAdmin {

    /**
     * {@return the locks and semaphores that are held or waited for and whose name starts with {@code prefix}}
     *
     * @param prefix compared with the name exactly; empty for all
     * @param after the {@code next} of the page before, or empty for the first
     * @param max the size of the page, at least 1; a provider may return fewer
     * @throws UnsupportedFeatureException without LIST, before anything is sent
     * @throws IncompleteListingException if a part of the store gave no answer; it has what the others said
     * @throws LockUnavailableException if the store gave no answer
     * @throws InterruptedException if interrupted while waiting
     */
    LockPage list(String prefix, Optional<String> after, int max) throws InterruptedException;

    /**
     * {@return the holders and waiters of one lock or semaphore; empty if it has none}
     *
     * @param key which lock or semaphore
     * @throws UnsupportedFeatureException without LIST, before anything is sent
     * @throws LockUnavailableException if the store gave no answer
     * @throws InterruptedException if interrupted while waiting
     */
    Optional<LockStatus> show(LockKey key) throws InterruptedException;

    /**
     * Ends one grant by its token, never the next one. Its holder sees its lease LOST with BROKEN; the lock goes on
     * when the holder has answered or its belief has ended, not before.
     *
     * @param key which lock or semaphore
     * @param token the token of the grant to end, as {@link LockStatus.Holder#token()} shows it
     * @param reason reaches the holder as {@link LeaseLoss#detail} where the provider can tell it; at most 512 bytes of
     *     UTF-8 do, control characters as spaces
     * @return false if that grant was not in force any more, as when it was broken before
     * @throws UnsupportedFeatureException without BREAK, before anything is sent
     * @throws OutcomeUnknownException if the store gave no answer
     * @throws InterruptedException if interrupted while waiting
     */
    boolean breakLease(LockKey key, long token, String reason) throws InterruptedException;
}
