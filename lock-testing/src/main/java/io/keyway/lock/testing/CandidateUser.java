// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.Candidacy;
import io.keyway.lock.Candidate;
import io.keyway.lock.Election;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockMode;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.history.HeldAnswer;
import io.keyway.lock.tck.journal.Journal;
import io.keyway.lock.tck.journal.MachineClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * Stands for an election, leads for a random time, gives the leadership up in one way or another, and writes down all
 * of it as the lease that it is. Each leader says in a file, again and again, that it leads now.
 */
final class CandidateUser implements Runnable {
    private static final Duration TOLD_WITHIN = Duration.ofSeconds(60);
    private static final Duration HAND_OVER_WITHIN = Duration.ofSeconds(2);
    private static final long BETWEEN_QUESTIONS = Duration.ofMillis(1).toNanos();
    private static final long BETWEEN_ANSWERS = Duration.ofMillis(10).toNanos();

    private final Election election;
    private final Journal journal;
    private final Path beacon;
    private final SplittableRandom random;
    private Candidacy candidacy;

    /** @param electors the nodes of which a majority elects; none for the one that has the election's name */
    CandidateUser(
            LockClient client, Journal journal, String name, Collection<String> electors, Path beacon, long seed) {
        Election plain = client.election(name);
        this.election = electors.isEmpty() ? plain : plain.at(NodeSet.of(NodeRule.MAJORITY, electors));
        this.journal = journal;
        this.beacon = beacon;
        this.random = new SplittableRandom(seed);
        this.candidacy = election.stand();
    }

    /** Until the thread is interrupted. */
    @Override
    public void run() {
        try {
            while (!Thread.interrupted()) {
                lead();
                if (random.nextInt(4) == 0) {
                    candidacy.close();
                    candidacy = election.stand();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            candidacy.close();
        }
    }

    private void lead() throws InterruptedException {
        long id = journal.asked(election.name().value(), LockMode.EXCLUSIVE);
        Lease lease;
        try {
            lease = candidacy.elected().toCompletableFuture().get();
        } catch (ExecutionException e) {
            journal.refused(id, String.valueOf(e.getCause()));
            throw new IllegalStateException(e);
        }
        CompletableFuture<Void> told =
                lease.lost().thenAccept(loss -> journal.lost(id, loss)).toCompletableFuture();
        journal.granted(id, lease.token(), lease.ttl());
        boolean held = hold(id, lease);
        if (!held && random.nextBoolean()) {
            // Most of the time that it has to stop.
            LockSupport.parkNanos(lease.ttl().toNanos() / 5);
        }
        journal.releasing(id);
        if (held) {
            giveUp(lease);
        }
        ReleaseOutcome outcome = lease.release();
        journal.released(id, outcome);
        if (!held || outcome == ReleaseOutcome.ALREADY_LOST) {
            awaitNews(id, told);
        }
    }

    private void giveUp(Lease lease) throws InterruptedException {
        switch (random.nextInt(4)) {
            case 0 -> candidacy.surrender();
            case 1 -> {
                candidacy.close();
                candidacy = election.stand();
            }
            case 2 -> handOver();
            default -> lease.close();
        }
    }

    private void handOver() throws InterruptedException {
        try {
            List<Candidate> others =
                    election.candidates().stream().filter(each -> !each.leads()).toList();
            if (!others.isEmpty() && candidacy.isLeading()) {
                candidacy.handOver(others.get(random.nextInt(others.size())).name(), HAND_OVER_WITHIN);
            }
        } catch (LockException | IllegalStateException e) {
            // The store does not answer, or the leadership was lost meanwhile; then it ends as it would otherwise.
        }
    }

    private boolean hold(long id, Lease lease) {
        long use = random.nextLong(
                random.nextInt(8) == 0
                        ? lease.ttl().toNanos() * 3 / 2
                        : lease.ttl().toNanos() / 8);
        HeldAnswer first = ask(lease);
        journal.answered(id, first);
        HeldAnswer last = first;
        long written = 0;
        while (last.held() && last.after() - first.before() < use) {
            if (last.after() - written > BETWEEN_ANSWERS) {
                journal.answered(id, last);
                written = last.after();
                light(last.before());
            }
            LockSupport.parkNanos(BETWEEN_QUESTIONS);
            last = ask(lease);
        }
        journal.answered(id, last);
        return last.held();
    }

    private HeldAnswer ask(Lease lease) {
        long before = MachineClock.now();
        long remaining = lease.remaining().toNanos();
        boolean held = candidacy.isLeading();
        return new HeldAnswer(held, before, MachineClock.now(), remaining);
    }

    private void awaitNews(long id, CompletableFuture<Void> told) throws InterruptedException {
        try {
            told.get(TOLD_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            journal.untold(id);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private void light(long when) {
        try {
            Files.writeString(beacon, when + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns when somebody has led after that instant. */
    static void awaitLeader(Path beacon, long since) throws IOException {
        while (true) {
            String when = Files.exists(beacon) ? Files.readString(beacon) : "";
            if (when.endsWith("\n") && Long.parseLong(when.strip()) - since > 0) {
                return;
            }
            LockSupport.parkNanos(BETWEEN_QUESTIONS);
        }
    }
}
