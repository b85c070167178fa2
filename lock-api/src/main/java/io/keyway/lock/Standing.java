// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.spi.ClientServices;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A candidate: the machine that stands, leads and stands again, without a thread of its own.
 *
 * <h2>States</h2>
 *
 * <pre>{@code
 * Back --its time, or at once--> Asked --granted--> Granted --nobody else is to lead--> Leading
 * Granted --a hand-over names another--> Back
 * Granted, Leading --the lease is lost--> Back
 * Leading --surrender, hand-over, release of its lease--> Back
 * Asked --refused, worth another try--> Back
 * Asked --refused for good, or the client is closed--> Ended
 * any --close--> Ended
 * }</pre>
 *
 * <ul>
 *   <li>Back: it does not stand; a timer, a hand-over that it makes, or the end of its work lets it stand again.
 *   <li>Asked: it waits in the queue of the lock.
 *   <li>Granted: it holds the lock, and asks whether a {@link HandOver} names another candidate. It does not lead yet.
 *   <li>Leading: it leads for as long as the lease is held.
 * </ul>
 *
 * <h2>Events</h2>
 *
 * <p>The outcome of the request, the answer about hand-overs, {@code lost()} of the lease, doubt and its end by the
 * client's events, timers, and the calls of the owner; from any thread.
 *
 * <h2>Invariants</h2>
 *
 * <ul>
 *   <li>Who leads is no state: {@link #isLeading} asks the lease, so that belief ends at its deadline.
 *   <li>A state is left once: each event names the state that it is about, and finds it gone if another was first. What
 *       is held or asked for by a state that was left otherwise is given back or withdrawn by whoever left it.
 *   <li>For each ELECTED the listener is notified of one SURRENDERED, after it: the step and the place of its event in
 *       the line are taken together. The listener runs under no lock of ours, also where the event executor runs its
 *       tasks at once.
 *   <li>A leadership is given up in one way, however it ends: the listener is notified, and then its lock is released,
 *       at the latest a quarter of the ttl later ({@link Leading}).
 *   <li>Where work is done under the leadership, this stands again when the work has ended, and not before.
 * </ul>
 */
final class Standing implements Candidacy {
    /** How long one that stepped back stays out of the way of others, at the least. */
    private static final Duration STEP = Duration.ofMillis(200);

    private sealed interface Phase {}

    private record Back() implements Phase {}

    private record Asked(CompletableFuture<Lease> request) implements Phase {}

    private record Granted(Lease lease) implements Phase {}

    private record Ended() implements Phase {}

    /**
     * One leadership, and the way in which its lock is released when it is given up: when the listener has been
     * notified, or has had a quarter of the ttl.
     */
    private final class Leading implements Phase, SharedLease.Grant {
        private final Lease lease;
        /** What users have of the lease: its release gives the leadership up. */
        private final Lease shown;

        private final CompletableFuture<Boolean> told = services.future();
        private final CompletableFuture<ReleaseOutcome> freed = services.future();
        /** Until when the listener has time; null if it is not given up, or was lost. Guarded by {@code step}. */
        private @Nullable Long limit;

        Leading(Lease lease) {
            this.lease = lease;
            this.shown = new SharedLease(this);
        }

        @Override
        public Lease lease() {
            return lease;
        }

        @Override
        public boolean leave() {
            return true;
        }

        /** In one step with the end of the state. */
        void giveUp() {
            long end = services.time().nanoTime() + lease.ttl().toNanos() / 4;
            limit = end;
            services.time().at(end, this::free);
        }

        /** The listener was notified, or had its time. */
        void free() {
            if (told.complete(true)) {
                lease.releaseAsync()
                        .whenComplete((outcome, failure) ->
                                freed.complete(failure == null ? outcome : ReleaseOutcome.UNKNOWN));
            }
        }

        private @Nullable Long limit() {
            synchronized (step) {
                return limit;
            }
        }

        @Override
        public ReleaseOutcome release() {
            surrender(this);
            Long end = limit();
            if (end == null) {
                return lease.release();
            }
            if (!told.isDone() && services.tellsHere()) {
                // The listener may be notified by this thread alone, when its caller has returned.
                return ReleaseOutcome.UNKNOWN;
            }
            awaitTold(end);
            free();
            return lease.release();
        }

        @Override
        public CompletionStage<ReleaseOutcome> releaseAsync() {
            surrender(this);
            return limit() == null ? lease.releaseAsync() : freed.copy();
        }

        /** At most until then; an interrupt is kept for later. */
        private void awaitTold(long end) {
            boolean interrupted = false;
            try {
                while (!told.isDone()) {
                    try {
                        services.time().await(told, end);
                    } catch (InterruptedException e) {
                        interrupted = true;
                    } catch (TimeoutException | ExecutionException | IllegalStateException e) {
                        return; // it had its time, or none passes
                    }
                }
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    private final ElectionLock election;
    private final ClientServices services;
    private final DistributedLock lock;
    private final EventLine line;
    private final CompletableFuture<Void> ended;
    private final Subscription doubts;
    /** Guards the state together with the events that it puts in line. */
    private final Object step = new Object();

    private volatile Phase phase = new Back();
    /** Work is done under the last leadership, which may be over: {@link #workBegins}. Guarded by {@code step}. */
    private boolean working;

    private boolean uncertain;
    private volatile boolean clientClosed;
    private volatile @Nullable Subscription close;
    private CompletableFuture<Lease> elected;
    private volatile TimeSource.@Nullable Scheduled timer;

    private Standing(ElectionLock election, ElectionListener listener) {
        this.election = election;
        this.services = election.services();
        this.lock = election.lock();
        this.line = new EventLine(services, listener);
        this.ended = services.future();
        this.elected = services.future();
        this.doubts = election.listen(this::hear);
    }

    static Standing begin(ElectionLock election, ElectionListener listener) {
        Standing standing = new Standing(election, listener);
        standing.stand(standing.phase);
        Subscription close = standing.services.onClose(standing::endWithClient);
        standing.close = close;
        if (standing.phase instanceof Ended) {
            close.close();
        }
        return standing;
    }

    @Override
    public String name() {
        return election.candidate();
    }

    @Override
    public boolean isLeading() {
        return leadership().isPresent();
    }

    @Override
    public Optional<Lease> leadership() {
        return phase instanceof Leading leading && leading.lease.isHeld()
                ? Optional.of(leading.shown)
                : Optional.empty();
    }

    @Override
    public CompletionStage<Lease> elected() {
        return nextTerm().copy();
    }

    /** Returns the future of the next leadership, or of this one. */
    CompletableFuture<Lease> nextTerm() {
        if (phase instanceof Leading leading) {
            // Its end may have been seen before it was told.
            LeaseLosses.of(leading.lease).ifPresent(loss -> lost(leading.lease, loss.loss()));
        }
        synchronized (step) {
            return elected;
        }
    }

    @Override
    public CompletionStage<Void> ended() {
        return ended.copy();
    }

    // Standing.

    private void stand(Phase from) {
        CompletableFuture<Lease> request = lock.acquireAsync();
        Asked asked = new Asked(request);
        if (!move(from, asked)) {
            discard(request);
            return;
        }
        CompletionStage<Lease> outcome = request;
        outcome.whenComplete((lease, failure) -> {
            if (lease != null) {
                granted(asked, lease);
            } else if (!(failure instanceof CancellationException)) {
                refused(asked, failure);
            }
        });
    }

    private void granted(Asked asked, Lease lease) {
        Granted granted = new Granted(lease);
        if (!move(asked, granted)) {
            lease.releaseAsync();
            return;
        }
        lease.lost().thenAccept(loss -> lost(lease, loss));
        if (!election.isListed()) {
            lead(granted);
            return;
        }
        HandOver.named(election)
                .whenComplete((named, failure) -> services.tell(() -> {
                    // A store that does not say leads to no hand-over: that is a wish, and an election without a leader
                    // is none.
                    if (named == null || named.isEmpty() || named.get().equals(name())) {
                        lead(granted);
                    } else if (stepBack(granted)) {
                        lease.releaseAsync();
                    }
                }));
    }

    private void lead(Granted granted) {
        CompletableFuture<Lease> term;
        Lease lease = granted.lease();
        Leading leading = new Leading(lease);
        if (!lease.isHeld()) {
            return; // lost() goes on
        }
        synchronized (step) {
            if (!move(granted, leading)) {
                return; // whoever left the state goes on
            }
            uncertain = false;
            line.put(event(ElectionEvent.Type.ELECTED, lease, Optional.empty()));
            if (lease.state() == Lease.State.DOUBTFUL) {
                doubt(lease);
            }
            term = elected;
        }
        line.tell();
        // Also if it is lost by then: who waits for it asks the lease, and then waits for the next.
        services.tell(() -> term.complete(leading.shown));
    }

    private void refused(Asked asked, Throwable failure) {
        if (failure instanceof LockException known && known.retryable()) {
            stepBack(asked);
        } else {
            end(asked, failure);
        }
    }

    // The end of a leadership.

    private void lost(Lease lease, LeaseLoss loss) {
        Phase seen = phase;
        if (leaseOf(seen) != lease) {
            return;
        }
        if (loss.cause() == LeaseLoss.Cause.CLIENT_CLOSED) {
            end(seen, closedByClient());
            return;
        }
        Back back = new Back();
        if (leave(seen, back, false) && !isWorking()) {
            stand(back);
        }
    }

    private boolean isWorking() {
        synchronized (step) {
            return working;
        }
    }

    /** Work begins under that leadership, so that this does not stand again before it ends; false if that is over. */
    boolean workBegins(Lease under) {
        synchronized (step) {
            working = phase instanceof Leading leading && leading.shown == under;
            return working;
        }
    }

    /** No work is done any more under the last leadership; this stands again if that is over, or when it is. */
    void workEnded() {
        Phase seen;
        synchronized (step) {
            if (!working) {
                return;
            }
            working = false;
            seen = phase;
        }
        if (seen instanceof Back) {
            stand(seen);
        }
    }

    @Override
    public void surrender() {
        if (phase instanceof Leading leading) {
            surrender(leading);
        }
    }

    private void surrender(Leading leading) {
        Back back = new Back();
        if (leave(leading, back, true)) {
            standLater(back);
        }
    }

    /** Leads no more, and does not stand; empty if it did not lead. */
    private Optional<Back> giveUp() {
        Back back = new Back();
        return phase instanceof Leading leading && leave(leading, back, true) ? Optional.of(back) : Optional.empty();
    }

    @Override
    public boolean handOver(String candidate, Duration limit) throws InterruptedException {
        if (candidate.equals(name()) && isLeading()) {
            return true;
        }
        if (!isLeading()) {
            throw new IllegalStateException(
                    name() + " does not lead " + election.name() + ", so that it has nothing to hand over.");
        }
        return HandOver.to(candidate, election, limit, () -> giveUp().<Runnable>map(back -> () -> stand(back)));
    }

    @Override
    public void close() {
        Phase seen = phase;
        while (!(seen instanceof Ended)) {
            if (end(seen, null)) {
                Lease lease = seen instanceof Leading leading ? leading.shown : leaseOf(seen);
                if (lease != null) {
                    lease.close();
                }
                return;
            }
            seen = phase;
        }
    }

    private boolean end(Phase from, @Nullable Throwable failure) {
        if (!leave(from, new Ended(), failure == null)) {
            return false;
        }
        CompletableFuture<Lease> term;
        synchronized (step) {
            term = elected;
        }
        doubts.close();
        Subscription registered = close;
        if (registered != null) {
            registered.close();
        }
        TimeSource.Scheduled armed = timer;
        if (armed != null) {
            armed.cancel();
        }
        if (from instanceof Asked asked) {
            discard(asked.request());
        }
        services.tell(() -> {
            Throwable why = failure != null
                    ? failure
                    : new CancellationException(
                            "The candidacy of " + name() + " for " + election.name() + " was closed.");
            term.completeExceptionally(why);
            if (failure == null) {
                ended.complete(null);
            } else {
                ended.completeExceptionally(failure);
            }
        });
        return true;
    }

    /** Requests and leases end with the client by themselves, but no timer lets one stand again that stepped back. */
    private void endWithClient() {
        clientClosed = true;
        Phase seen = phase;
        if (seen instanceof Back) {
            end(seen, closedByClient());
        }
    }

    private ClientClosedException closedByClient() {
        return new ClientClosedException(election.clientName(), election.name());
    }

    // Steps.

    private boolean move(Phase from, Phase to) {
        synchronized (step) {
            if (phase != from) {
                return false;
            }
            phase = to;
            return true;
        }
    }

    /**
     * Leaves any state; from Leading the listener is notified.
     *
     * @param givesUp a leadership is given up, and was not lost
     */
    private boolean leave(Phase from, Phase to, boolean givesUp) {
        Leading unheard = null;
        // Outside: the question may be the first to see a loss, and then notifies listeners.
        Optional<LeaseLoss> loss = from instanceof Leading leading
                ? LeaseLosses.of(leading.lease).map(LeaseLostException::loss)
                : Optional.empty();
        synchronized (step) {
            if (!move(from, to)) {
                return false;
            }
            if (from instanceof Leading leading) {
                elected = services.future();
                ElectionEvent over = event(ElectionEvent.Type.SURRENDERED, leading.lease, loss);
                if (!givesUp) {
                    line.put(over);
                } else {
                    leading.giveUp();
                    unheard = line.put(over, leading::free) ? null : leading;
                }
            }
        }
        line.tell();
        if (unheard != null) {
            unheard.free();
        }
        return true;
    }

    private boolean stepBack(Phase from) {
        Back back = new Back();
        if (!move(from, back)) {
            return false;
        }
        standLater(back);
        return true;
    }

    private void standLater(Back back) {
        if (!isWorking()) {
            armStand(back);
        }
        if (clientClosed) {
            end(back, closedByClient());
        }
    }

    private void armStand(Back back) {
        long pause = STEP.toNanos() + ThreadLocalRandom.current().nextLong(STEP.toNanos());
        timer = services.time().at(services.time().nanoTime() + pause, () -> {
            if (phase == back) {
                stand(back);
            }
        });
    }

    private static void discard(CompletableFuture<Lease> request) {
        if (!request.cancel(false)) {
            CompletionStage<Lease> outcome = request;
            outcome.thenAccept(Lease::releaseAsync);
        }
    }

    private static @Nullable Lease leaseOf(Phase phase) {
        if (phase instanceof Granted granted) {
            return granted.lease();
        }
        return phase instanceof Leading leading ? leading.lease : null;
    }

    // Doubt.

    private void hear(LockEvent event) {
        synchronized (step) {
            if (!(phase instanceof Leading leading) || !election.isAbout(event, leading.lease)) {
                return;
            }
            if (event.type() == LockEvent.Type.DOUBTFUL) {
                doubt(leading.lease);
            } else if (event.type() == LockEvent.Type.RECOVERED && uncertain) {
                uncertain = false;
                line.put(event(ElectionEvent.Type.CERTAIN, leading.lease, Optional.empty()));
            }
        }
        line.tell();
    }

    private void doubt(Lease lease) {
        if (!uncertain) {
            uncertain = true;
            line.put(event(ElectionEvent.Type.UNCERTAIN, lease, Optional.empty()));
        }
    }

    private ElectionEvent event(ElectionEvent.Type type, Lease lease, Optional<LeaseLoss> loss) {
        return new ElectionEvent(type, election.name(), name(), OptionalLong.of(lease.token()), loss);
    }

    @Override
    public String toString() {
        return "Candidacy[" + name() + " for " + election.name() + "]";
    }
}
