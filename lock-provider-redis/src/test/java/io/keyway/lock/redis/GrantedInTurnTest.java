// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.process.Patience;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Whoever fits when something comes back is granted by the script that gives it back, in the order of the queue. */
class GrantedInTurnTest extends OnOneServer {
    private static final Duration LIMIT = OneBackend.LIMIT;
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final LockKey PERMITS = LockKey.semaphore(LockName.of("a"));
    private static final LockKey LOCK = LockKey.lock(LockName.of("a"));

    @Test
    void whatAReleaseLeavesRoomForIsGrantedByItInOneMessage() throws Exception {
        Grant writer = open.granted(lock(1, LockMode.EXCLUSIVE));
        open.waits(lock(2, LockMode.SHARED));
        open.waits(lock(3, LockMode.SHARED));
        open.waits(lock(4, LockMode.EXCLUSIVE));
        open.waits(lock(5, LockMode.SHARED));

        open.release(writer);

        await().atMost(Patience.of(LIMIT)).until(() -> signals.granted.size() == 2);
        assertMessages(1);
        Grant second = grantedByMessage(lock(2, LockMode.SHARED));
        Grant third = grantedByMessage(lock(3, LockMode.SHARED));
        assertThat(second.token()).isGreaterThan(writer.token());
        assertThat(third.token()).isGreaterThan(second.token());
        assertThat(open.granted(lock(2, LockMode.SHARED))).isEqualTo(second);
        open.release(second);
        open.release(third);
        await().atMost(Patience.of(LIMIT)).until(() -> signals.granted.size() == 3);
        open.waits(lock(5, LockMode.SHARED));
        open.release(grantedByMessage(lock(4, LockMode.EXCLUSIVE)));
        await().atMost(Patience.of(LIMIT)).until(() -> signals.granted.size() == 4);
        open.release(grantedByMessage(lock(5, LockMode.SHARED)));
        assertThat(server.ask("EXISTS", "keyway:{a}:l", "keyway:{a}:lw", "keyway:{a}:lq"))
                .isEqualTo(0L);
    }

    @Test
    void permitsAreGrantedInTheirOrderAndNeverMoreThanThereAre() throws Exception {
        Grant one = open.granted(permit(1));
        Grant two = open.granted(permit(2));
        open.waits(permits(3, 2, 2));
        open.waits(permit(4));
        open.release(one);
        assertMessages(0);
        open.release(two);
        await().atMost(Patience.of(LIMIT)).until(() -> signals.granted.size() == 1);
        assertThat(backend.availablePermits(PERMITS, 2, LIMIT)).isZero();
        open.release(grantedByMessage(permits(3, 2, 2)));
        await().atMost(Patience.of(LIMIT)).until(() -> signals.granted.size() == 2);
        assertThat(backend.availablePermits(PERMITS, 2, LIMIT)).isEqualTo(1);
        open.release(grantedByMessage(permit(4)));
        assertThat(backend.availablePermits(PERMITS, 2, LIMIT)).isEqualTo(2);
    }

    @Test
    void aWaiterPassesThoseAloneThatStateLessThanItDoes() throws Exception {
        Grant one = open.granted(permit(1));
        Grant two = open.granted(permit(2));
        for (long id = 3; id < 23; id++) {
            open.waits(permit(id));
        }
        server.ask("CONFIG", "RESETSTAT");
        open.waits(permit(23));
        assertThat(OneBackend.calls(server, "hget"))
                .as("readings, where all state the same")
                .isLessThan(8);
        Request wide = permits(24, 1, 3);
        Grant third = open.granted(wide);
        Request next = permits(25, 1, 3);
        open.waits(next);
        open.release(third);
        await().atMost(Patience.of(LIMIT)).until(() -> signals.granted.size() == 1);
        open.release(grantedByMessage(next));
        assertThat(signals.granted).hasSize(1);
        open.release(one);
        await().atMost(Patience.of(LIMIT)).until(() -> signals.granted.size() == 2);
        assertThat(grantedByMessage(permit(3)).token()).isGreaterThan(two.token());
        for (long id = 4; id < 24; id++) {
            backend.withdraw(permit(id), LIMIT);
        }
        assertThat(server.ask("EXISTS", "keyway:{a}:sw", "keyway:{a}:sq")).isEqualTo(0L);
    }

    /** A script that granted to all of thousands would keep everybody else waiting. */
    @Test
    void manyReadersAreGrantedInBatchesAndNobodyIsLeft() throws Exception {
        int readers = 150;
        Grant writer = open.granted(lock(1, LockMode.EXCLUSIVE));
        for (int id = 2; id < 2 + readers; id++) {
            open.waits(lock(id, LockMode.SHARED));
        }
        open.release(writer);
        for (int batch = 1; batch <= 2; batch++) {
            int last = 1 + 64 * batch;
            String told = "recheck lock a " + last;
            await().atMost(Patience.of(LIMIT)).until(() -> signals.heard.contains(told));
            assertThat(signals.granted).hasSize(63 * batch);
            open.granted(lock(last, LockMode.SHARED));
        }
        await().atMost(Patience.of(LIMIT)).until(() -> signals.granted.size() == readers - 2);
        assertMessages(5);
        assertThat(backend.show(LOCK, LIMIT).orElseThrow().waiters()).isEmpty();
    }

    private Grant grantedByMessage(Request request) {
        return signals.granted.stream()
                .filter(each -> each.request().equals(request))
                .map(each -> each.word().grant())
                .findFirst()
                .orElseThrow();
    }

    private void assertMessages(int count) {
        assertThat(OneBackend.calls(server, "publish")).isEqualTo(count);
    }

    private static Request permit(long id) {
        return permits(id, 1, 2);
    }

    private static Request permits(long id, int permits, int capacity) {
        return new Request(id, PERMITS, LockMode.PERMITS, permits, capacity, LONG, true, new Owner("a", Map.of()));
    }

    private static Request lock(long id, LockMode mode) {
        return new Request(id, LOCK, mode, 1, 1, LONG, true, new Owner("a", Map.of()));
    }
}
