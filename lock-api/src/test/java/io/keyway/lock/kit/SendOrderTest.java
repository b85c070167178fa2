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

    private final SendOrder arrivals = new SendOrder();
    private long ids;

    @Test
    void ofExclusiveRequestsOneIsSentAtATime() {
        StoreEntry first = entry(LockMode.EXCLUSIVE, true);
        StoreEntry second = entry(LockMode.EXCLUSIVE, true);
        StoreEntry third = entry(LockMode.EXCLUSIVE, true);
        assertThat(arrivals.begin(first)).isTrue();
        assertThat(arrivals.begin(second)).isFalse();
        assertThat(arrivals.begin(third)).isFalse();
        assertThat(arrivals.over(first)).containsExactly(second);
        assertThat(arrivals.over(first)).isEmpty();
        assertThat(arrivals.over(second)).containsExactly(third);
        assertThat(arrivals.over(third)).isEmpty();
        assertThat(arrivals.begin(entry(LockMode.EXCLUSIVE, true))).isTrue();
    }

    @Test
    void readersAreSentTogetherButNotPastAWriter() {
        StoreEntry reader = entry(LockMode.SHARED, true);
        StoreEntry other = entry(LockMode.SHARED, true);
        StoreEntry writer = entry(LockMode.EXCLUSIVE, true);
        StoreEntry late = entry(LockMode.SHARED, true);
        StoreEntry later = entry(LockMode.SHARED, true);
        assertThat(arrivals.begin(reader)).isTrue();
        assertThat(arrivals.begin(other)).isTrue();
        assertThat(arrivals.begin(writer)).isFalse();
        assertThat(arrivals.begin(late)).isFalse();
        assertThat(arrivals.begin(later)).isFalse();
        assertThat(arrivals.over(other)).isEmpty();
        assertThat(arrivals.over(reader)).containsExactly(writer);
        assertThat(arrivals.over(writer)).containsExactly(late, later);
    }

    @Test
    void whatDoesNotQueueIsSentAtOnceAndHoldsNobodyUp() {
        StoreEntry writer = entry(LockMode.EXCLUSIVE, true);
        StoreEntry attempt = entry(LockMode.EXCLUSIVE, false);
        assertThat(arrivals.begin(writer)).isTrue();
        assertThat(arrivals.begin(attempt)).isTrue();
        assertThat(arrivals.over(attempt)).isEmpty();
    }

    @Test
    void whoLeavesUnsentLetsTheNextGo() {
        StoreEntry reader = entry(LockMode.SHARED, true);
        StoreEntry writer = entry(LockMode.EXCLUSIVE, true);
        StoreEntry late = entry(LockMode.SHARED, true);
        arrivals.begin(reader);
        arrivals.begin(writer);
        arrivals.begin(late);
        assertThat(arrivals.over(writer)).containsExactly(late);
    }

    private StoreEntry entry(LockMode mode, boolean queue) {
        Owner owner = new Owner("client", Map.of());
        LockKey key = LockKey.lock(LockName.of("a"));
        return new StoreEntry(new Request(++ids, key, mode, 1, 1, Duration.ofSeconds(10), queue, owner), ids);
    }
}
