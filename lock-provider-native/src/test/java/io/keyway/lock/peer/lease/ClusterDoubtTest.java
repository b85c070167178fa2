// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static io.keyway.lock.LockEvent.Type.CLUSTER_DOWN;
import static io.keyway.lock.LockEvent.Type.CLUSTER_UP;
import static io.keyway.lock.LockEvent.Type.LOCK_READY;
import static io.keyway.lock.LockEvent.Type.NO_LOCK;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.queue.Admission;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import org.junit.jupiter.api.Test;

/** What a client makes of its member's word on the cluster. */
class ClusterDoubtTest {
    private final GrantWorld world = new GrantWorld(Admission.LOCKS, 2);
    private final GrantWorld.Client client = world.clients.get(0);

    @Test
    void itIsAskedForOnceInEachSession() {
        client.release(client.acquire(LockMode.SHARED));
        client.acquire(LockMode.SHARED);
        assertThat(world.count(LockMessage.Follow.class)).isEqualTo(1);
        world.restart();
        assertThat(world.count(LockMessage.Follow.class)).isEqualTo(2);
    }

    @Test
    void eachChangeIsToldOnce() {
        client.acquire(LockMode.SHARED);
        client.hears(true, false);
        client.hears(true, true);
        client.hears(true, true);
        client.hears(false, false);
        client.hears(true, true);
        assertThat(client.told(LockNotice.ClusterChanged.class))
                .extracting(LockNotice.ClusterChanged::type)
                .containsExactly(NO_LOCK, CLUSTER_UP, LOCK_READY, NO_LOCK, CLUSTER_DOWN, CLUSTER_UP, LOCK_READY);
    }

    @Test
    void aHolderIsInDoubtWhileTheClusterIsDown() {
        long held = client.acquire(LockMode.SHARED);
        client.hears(true, true);
        assertThat(client.told(LockNotice.Doubted.class)).isEmpty();
        client.hears(false, false);
        assertThat(client.told(LockNotice.Doubted.class))
                .singleElement()
                .satisfies(doubt -> assertThat(doubt.why()).contains("b:7400"));
        world.advance(GrantWorld.TTL / 2);
        assertThat(client.told(LockNotice.Certain.class))
                .as("its member answers, which is not enough")
                .isEmpty();
        client.hears(true, true);
        assertThat(client.told(LockNotice.Certain.class)).hasSize(1);
        assertThat(client.believes(held)).isTrue();
    }

    @Test
    void thatTheClusterIsUpIsNoAnswerOfTheMember() {
        client.acquire(LockMode.SHARED);
        client.hears(true, true);
        client.cut(true);
        world.advance(GrantWorld.TTL / 16 * 11);
        assertThat(client.told(LockNotice.Doubted.class)).hasSize(1);
        client.hears(false, false);
        client.hears(true, true);
        assertThat(client.told(LockNotice.Certain.class)).isEmpty();
        client.cut(false);
        world.advance(GrantWorld.TTL / 8);
        assertThat(client.told(LockNotice.Certain.class)).hasSize(1);
    }
}
