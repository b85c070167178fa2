// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SendOrderTest {

    private final KeyQueue queue = new KeyQueue(false, false);
    private long ids;

    @Test
    void ofExclusiveRequestsOneIsSentAtATime() {
        StoreEntry first = entry(LockMode.EXCLUSIVE, true);
        StoreEntry second = entry(LockMode.EXCLUSIVE, true);
        StoreEntry third = entry(LockMode.EXCLUSIVE, true);
        assertThat(queue.maySend(first)).isTrue();
        assertThat(queue.maySend(second)).isFalse();
        assertThat(queue.maySend(third)).isFalse();
        assertThat(queue.sent(first)).containsExactly(second);
        assertThat(queue.sent(first)).isEmpty();
        assertThat(queue.sent(second)).containsExactly(third);
        assertThat(queue.sent(third)).isEmpty();
        assertThat(queue.maySend(entry(LockMode.EXCLUSIVE, true))).isTrue();
    }

    @Test
    void readersAreSentTogetherButNotPastAWriter() {
        StoreEntry reader = entry(LockMode.SHARED, true);
        StoreEntry other = entry(LockMode.SHARED, true);
        StoreEntry writer = entry(LockMode.EXCLUSIVE, true);
        StoreEntry late = entry(LockMode.SHARED, true);
        StoreEntry later = entry(LockMode.SHARED, true);
        assertThat(queue.maySend(reader)).isTrue();
        assertThat(queue.maySend(other)).isTrue();
        assertThat(queue.maySend(writer)).isFalse();
        assertThat(queue.maySend(late)).isFalse();
        assertThat(queue.maySend(later)).isFalse();
        assertThat(queue.sent(other)).isEmpty();
        assertThat(queue.sent(reader)).containsExactly(writer);
        assertThat(queue.sent(writer)).containsExactly(late, later);
    }

    @Test
    void whatDoesNotQueueIsSentAtOnceAndHoldsNobodyUp() {
        StoreEntry writer = entry(LockMode.EXCLUSIVE, true);
        StoreEntry attempt = entry(LockMode.EXCLUSIVE, false);
        assertThat(queue.maySend(writer)).isTrue();
        assertThat(queue.maySend(attempt)).isTrue();
        assertThat(queue.sent(attempt)).isEmpty();
    }

    @Test
    void whoLeavesUnsentLetsTheNextGo() {
        StoreEntry reader = entry(LockMode.SHARED, true);
        StoreEntry writer = entry(LockMode.EXCLUSIVE, true);
        StoreEntry late = entry(LockMode.SHARED, true);
        queue.maySend(reader);
        queue.maySend(writer);
        queue.maySend(late);
        assertThat(queue.sent(writer)).containsExactly(late);
    }

    private StoreEntry entry(LockMode mode, boolean queue) {
        Owner owner = new Owner("client", Map.of());
        LockKey key = LockKey.lock(LockName.of("a"));
        return new StoreEntry(new Request(++ids, key, mode, 1, 1, Duration.ofSeconds(10), queue, owner), ids);
    }
}
