// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.LockKey;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** A {@link LockBackend} of a store that can tell, at no cost for those who lock, when a queue is another one. */
public interface ChangeHints {
    /**
     * As {@link LockEngine#change}: a hint for whoever watches a lock, who asks {@link LockBackend#show} from time to
     * time in any case. Returns at once. Thread-safe.
     *
     * @param key which lock or semaphore
     * @param known the version of before, as this method told it; 0 if none is known
     * @param limit how long to wait
     * @return the version of now, as soon as it is not {@code known}, and within {@code limit} in any case; it may
     *     fail, and the caller asks again within a second
     * @throws NotExecutedException if the store cannot be asked now
     */
    CompletionStage<Long> change(LockKey key, long known, Duration limit) throws NotExecutedException;
}
