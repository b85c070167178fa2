// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WaitQueueTest {
    private static final long MS = 1_000_000;

    @Test
    void tenThousandWaitingRequestsAtOneManager() {
        WaitQueue queue = new WaitQueue();
        List<WaitQueue.Wait> waits = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            waits.add(queue.add(
                    new Peer(1 + i % 100),
                    new LockMessage.Acquire(
                            new Key(1, "a"),
                            i,
                            LockMode.EXCLUSIVE,
                            1,
                            1,
                            MS,
                            false,
                            true,
                            true,
                            0,
                            0,
                            new Owner("c", Map.of())),
                    i));
        }
        assertThat(queue.ahead(waits.get(9_999))).isEqualTo(9_999);
        assertThat(queue.ahead(waits.get(17))).isEqualTo(17);
        for (int i = 9_999; i >= 0; i -= 2) {
            WaitQueue.Wait wait = queue.find(waits.get(i).peer, i);
            assertThat(wait).isSameAs(waits.get(i));
            queue.remove(waits.get(i));
        }
        assertThat(queue.size()).isEqualTo(5_000);
        assertThat(queue.all()).extracting(wait -> wait.request.request()).isSorted();
        for (int session = 1; session <= 100; session++) {
            for (WaitQueue.Wait wait : queue.of(new Peer(session))) {
                queue.remove(wait);
            }
        }
        assertThat(queue.isEmpty()).isTrue();
    }
}
