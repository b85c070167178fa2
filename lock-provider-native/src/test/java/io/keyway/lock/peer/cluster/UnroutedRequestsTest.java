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
    private final UnroutedRequests lobby = new UnroutedRequests(told::add);

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
        lobby.add(acquire(1), 0);
        lobby.add(show(2, 100), 10);
        lobby.add(acquire(3), 20);
        assertThat(lobby.leave(30)).containsExactly(acquire(1, 30), show(2, 80), acquire(3, 10));
        assertThat(lobby.leave(30)).isEmpty();
    }

    @Test
    void whoWithdrewIsGone() {
        lobby.add(acquire(1), 0);
        assertThat(lobby.withdraw(2)).isFalse();
        assertThat(lobby.withdraw(1)).isTrue();
        assertThat(lobby.leave(0)).isEmpty();
        assertThat(told).containsExactly(new LockNotice.Withdrawn(KEY, 1, null));
    }

    @Test
    void whatComesTooLateIsAnsweredAndNothingIsBroken() {
        lobby.add(new Input.Command(KEY, new LockCall.Break(1, 7, "it hangs", 100)), 0);
        assertThat(lobby.leave(100)).isEmpty();
        assertThat(told)
                .containsExactly(
                        new LockNotice.Failed(KEY, 1, "no member of the cluster answered in time", false, null));
    }

    @Test
    void whoAsksHearsTheCauseBeforeItsOwnClockRings() {
        lobby.add(acquire(1), 0);
        lobby.add(show(2, 160), 0);
        lobby.add(show(3, 160), 100);
        lobby.trouble(new Unreachable("refused", false));
        told.clear();
        assertThat(UnroutedRequests.patience(acquire(1))).isEmpty();
        assertThat(UnroutedRequests.patience(show(2, 160))).contains(150L);
        lobby.expire(show(2, 160));
        lobby.expire(show(2, 160));
        assertThat(told).containsExactly(new LockNotice.Failed(KEY, 2, "refused", null));
        assertThat(lobby.leave(150)).hasSize(2).contains(show(3, 110));
    }

    @Test
    void whoWaitsHearsEachCauseOnceAndWhoComesLaterTheLast() {
        lobby.add(acquire(1), 0);
        lobby.trouble(new Unreachable("refused", false));
        lobby.trouble(new Unreachable("refused", false));
        lobby.add(acquire(2), 0);
        assertThat(told)
                .containsExactly(
                        new LockNotice.Trouble(KEY, 1, "refused", null),
                        new LockNotice.Trouble(KEY, 2, "refused", null));
    }

    @Test
    void allAreSentAwayWhenNobodyWillEverAnswer() {
        lobby.add(acquire(1), 0);
        lobby.add(show(2, 100), 0);
        lobby.refuse("another cluster");
        assertThat(told)
                .containsExactly(
                        new LockNotice.Failed(KEY, 1, "another cluster", true, null),
                        new LockNotice.Failed(KEY, 2, "another cluster", true, null));
        assertThat(lobby.leave(0)).isEmpty();
    }
}
