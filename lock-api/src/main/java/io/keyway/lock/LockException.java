// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a lock operation may fail with. Each kind answers a question: may I still hold it, may I retry, did I err?
 * Programs decide by {@link #retryable()} and {@link #mayHold()}, never by the message.
 *
 * <ul>
 *   <li>{@link LockUnavailableException}: nobody could be asked. Nothing is held; mostly worth another try.
 *   <li>{@link OutcomeUnknownException}: asked, not answered. Something may be held, and is being cleaned up.
 *   <li>{@link LeaseLostException}: held before, not any more. Stop the work; acquire again for a new token.
 *   <li>{@link DeadlockException}: this request was chosen to end a deadlock. Nothing is held; try again.
 *   <li>{@link io.keyway.lock.group.GroupCallException}: the leader of an election has not answered.
 *   <li>{@link InvalidLockUrlException}, {@link ProviderNotFoundException}, {@link UnsupportedFeatureException},
 *       {@link ClientClosedException}: the program or its configuration has to change.
 * </ul>
 *
 * <p>Rules LK-1401 to LK-1406.
 */
public abstract class LockException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient @Nullable LockName name;
    private final @Nullable String server;
    private final boolean retryable;
    private final boolean mayHold;

    /**
     * Makes an exception.
     *
     * @param message what was asked, what is wrong, what to do; secrets masked
     * @param cause null if none
     * @param name the lock, null if none
     * @param server the server or peer, null if none is known
     * @param retryable whether the same call may succeed later
     * @param mayHold whether the caller's grant may be in force at the authority
     */
    protected LockException(
            String message,
            @Nullable Throwable cause,
            @Nullable LockName name,
            @Nullable String server,
            boolean retryable,
            boolean mayHold) {
        super(message, cause);
        this.name = name;
        this.server = server;
        this.retryable = retryable;
        this.mayHold = mayHold;
    }

    /** {@return the lock that it is about; empty after serialisation} */
    public Optional<LockName> name() {
        return Optional.ofNullable(name);
    }

    /** {@return the server or peer that it is about} */
    public Optional<String> server() {
        return Optional.ofNullable(server);
    }

    /** {@return whether the same call may succeed later without a change by the caller} */
    public boolean retryable() {
        return retryable;
    }

    /** {@return whether a grant of the caller's may be in force at the authority; it is being cleaned up} */
    public boolean mayHold() {
        return mayHold;
    }
}
