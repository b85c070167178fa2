// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import static org.awaitility.Awaitility.await;

import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Three members of which one leads: of the two others one after the other is killed and started again, for as long as
 * this is open, and never more than one is gone. The leader is killed or stopped when it is asked for.
 */
final class CrashingFollowers implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration BETWEEN = Duration.ofSeconds(1);

    private final ThreeMembers members;
    private final Thread killer = new Thread(this::run, "killer");
    private final CountDownLatch closed = new CountDownLatch(1);
    /** Whoever has it may have one member gone. */
    private final Semaphore turn = new Semaphore(1);

    private @Nullable Seat gone;
    private final AtomicInteger kills = new AtomicInteger();
    private volatile @Nullable Throwable failure;

    CrashingFollowers(ThreeMembers members) {
        this.members = members;
        killer.start();
    }

    private void run() {
        try {
            for (int next = 0; !closed.await(BETWEEN.toMillis(), TimeUnit.MILLISECONDS); next++) {
                turn.acquire();
                try {
                    String leader = awaitLeader().id();
                    List<Seat> followers = members.seats().stream()
                            .filter(seat -> !seat.id().equals(leader))
                            .toList();
                    Seat seat = followers.get(next % followers.size());
                    seat.kill();
                    seat.begin();
                    seat.awaitListening();
                    awaitLeader();
                    kills.incrementAndGet();
                } finally {
                    turn.release();
                }
            }
        } catch (Exception | Error e) {
            failure = e;
        }
    }

    private Seat awaitLeader() {
        return await("all members name one leader")
                .atMost(Patience.of(PATIENCE))
                .until(this::leader, Optional::isPresent)
                .orElseThrow();
    }

    /** The member that leads, if all say so, and it too. */
    private Optional<Seat> leader() {
        Set<String> heard = members.seats().stream().map(Seat::leader).collect(Collectors.toSet());
        return members.seats().stream()
                .filter(seat -> heard.equals(Set.of(seat.id())))
                .findAny();
    }

    /** Kills the leader; nobody else is gone until it is back. */
    void killLeader() throws InterruptedException {
        takeLeader().kill();
    }

    void restartLeader() throws InterruptedException {
        Seat seat = givenBack();
        seat.begin();
        seat.awaitListening();
        turn.release();
    }

    /** Stops the leader; nobody else is gone until it goes on. */
    void pauseLeader() throws IOException, InterruptedException {
        takeLeader().stop();
    }

    void resumeLeader() throws IOException, InterruptedException {
        givenBack().cont();
        turn.release();
    }

    private Seat takeLeader() throws InterruptedException {
        turn.acquire();
        Seat leader = awaitLeader();
        gone = leader;
        return leader;
    }

    private Seat givenBack() {
        Seat seat = gone;
        if (seat == null) {
            throw new IllegalStateException("the leader is there");
        }
        gone = null;
        return seat;
    }

    /** How often a follower was killed, and was back when this was called. */
    int kills() {
        return kills.get();
    }

    /** Kills nobody any more; throws what went wrong while it did. */
    @Override
    public void close() throws InterruptedException {
        closed.countDown();
        killer.join();
        if (failure != null) {
            throw new AssertionError("members were not killed and started again until the end", failure);
        }
    }
}
