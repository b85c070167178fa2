// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.FenceGuard;
import io.keyway.lock.JavaLocks;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LeasedLock;
import io.keyway.lock.LockClient;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The adapters of the API over a client of a store. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // each unlock is what a test is about
class AdaptersTest extends ReferenceClients {

    @Test
    void threadsOfTwoClientsExcludeEachOther() throws Exception {
        LockClient a = open("a");
        LockClient b = open("b");
        LeasedLock mine = JavaLocks.reentrant(a.lock("x"));
        LeasedLock theirs = JavaLocks.reentrant(b.lock("x"));

        mine.lock();
        mine.lock();
        assertThat(theirs.tryLock()).isFalse();
        mine.unlock();
        assertThat(theirs.tryLock()).isFalse();
        CompletableFuture<Long> waiting = CompletableFuture.supplyAsync(() -> {
            theirs.lock();
            long token = theirs.currentLease().orElseThrow().token();
            theirs.unlock();
            return token;
        });
        awaitWaiters(a, "x", 1);
        long token = mine.currentLease().orElseThrow().token();
        mine.unlock();

        assertThat(waiting.join()).isGreaterThan(token);
        assertThat(a.admin().show(key("x"))).isEmpty();
    }

    @Test
    void brokenHolderIsToldUnlocksQuietlyAndIsFencedOff() throws Exception {
        LockClient a = open("a");
        LeasedLock lock = JavaLocks.reentrant(a.lock("x"));
        FenceGuard guard = FenceGuard.inMemory();
        lock.lock();
        Lease old = lock.currentLease().orElseThrow();
        assertThat(guard.run(old, lease -> {})).isTrue();

        assertThat(open("admin").admin().breakLease(key("x"), old.token(), "the test"))
                .isTrue();
        await().atMost(PATIENCE).until(() -> old.state() == Lease.State.LOST);
        assertThatThrownBy(lock::lock).isInstanceOf(LeaseLostException.class);
        assertThatCode(lock::unlock).doesNotThrowAnyException();

        try (Lease next = a.lock("x").acquire()) {
            assertThat(guard.run(next, lease -> {})).isTrue();
            assertThat(guard.run(old, lease -> {
                        throw new AssertionError("an effect under an old token");
                    }))
                    .isFalse();
        }
    }
}
