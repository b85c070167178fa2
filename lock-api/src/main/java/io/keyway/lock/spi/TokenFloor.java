// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.InvalidLockUrlException;
import java.util.Objects;
import java.util.Optional;

/**
 * The floor of tokens that a client was given ({@link CommonOptions#TOKEN_FLOOR}): each token granted from now on, also
 * to a client without the option, is greater. The store keeps it, and raises it only. Rules LK-608 and LK-609.
 *
 * @param url of the client, with its secrets masked
 * @param wanted the floor, at least 1
 */
public record TokenFloor(String url, long wanted) {

    /**
     * Checks that nothing is null.
     *
     * @param url see the record
     * @param wanted see the record
     */
    public TokenFloor {
        Objects.requireNonNull(url, "url");
    }

    /**
     * {@return what the application asks for; empty if it asks for none}
     *
     * @param request what the client is opened from
     */
    public static Optional<TokenFloor> of(OpenRequest request) {
        return request.find(CommonOptions.TOKEN_FLOOR)
                .map(wanted -> new TokenFloor(request.url().toString(), wanted));
    }

    /**
     * {@return whether the store has to be given the floor; false if it has it}
     *
     * @param stored the floor that the store was given before, 0 for none
     * @throws InvalidLockUrlException if that is higher, so that clients differ
     */
    public boolean isAbove(long stored) {
        if (stored > wanted) {
            throw new InvalidLockUrlException(url + " asks for tokenFloor=" + wanted
                    + ", but another client has given the store tokenFloor=" + stored
                    + ", and it is only raised. Write that one into this URL too, or leave it out: all clients "
                    + "get tokens above it.");
        }
        return stored < wanted;
    }
}
