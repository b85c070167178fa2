// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How a loop measures how late it is, and what it does with a cell that fails; in virtual time. */
class CellLoopTest {
    private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long TTL = 10_000 * MS;
    private static final long TOLERANCE = 100 * MS;

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final Deadline deadline = new Deadline();
    private final List<Throwable> failures = new ArrayList<>();
    private long now = 1_000 * MS;
    private boolean sayingSoFails;

    /** One deadline that was set for somebody else, and whatever else is asked of it. */
    private static final class Deadline implements SessionLayer {
        private final List<String> seen = new ArrayList<>();
        private long due = Turn.NEVER;
        private long expired = Turn.NEVER;
        private boolean poisoned;

        @Override
        public void begin(SessionTurn turn) {
            if (due != Turn.NEVER && turn.now() - due >= 0) {
                due = Turn.NEVER;
                expired = turn.now();
            }
        }

        @Override
        public void opened(long link, SessionTurn turn) {
            seen.add("opened " + link);
            if (poisoned) {
                throw new IllegalStateException("poison");
            }
        }

        @Override
        public void reborn(long life, long guard, String why, SessionTurn turn) {
            seen.add("reborn");
        }

        @Override
        public void stalled(long nanos) {
            due += due == Turn.NEVER ? 0 : nanos;
        }

        @Override
        public void flush(SessionTurn turn) {
            turn.wake(due);
        }

        @Override
        public void arrived(long link, Frame frame, SessionTurn turn) {
            throw new AssertionError("nothing comes");
        }

        @Override
        public void closed(long link, String why, SessionTurn turn) {
            seen.add("closed " + link);
        }

        @Override
        public void died(long session, SessionTurn turn) {
            throw new AssertionError("nobody dies");
        }

        @Override
        public void closing(SessionTurn turn) {
            throw new AssertionError("nobody closes");
        }

        @Override
        public void forced(long ticket, SessionTurn turn) {
            throw new AssertionError("nothing is forced");
        }

        @Override
        public long send(Peer to, Message message) {
            throw new AssertionError("no machine sends");
        }

        @Override
        public SessionLayer copy() {
            throw new AssertionError("nothing is copied");
        }

        @Override
        public void encode(StateEncoder out) {
            throw new AssertionError("nothing is encoded");
        }
    }

    private CellLoop loop(long tolerance, Optional<Input> whenFailed) {
        channel.freezeTime();
        CellLoop.Surroundings surroundings = new CellLoop.Surroundings() {
            @Override
            public void dial(long link) {
                throw new AssertionError("nobody dials");
            }

            @Override
            public void persist(DurableRecord record, long ticket) {
                throw new AssertionError("nothing is kept");
            }

            @Override
            public Optional<Input> failed(Throwable why) {
                failures.add(why);
                if (sayingSoFails) {
                    throw new IllegalStateException("no thread, no log");
                }
                return whenFailed;
            }

            @Override
            public void heard(Notice notice) {
                throw new AssertionError("nothing is told");
            }
        };
        Cell cell = new Cell(new LeaseAlgorithm().clientMachines(), deadline);
        CellLoop loop = new CellLoop(channel.eventLoop(), cell, surroundings, tolerance, () -> now);
        loop.begin(List.of());
        return loop;
    }

    /** The thread does nothing for so long, then all that is due by now. */
    private void standStill(long nanos) {
        now += nanos;
        channel.advanceTimeBy(nanos, TimeUnit.NANOSECONDS);
        channel.runPendingTasks();
    }

    /** The thread has nothing else to do. */
    private void pass(long nanos) {
        for (long left = nanos; left > 0; left -= MS) {
            standStill(MS);
        }
    }

    private long deadlineIn(CellLoop loop, long nanos) {
        deadline.due = now + nanos;
        loop.post(new Input.Tick());
        channel.runPendingTasks();
        return now;
    }

    @Test
    void oneLateTimerPutsADeadlineOffByAsMuchAsItIsLate() {
        long start = deadlineIn(loop(TOLERANCE, Optional.empty()), TTL);
        pass(TTL - 100 * MS);
        standStill(300 * MS);
        assertThat(deadline.expired).isEqualTo(Turn.NEVER);
        pass(TTL);
        assertThat(deadline.expired - start).isBetween(TTL + 300 * MS, TTL + 600 * MS);
    }

