// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class LeaseScaleTest {
    /** Names in use at once. */
    private static final int BATCH = 40;

    @Test
    void tenThousandLocalWaitersOfOneNameAreServedInOrder() {
        LeaseWorld world = new LeaseWorld(LockSettings.defaults().withoutCache());
        LeaseWorld.Client first = world.client();
        first.acquire("a");
        world.settle();
        for (int i = 0; i < 10_000; i++) {
            first.acquire("a");
        }
        List<Long> order = new ArrayList<>();
        while (!first.held.isEmpty()) {
            order.add(first.last(LockNotice.Granted.class).request());
            first.release("a");
            world.settle();
        }
        assertThat(order).hasSize(10_001).isSorted();
        assertThat(world.violations).isEmpty();
        assertThat(world.member().residents()).isZero();
    }

    @Test
    @Tag("soak")
    void aMillionNamesUsedOnceLeaveNoMachine() {
        LeaseWorld world = new LeaseWorld(LockSettings.defaults().withoutCache());
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
        assertThat(world.member().keys()).isEmpty();
        assertThat(world.memberSessions().floor()).isEqualTo(1_000_000 / BATCH);
    }

    @Test
    @Tag("soak")
    void tenThousandCachedNamesAreBoundedAndGoBack() {
        LeaseWorld world = new LeaseWorld(LockSettings.defaults().withCache(LeaseWorld.TTL, 100));
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
        // The names that are kept, and the cache.
        assertThat(client.cell.residents()).isEqualTo(101);
        assertThat(world.member().residents()).isEqualTo(100);
        world.advance(2 * LeaseWorld.TTL);
        assertThat(client.cell.residents()).isZero();
        assertThat(world.member().residents()).isZero();
        assertThat(world.member().keys()).isEmpty();
    }
}
