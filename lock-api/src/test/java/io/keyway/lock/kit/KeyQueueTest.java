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

class KeyQueueTest {

    private long ids;

    @Test
    void whereNobodyPassesTheNextIsNotAskedAfterAWriterThatHasToWait() {
        KeyQueue queue = new KeyQueue(true, true);
        StoreEntry first = entry(queue, LockMode.EXCLUSIVE);
        entry(queue, LockMode.EXCLUSIVE);
        assertThat(queue.hint()).isSameAs(first);
        assertThat(queue.refused(first)).isNull();
        assertThat(queue.hint()).as("a later hint").isSameAs(first);
    }

    @Test
    void aHintThatCameMeanwhileIsFollowed() {
        KeyQueue queue = new KeyQueue(true, true);
        StoreEntry first = entry(queue, LockMode.EXCLUSIVE);
        queue.hint();
        queue.hint();
        assertThat(queue.refused(first)).isSameAs(first);
        assertThat(queue.refused(first)).isNull();
    }

    @Test
    void aReaderThatHasToWaitEndsNothing() {
        KeyQueue queue = new KeyQueue(true, true);
        StoreEntry first = entry(queue, LockMode.SHARED);
        StoreEntry second = entry(queue, LockMode.SHARED);
        queue.hint();
        assertThat(queue.refused(first)).isSameAs(second);
    }

    @Test
    void withoutOrderTheNextIsAsked() {
        KeyQueue queue = new KeyQueue(false, false);
        StoreEntry first = entry(queue, LockMode.EXCLUSIVE);
        StoreEntry second = entry(queue, LockMode.EXCLUSIVE);
        queue.hint();
        assertThat(queue.refused(first)).isSameAs(second);
    }

    private StoreEntry entry(KeyQueue queue, LockMode mode) {
        LockKey key = LockKey.lock(LockName.of("a"));
        StoreEntry entry = new StoreEntry(
                new Request(++ids, key, mode, 1, 1, Duration.ofSeconds(10), true, new Owner("client", Map.of())), ids);
        queue.add(entry);
        return entry;
    }
}
