// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Peer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class LeaseScaleTest {
    private static final long MS = LeaseWorld.MS;

    /** Names in use at once. */
    private static final int BATCH = 40;

    @Test
    void tenThousandLocalWaitersOfOneNameAreServedInOrder() {
        LeaseWorld world = new LeaseWorld(LeaseSettings.defaults().withoutCache());
        LeaseWorld.Client first = world.client();
        first.acquire("a");
        world.settle();
        for (int i = 0; i < 10_000; i++) {
            first.acquire("a");
        }
        List<Long> order = new ArrayList<>();
        while (!first.held.isEmpty()) {
            order.add(first.last(LeaseNotice.Granted.class).request());
            first.release("a");
            world.settle();
        }
        assertThat(order).hasSize(10_001).isSorted();
        assertThat(world.violations).isEmpty();
        assertThat(world.member().residents()).isZero();
    }

    @Test
    void tenThousandWaitingRequestsAtOneManager() {
        WaitQueue queue = new WaitQueue();
        List<WaitQueue.Wait> waits = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            waits.add(queue.add(
                    new Peer(1 + i % 100),
                    new LeaseMessage.Acquire(
                            LeaseWorld.key("a"),
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
                            new LeaseOwner("c", Map.of())),
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

    @Test
    @Tag("soak")
    void aMillionNamesUsedOnceLeaveNoMachine() {
        LeaseWorld world = new LeaseWorld(LeaseSettings.defaults().withoutCache());
        LeaseWorld.Client client = world.client();
        client.told();
        for (int i = 0; i < 1_000_000; i += BATCH) {
            for (int j = 0; j < BATCH; j++) {
                client.acquireLater("n" + (i + j));
            }
            client.flush();
            world.settle();
            for (int j = 0; j < BATCH; j++) {
                client.releaseLater("n" + (i + j));
            }
            client.flush();
            world.settle();
            client.notices.clear();
            world.forget();
        }
        assertThat(world.violations).isEmpty();
        assertThat(world.member().residents()).isZero();
        assertThat(client.cell.residents()).isZero();
        assertThat(world.memberSessions().floor()).isEqualTo(1_000_000 / BATCH);
    }

    @Test
    void tenThousandCachedNamesAreBoundedAndGoBack() {
        LeaseWorld world = new LeaseWorld(LeaseSettings.defaults().withCache(LeaseWorld.TTL, 100));
        LeaseWorld.Client client = world.client();
        for (int i = 0; i < 10_000; i++) {
            String name = "n" + i;
            client.acquire(name);
            world.settle();
            client.release(name);
            world.settle();
            client.notices.clear();
            world.forget();
        }
        // The names that are kept, the cache and the directory.
        assertThat(client.cell.residents()).isEqualTo(101);
        assertThat(world.member().residents()).isEqualTo(101);
        world.advance(2 * LeaseWorld.TTL);
        assertThat(client.cell.residents()).isZero();
        assertThat(world.member().residents()).isZero();
    }
}
