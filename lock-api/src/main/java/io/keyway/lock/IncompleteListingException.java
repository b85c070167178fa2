// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A listing of which a part is missing, because a server gave no answer: what the others have said is here. */
public final class IncompleteListingException extends LockUnavailableException {
    private static final long serialVersionUID = 1L;

    private final transient @Nullable LockPage page;

    @SuppressWarnings("serial") // an immutable list of texts
    private final List<String> missing;

    /**
     * Makes the exception.
     *
     * @param page what is known
     * @param missing the servers whose locks are not in it, each with the reason
     * @param server all servers together
     */
    public IncompleteListingException(LockPage page, List<String> missing, String server) {
        super("The listing is incomplete: " + String.join("; ", missing), null, server, null);
        this.page = page;
        this.missing = List.copyOf(missing);
    }

    /** {@return what is known; its cursor goes on behind it} Empty after serialisation. */
    public Optional<LockPage> page() {
        return Optional.ofNullable(page);
    }

    /** {@return the servers whose locks are missing, each with the reason} */
    public List<String> missing() {
        return missing;
    }
}
