// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.jdbc.LocalLocks.One;
import io.keyway.lock.jdbc.LocalLocks.Turn;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Who of one client may ask the server for a key, and who has it. */
class LocalLocksTest {

    private static final AdvisoryKey KEY = new AdvisoryKey(7);

    private final LocalLocks locks = new LocalLocks();
    private final DbSession session = new DbSession(null);
    private long lastToken;

    private static Request request(long id, String name, LockMode mode) {
        Owner owner = new Owner("test", Map.of());
        return new Request(id, LockKey.lock(name), mode, 1, 1, Duration.ofSeconds(10), true, owner);
    }

    private static Request writer(long id) {
        return request(id, "a", LockMode.EXCLUSIVE);
    }

    private static Request reader(long id) {
        return request(id, "a", LockMode.SHARED);
    }

    private Turn turn(Request request) throws Exception {
        locks.begin(KEY, request.key().name(), Deadline.after(Duration.ZERO));
        try {
            return locks.turn(KEY, request);
        } finally {
            locks.end(KEY);
        }
    }

    private One hold(Request request) throws Exception {
        locks.begin(KEY, request.key().name(), Deadline.after(Duration.ZERO));
        try {
            return locks.hold(KEY, session, request, ++lastToken, System.nanoTime());
        } finally {
            locks.end(KEY);
        }
    }

    /** Numbers are 64 bits of a hash. */
    @Test
    void namesWithOneNumberExcludeEachOther() throws Exception {
        One one = hold(request(1, "a", LockMode.EXCLUSIVE));
        Request other = request(2, "b", LockMode.EXCLUSIVE);
        assertThat(turn(other)).isEqualTo(Turn.WAIT);
        locks.ended(one);
        assertThat(locks.next(KEY)).containsExactly(other);
        assertThat(turn(other)).isEqualTo(Turn.ASK);
    }

    @Test
    void theServerIsAskedForAKeyByOneCallAtATime() throws Exception {
        locks.begin(KEY, LockName.of("a"), Deadline.after(Duration.ZERO));
        assertThatThrownBy(() -> locks.begin(KEY, LockName.of("a"), Deadline.after(Duration.ZERO)))
                .isInstanceOf(NotExecutedException.class);
        locks.end(KEY);
    }

    @Test
    void readersJoinUnlessAWriterWaitsAndTheLastEndsTheLock() throws Exception {
        One first = hold(reader(1));
        assertThat(turn(reader(2))).isEqualTo(Turn.JOIN);
        One second = hold(reader(2));
        assertThat(second.held()).isSameAs(first.held());
        assertThat(session.locks).hasValue(1);
        assertThat(turn(writer(3))).isEqualTo(Turn.WAIT);
        assertThat(turn(reader(4))).isEqualTo(Turn.WAIT);
        assertThat(locks.isLast(first)).isFalse();
        locks.ended(first);
        assertThat(locks.isLast(second)).isTrue();
        assertThat(locks.next(KEY)).isEmpty();
        locks.ended(second);
        assertThat(session.locks).hasValue(0);
        assertThat(locks.next(KEY)).containsExactly(writer(3));
    }

    @Test
    void whoeverIsWithdrawnGetsNothingAndStandsInNobodysWay() throws Exception {
        One one = hold(writer(1));
        turn(writer(2));
        turn(writer(3));
        assertThat(locks.ahead(KEY, writer(3))).isEqualTo(2);
        locks.withdraw(KEY, writer(2));
        locks.ended(one);
        assertThat(locks.next(KEY)).containsExactly(writer(3));
        assertThatThrownBy(() -> turn(writer(2))).isInstanceOf(NotExecutedException.class);
    }

    /** The token may be older than the grant after which the other one was asked for. */
    @Test
    void whatAWaitHasComeToIsForNobodyElse() throws Exception {
        assertThat(turn(writer(1))).isEqualTo(Turn.ASK);
        locks.begin(KEY, LockName.of("a"), Deadline.after(Duration.ZERO));
        locks.waits(KEY, writer(1));
        assertThat(locks.beginWait(KEY)).isEqualTo(writer(1));
        locks.end(KEY);
        assertThat(turn(writer(2))).as("a session waits already").isEqualTo(Turn.WAIT);
        assertThat(locks.withdraw(KEY, writer(1))).isTrue();
        assertThat(locks.won(KEY, session, 9, System.nanoTime())).isNull();

        assertThat(locks.beginWait(KEY)).isEqualTo(writer(2));
        One won = locks.won(KEY, session, 10, System.nanoTime());
        assertThat(won.request()).isEqualTo(writer(2));
        locks.endWait(KEY);
        assertThat(locks.won(KEY, session, 11, System.nanoTime())).isNull();
    }

    @Test
    void whatASessionHadIsOverWithIt() throws Exception {
        One one = hold(reader(1));
        One other = hold(reader(2));
        assertThat(locks.lost(session)).containsExactlyInAnyOrder(one, other);
        assertThat(locks.standing(List.of(one.grant(), other.grant()))).isEmpty();
        assertThat(locks.lostWith(1)).isSameAs(session);
        assertThat(turn(writer(3))).isEqualTo(Turn.ASK);
    }
}
