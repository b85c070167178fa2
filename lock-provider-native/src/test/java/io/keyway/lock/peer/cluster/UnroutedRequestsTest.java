// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.ClientView.Unreachable;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class UnroutedRequestsTest {
    private static final Key KEY = LeaseKeys.lock("a");

    private final List<Notice> told = new ArrayList<>();
    private final UnroutedRequests unrouted = new UnroutedRequests(told::add);

    private static Input.Command acquire(long request) {
        return acquire(request, 0);
    }

    private static Input.Command acquire(long request, long waited) {
        Owner owner = new Owner("c", Map.of());
        return new Input.Command(
                KEY,
                new LockCall.Acquire(request, LockMode.EXCLUSIVE, 1, 1, 1000, owner, true, true, 500, waited, null));
    }

    private static Input.Command show(long request, long limit) {
        return new Input.Command(KEY, new LockCall.Show(request, limit));
    }

    @Test
    void guestsLeaveInTheOrderInWhichTheyCame() {
        unrouted.add(acquire(1), 0);
        unrouted.add(show(2, 100), 10);
        unrouted.add(acquire(3), 20);
        assertThat(unrouted.takeAll(30)).containsExactly(acquire(1, 30), show(2, 80), acquire(3, 10));
        assertThat(unrouted.takeAll(30)).isEmpty();
    }

    @Test
    void whoWithdrewIsGone() {
        unrouted.add(acquire(1), 0);
        assertThat(unrouted.withdraw(2)).isFalse();
        assertThat(unrouted.withdraw(1)).isTrue();
        assertThat(unrouted.takeAll(0)).isEmpty();
        assertThat(told).containsExactly(new LockNotice.Withdrawn(KEY, 1, null));
    }

    @Test
    void whatComesTooLateIsAnsweredAndNothingIsBroken() {
        unrouted.add(new Input.Command(KEY, new LockCall.Break(1, 7, "it hangs", 100)), 0);
        assertThat(unrouted.takeAll(100)).isEmpty();
        assertThat(told)
                .containsExactly(
                        new LockNotice.Failed(KEY, 1, "no member of the cluster answered in time", false, null));
    }

    @Test
    void whoAsksHearsTheCauseBeforeItsOwnClockRings() {
        unrouted.add(acquire(1), 0);
        unrouted.add(show(2, 160), 0);
        unrouted.add(show(3, 160), 100);
        unrouted.trouble(new Unreachable("refused", false));
        told.clear();
        assertThat(UnroutedRequests.patience(acquire(1))).isEmpty();
        assertThat(UnroutedRequests.patience(show(2, 160))).contains(150L);
        unrouted.expire(show(2, 160));
        unrouted.expire(show(2, 160));
        assertThat(told).containsExactly(new LockNotice.Failed(KEY, 2, "refused", null));
        assertThat(unrouted.takeAll(150)).hasSize(2).contains(show(3, 110));
    }

    @Test
    void whoWaitsHearsEachCauseOnceAndWhoComesLaterTheLast() {
        unrouted.add(acquire(1), 0);
        unrouted.trouble(new Unreachable("refused", false));
        unrouted.trouble(new Unreachable("refused", false));
        unrouted.add(acquire(2), 0);
        assertThat(told)
                .containsExactly(
                        new LockNotice.Trouble(KEY, 1, "refused", null),
                        new LockNotice.Trouble(KEY, 2, "refused", null));
    }

    @Test
    void allAreSentAwayWhenNobodyWillEverAnswer() {
        unrouted.add(acquire(1), 0);
        unrouted.add(show(2, 100), 0);
        unrouted.refuse("another cluster");
        assertThat(told)
                .containsExactly(
                        new LockNotice.Failed(KEY, 1, "another cluster", true, null),
                        new LockNotice.Failed(KEY, 2, "another cluster", true, null));
        assertThat(unrouted.takeAll(0)).isEmpty();
    }
}