    @Test
    void whatCameWhileTheLoopStoodStillIsReadBeforeAnythingExpires() {
        deadlineIn(loop(TOLERANCE, Optional.empty()), TTL);
        pass(TTL / 2);
        standStill(TTL / 2 + 50 * MS);
        assertThat(deadline.expired).isEqualTo(Turn.NEVER);
        pass(TOLERANCE / 2);
        assertThat(deadline.expired).isEqualTo(Turn.NEVER);
        pass(TTL);
        assertThat(deadline.expired).isNotEqualTo(Turn.NEVER);
    }

    @Test
    void aLoopThatIsAlwaysLateExpiresADeadlineAllTheSame() {
        long start = deadlineIn(loop(TOLERANCE, Optional.empty()), TTL);
        while (deadline.expired == Turn.NEVER && now - start < 10 * TTL) {
            standStill(400 * MS);
        }
        assertThat(deadline.expired - start).isBetween(TTL, 3 * TTL);
    }

    @Test
    void twoStallsWithALongQuietTimeBetweenThemBothCount() {
        deadlineIn(loop(TOLERANCE, Optional.empty()), TTL);
        standStill(TTL / 4);
        pass(TTL / 2);
        standStill(TTL / 2 + 300 * MS);
        assertThat(deadline.expired).isEqualTo(Turn.NEVER);
    }

    @Test
    void aLoopWithoutDeadlinesDoesNotLookAtTheClock() {
        CellLoop loop = loop(TOLERANCE, Optional.empty());
        pass(TTL);
        assertThat(channel.runScheduledPendingTasks())
                .as("nothing is scheduled")
                .isEqualTo(-1);
        deadlineIn(loop, TTL);
        assertThat(channel.runScheduledPendingTasks()).isBetween(1L, 100 * MS);
    }

    @Test
    void aClientWakesUpOnlyForWhatIsDue() {
        deadlineIn(loop(Long.MAX_VALUE, Optional.empty()), TTL);
        assertThat(channel.runScheduledPendingTasks()).isEqualTo(TTL);
    }

    @Test
    void aClientsDeadlineIsItsOwn() {
        long start = deadlineIn(loop(Long.MAX_VALUE, Optional.empty()), TTL);
        standStill(TTL);
        assertThat(deadline.expired - start).isEqualTo(TTL);
    }

    @Test
    void aMembersCellThatFailsRunsNoMore() {
        CellLoop loop = loop(TOLERANCE, Optional.empty());
        deadline.poisoned = true;
        loop.post(new Input.Opened(1));
        loop.post(new Input.Opened(2));
        pass(TTL);
        loop.post(new Input.Opened(3));
        pass(MS);
        assertThat(failures).singleElement().asString().contains("poison");
        assertThat(deadline.seen).containsExactly("opened 1");
    }

    @Test
    void aMembersCellThatFailsRunsNoMoreEvenIfNothingElseWorks() {
        CellLoop loop = loop(TOLERANCE, Optional.empty());
        deadline.poisoned = true;
        sayingSoFails = true;
        loop.post(new Input.Opened(1));
        pass(MS);
        deadline.poisoned = false;
        loop.post(new Input.Opened(2));
        pass(MS);
        assertThat(failures).singleElement().asString().contains("poison");
        assertThat(deadline.seen).containsExactly("opened 1");
    }

    @Test
    void aClientsCellThatFailsDropsItsSessionAndGoesOn() {
        CellLoop loop = loop(Long.MAX_VALUE, Optional.of(new Input.Reborn(0, 0, "it has failed")));
        deadline.poisoned = true;
        loop.post(new Input.Opened(1));
        pass(MS);
        deadline.poisoned = false;
        loop.post(new Input.Opened(2));
        pass(MS);
        assertThat(failures).hasSize(1);
        assertThat(deadline.seen).containsExactly("opened 1", "reborn", "opened 2");
    }

    @Test
    void whatIsPostedToAThreadThatHasEndedIsDropped() {
        LoopThread thread = new LoopThread("ended");
        CellLoop loop = new CellLoop(
                thread.loop(),
                new Cell(new LeaseAlgorithm().clientMachines(), deadline),
                new Unasked(),
                Long.MAX_VALUE);
        thread.close();
        loop.post(new Input.Opened(1));
        loop.post(new Input.Opened(2));
        assertThat(deadline.seen).isEmpty();
    }

    private static final class Unasked implements CellLoop.Surroundings {
        @Override
        public void dial(long link) {
            throw new AssertionError("nobody dials");
        }

        @Override
        public void persist(DurableRecord record, long ticket) {
            throw new AssertionError("nothing is kept");
        }

        @Override
        public Optional<Input> failed(Throwable why) {
            throw new AssertionError(why);
        }

        @Override
        public void heard(Notice notice) {
            throw new AssertionError("nothing is told");
        }
    }
}
