// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static io.keyway.lock.LockMode.EXCLUSIVE;
import static io.keyway.lock.LockMode.SHARED;
import static io.keyway.lock.peer.lease.GrantWorld.MS;
import static io.keyway.lock.peer.lease.GrantWorld.TTL;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.queue.Admission;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import org.junit.jupiter.api.Test;

/** Soft writers among the users of a client: their requests wait at the manager, and no cache serves them. */
class SoftUsersTest {
    private final GrantWorld world = GrantWorld.ofCaches(Admission.LOCKS, LockSettings.defaults(), 2);
    private final GrantWorld.Client c0 = world.clients.get(0);
    private final GrantWorld.Client c1 = world.clients.get(1);

    @Test
    void oneAsksAlsoWhileItsOwnClientHasTheLock() {
        long held = c0.acquire(EXCLUSIVE);
        long soft = c0.acquireSoftly(0, true);
        assertThat(c0.told(LockNotice.Waiting.class)).singleElement().satisfies(waiting -> {
            assertThat(waiting.request()).isEqualTo(soft);
            assertThat(waiting.ahead()).isEqualTo(-1);
            assertThat(waiting.holders()).hasSize(1);
        });
        c0.letGo(held);
        assertThat(world.holders()).containsExactly(soft);
    }

    @Test
    void theIdleLockOfItsOwnClientComesBackForIt() {
        c0.letGo(c0.acquire(EXCLUSIVE));
        long soft = c0.acquireSoftly(0, true);
        assertThat(world.holders()).containsExactly(soft);
        assertThat(world.count(LockMessage.Accepted.class)).isEqualTo(1);
        assertThat(c0.letGo(soft))
                .as("without a message: nobody wants it any more")
                .isTrue();
    }

    @Test
    void usersOfItsOwnClientGoFirst() {
        long reader = c1.acquire(SHARED);
        long soft = c0.acquireSoftly(0, true);
        long writer = c0.acquire(EXCLUSIVE);
        long other = c0.acquire(SHARED);
        c1.letGo(reader);
        assertThat(world.holders()).containsExactly(writer);
        c0.letGo(writer);
        assertThat(world.holders()).containsExactly(other);
        c0.letGo(other);
        assertThat(world.holders()).containsExactly(soft);
    }

    @Test
    void oneThatDoesNotWaitIsServedIfNobodyHoldsAndLeavesNothing() {
        long soft = c0.acquireSoftly(0, false);
        assertThat(world.holders()).containsExactly(soft);
        long other = c1.acquireSoftly(0, false);
        assertThat(c1.told(LockNotice.Refused.class))
                .extracting(LockNotice.Refused::request)
                .containsExactly(other);
        c0.letGo(soft);
        long next = c1.acquire(EXCLUSIVE);
        assertThat(world.holders()).containsExactly(next);
    }

    @Test
    void oneThatDoesNotWaitForItsTimeIsRefusedWithoutAMessage() {
        world.sent.clear();
        long soft = c0.acquireSoftly(MS, false);
        assertThat(c0.told(LockNotice.Refused.class))
                .extracting(LockNotice.Refused::request)
                .containsExactly(soft);
        assertThat(world.sent).isEmpty();
    }

    @Test
    void oneThatGivesUpIsGone() {
        long held = c1.acquire(EXCLUSIVE);
        long soft = c0.acquireSoftly(0, true);
        c0.withdraw(soft);
        assertThat(c0.told(LockNotice.Withdrawn.class)).hasSize(1);
        c1.letGo(held);
        assertThat(world.holders()).isEmpty();
        assertThat(c0.kept()).isEmpty();
    }

    @Test
    void afterAStartOfTheMemberItAsksAnew() {
        long reader = c1.acquire(SHARED);
        long soft = c0.acquireSoftly(0, true);
        world.restart();
        c1.letGo(reader);
        assertThat(world.holders()).isEmpty();
        world.advance(5 * TTL);
        assertThat(world.holders()).containsExactly(soft);
    }
}
