// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockException;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.spi.BorrowingEngine;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request on its way to a lease.
 *
 * <p><b>States.</b> One atomic state decides the races of property R18: it goes from PENDING to GRANTED (by the engine)
 * or to GONE (time out, interrupt, cancel, close, refusal) once.
 *
 * <p><b>Events.</b> The engine speaks to the lease, which passes on to this what it is told before it is granted, and
 * lets go of it then: waiting, closed, refused, granted, failed, doubt, certain. The caller waits for the outcome, with
 * a limit or without end, or gives up; the client is closed.
 *
 * <p><b>Invariants.</b> Who moves it to GONE withdraws the request; a grant that comes later finds it GONE and is
 * released by its token, or taken by who said so before. The outcome is reported once. While it is PENDING the client's
 * close finds it. Of one grant a change of mode is sent when those before it that are GONE have been withdrawn.
 */
final class PendingAcquire extends Registry.Node {

    private static final Logger LOG = System.getLogger(PendingAcquire.class.getName());
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(PendingAcquire.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final int PENDING = 0;
    private static final int GRANTED = 1;
    private static final int GONE = 2;

    private final ClientContext client;
    private final HeldLease lease;
    private final Request request;
    private final long askedAt;
    private final @Nullable Duration wait;

    /** The lease whose grant changes its mode; null for a grant of its own. */
    private final @Nullable HeldLease from;

    /** The change of the same grant that was asked for before this one, if that is not over; null if there is none. */
    private @Nullable PendingAcquire former;

    /** Of a change of mode: done when the call of the engine by which it was asked for is over, or will not be made. */
    private final @Nullable CompletableFuture<@Nullable Void> sent;

    /** Of a change of mode: done when the engine knows that nobody wants it any more. */
    private final @Nullable CompletableFuture<@Nullable Void> gone;

    /** How it went: the lease, or empty where another holds the lock; or a LockException. */
    private final CompletableFuture<Optional<Lease>> outcome = new CompletableFuture<>();

    private volatile int state = PENDING;
    /** The last word of the authority was that it waits for others. */
    private volatile boolean answered;
    /** Its listeners know that it waits. */
    private boolean toldWaiting;

    private volatile @Nullable String trouble;
    /** Since when it is in trouble, if it is. */
    private volatile long troubledAt;

    /** Whom the thread that waits for this is lent to, once; null if nobody has a use for it. */
    private @Nullable BorrowingEngine borrower;

    /** Ends the wait at its limit, unless a thread waits that sees for itself that its time is up. */
    private volatile TimeSource.@Nullable Scheduled timer;

    /** Run each time when it is told that it waits for others; null if nobody wants to know. */
    private volatile @Nullable Runnable whenWaiting;

    /** Who takes a grant that comes after it was given up, if that changed the mode of another one; null if nobody. */
    private @Nullable Consumer<HeldLease> late;

    /** When it was asked, or told last that it waits for others. */
    private volatile long heardAt;

    /** Set while it is in trouble: an engine may say so once, long before that is worth a line in the log. */
    private volatile TimeSource.@Nullable Scheduled alarm;

    private long alarmAt;

    /** {@code wait} is null for a request that waits without end. */
    PendingAcquire(ClientContext client, HeldLease lease, Request request, @Nullable Duration wait) {
        this(client, lease, request, wait, null);
    }

    /** As above; the grant of {@code from} is to become that of {@code lease}. */
    PendingAcquire(
            ClientContext client, HeldLease lease, Request request, @Nullable Duration wait, @Nullable HeldLease from) {
        this.client = client;
        this.lease = lease;
        this.request = request;
        this.wait = wait;
        this.from = from;
        this.former = from == null ? null : from.changesBy(this);
        while (former != null && former.isOver()) {
            former = former.former;
        }
        this.sent = from == null ? null : new CompletableFuture<>();
        this.gone = from == null ? null : new CompletableFuture<>();
        this.askedAt = client.time().nanoTime();
        this.heardAt = askedAt;
    }

    /** In which mode the lock is asked for. */
    LockMode mode() {
        return request.mode();
    }

    long askedAt() {
        return askedAt;
    }

    /** Has that run each time when it is told that it waits for others. Before it is sent. */
    void onWaiting(Runnable task) {
        whenWaiting = task;
    }

    /**
     * Has that run if the mode of a grant has been changed just when that was given up: the lease in the new mode has
     * taken the place of the old one. Before it is sent; otherwise the grant goes back, and the old lease is lost.
     */
    void onLate(Consumer<HeldLease> task) {
        late = task;
    }

    /** Whether it is to change the mode of a grant. */
    boolean isChange() {
        return from != null;
    }

    /** Whether all that the engine tells is the lease's by now. */
    boolean isGranted() {
        return state == GRANTED;
    }

    /** How it went, as {@link #send} gives it. */
    CompletableFuture<Optional<Lease>> outcome() {
        return outcome;
    }

    /** Sends the request; the outcome may be there when this returns. */
    CompletionStage<Optional<Lease>> send() {
        return send(false);
    }

    /** As {@link #send}, by a thread that calls {@link #await} or {@link #awaitOutcome} next. */
    void sendWaiting() {
        send(true);
    }

    private CompletionStage<Optional<Lease>> send(boolean callerWaits) {
        if (!client.pending().add(this)) {
            if (STATE.compareAndSet(this, PENDING, GONE)) {
                complete(gone);
                outcome.completeExceptionally(
                        new ClientClosedException(client.name(), request.key().name()));
            }
            complete(sent);
            return outcome;
        }
        CompletionStage<?> withdrawals = withdrawals();
        if (withdrawals == null) {
            sendNow(callerWaits);
        } else {
            // It would overtake them, and be refused.
            withdrawals.whenComplete((done, failure) -> sendNow(false));
        }
        return outcome;
    }

    private static void complete(@Nullable CompletableFuture<@Nullable Void> stage) {
        if (stage != null) {
            stage.complete(null);
        }
    }

    /** Whether the engine is to hear nothing more of this change of mode. */
    private boolean isOver() {
        return state == GRANTED || (sent != null && sent.isDone() && gone != null && gone.isDone());
    }

    /** Done when the engine knows of those before this one that were given up; null if it does. */
    private @Nullable CompletionStage<?> withdrawals() {
        CompletableFuture<?> all = null;
        for (PendingAcquire each = former; each != null; each = each.former) {
            if (each.state == GONE && !each.isOver() && each.sent != null && each.gone != null) {
                CompletableFuture<?> own = CompletableFuture.allOf(each.sent, each.gone);
                all = all == null ? own : CompletableFuture.allOf(all, own);
            }
        }
        return all;
    }

    private void sendNow(boolean callerWaits) {
        try {
            ask(callerWaits);
        } finally {
            complete(sent);
        }
    }

    private void ask(boolean callerWaits) {
        if (state != PENDING) {
            // Given up before it was sent: who did that found nothing in the registry.
            client.pending().remove(this);
            return;
        }
        lease.asks(this);
        try {
            submit(callerWaits);
        } catch (RuntimeException | Error e) {
            // However far it came: nobody waits for it any more.
            if (leave()) {
                withdrawFromEngine();
                outcome.completeExceptionally(e);
            }
            return;
        }
        if (wait != null && state == PENDING && (!callerWaits || client.manualTime())) {
            // Where a test moves the time: who moves it finds the request withdrawn, not a thread about to do so.
            timer = client.time().at(timeLimit(wait), this::timeUp);
            if (state != PENDING) {
                cancel(timer);
            }
        }
        if (state == GONE) {
            // Given up while it was being sent, perhaps before the engine knew of it.
            withdrawFromEngine();
        }
    }

    private void submit(boolean callerWaits) {
        if (from != null) {
            client.engine().convert(from.hold(), from.token(), request, lease);
        } else if (callerWaits && (wait == null || wait.compareTo(client.requestTimeout()) >= 0)) {
            // A call on the caller's thread takes no longer than the request timeout.
            borrower = client.engine() instanceof BorrowingEngine engine ? engine : null;
            client.engine().submitWaiting(request, lease);
        } else {
            client.engine().submit(request, lease);
        }
    }

    /** Blocks until the outcome is there; an interrupt withdraws the request, unless the grant was first. */
    Optional<Lease> await() throws InterruptedException {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return outcomeInTime();
                } catch (InterruptedException e) {
                    if (withdraw()) {
                        throw e;
                    }
                    // Decided already: the outcome is being written.
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Blocks until the outcome is there; an interrupt is kept for later. */
    Optional<Lease> awaitOutcome() {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return outcomeInTime();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** A thread that cannot wait gives the request up. */
    private Optional<Lease> outcomeInTime() throws InterruptedException {
        while (true) {
            try {
                return inTime();
            } catch (RuntimeException e) {
                // No time passes, or this thread is to run what it waits for. Unless it was decided just now.
                if (withdraw()) {
                    throw e;
                }
            } catch (Error e) {
                leaveBehind();
                throw e;
            } catch (ExecutionException e) {
                throw Failures.rethrow(e.getCause());
            }
        }
    }

    /** Its thread has too little stack or memory to wait. */
    private void leaveBehind() {
        if (!withdraw()) {
            CompletionStage<Optional<Lease>> stage = outcome;
            stage.thenAccept(granted -> granted.ifPresent(Lease::releaseAsync));
        }
    }

    /** Waits for the outcome, or brings it about when the time is up. */
    private Optional<Lease> inTime() throws InterruptedException, ExecutionException {
        BorrowingEngine engine = borrower;
        if (engine != null && !outcome.isDone()) {
            borrower = null;
            engine.lend(request, lendable());
        }
        if (outcome.isDone()) {
            return outcome.get();
        }
        if (wait != null && timer == null && state == PENDING) {
            try {
                return client.time().await(outcome, timeLimit(wait));
            } catch (TimeoutException e) {
                timeUp();
            }
        }
        return client.time().await(outcome);
    }

    /** How long the engine may use this thread, so that it is back in time. */
    private Duration lendable() {
        if (client.manualTime()) {
            return Duration.ZERO;
        }
        if (wait == null) {
            return Duration.ofDays(1);
        }
        long left = timeLimit(wait)
                - client.time().nanoTime()
                - client.requestTimeout().toNanos();
        return Duration.ofNanos(Math.max(0, left));
    }

    /** Nobody wants the grant any more; false if it is decided already. */
    boolean withdraw() {
        if (!leave()) {
            return false;
        }
        tellWithdrawn();
        return true;
    }

    /** As {@link #withdraw()}, in two steps: nobody wants it from now on; all hear of that when the task is run. */
    void withdraw(Consumer<Runnable> later) {
        if (leave()) {
            later.accept(this::tellWithdrawn);
        }
    }

    /** Tells the engine, unless that has granted it since, and all who wait. */
    private void tellWithdrawn() {
        if (state == GONE) {
            left();
        }
        outcome.cancel(false);
    }

    @Override
    int hash() {
        return Long.hashCode(request.id());
    }

    @Override
    void closeWithClient() {
        if (leave()) {
            if (from != null && from.isBelieved()) {
                // A withdrawal might end the grant, before its owner hears of that: its release ends both.
                complete(gone);
                tell(LockEvent.Type.WITHDRAWN);
            } else {
                left();
            }
            outcome.completeExceptionally(
                    new ClientClosedException(client.name(), request.key().name()));
        }
    }

    // What the engine tells, through the lease.

    void waiting() {
        trouble = null;
        heardAt = client.time().nanoTime();
        client.answered();
        answered = true;
        if (!toldWaiting) {
            toldWaiting = true;
            tell(LockEvent.Type.WAITING);
        }
        Runnable task = whenWaiting;
        if (task != null) {
            task.run();
        }
    }

    /** The authority grants it to nobody now: what it said of others does not count any more. */
    void closed(String why) {
        answered = false;
        doubt(why);
    }

    void refused() {
        if (leave()) {
            complete(gone);
            outcome.complete(Optional.empty());
        }
    }

    void granted(LockEngine.Hold hold, long token) {
        if (STATE.compareAndSet(this, PENDING, GRANTED)) {
            try {
                outcome.complete(begin(hold, token));
            } catch (RuntimeException | Error e) {
                // It ends this request, and nothing of the thread that brings the grant.
                try {
                    giveBackUnbegun(hold, token);
                } finally {
                    outcome.completeExceptionally(e);
                }
            }
        } else if (from == null) {
            hold.abandon(token);
        } else if (late != null && STATE.compareAndSet(this, GONE, GRANTED)) {
            try {
                if (begin(hold, token).isPresent()) {
                    late.accept(lease);
                }
            } catch (RuntimeException | Error e) {
                LOG.log(Level.WARNING, "A grant of " + request.key() + " could not begin; it is given back", e);
                giveBackUnbegun(hold, token);
            } finally {
                complete(gone); // not before: what is asked for next is asked of this grant
            }
        } else if (!client.closed() || !(from.isBelieved() || from.endedByClose())) {
            from.ended(LeaseLoss.Cause.EXPIRED, "its grant changed its mode just when that was given up");
            giveBack(from, hold, token);
        } // else the close ends that lease, and its release, when all are notified, this grant
    }

    private Optional<Lease> begin(LockEngine.Hold hold, long token) {
        forget();
        client.answered();
        if (from == null) {
            lease.begin(hold, token);
        } else if (!from.giveWay(lease, hold, token)) {
            giveBack(from, hold, token);
            return Optional.empty();
        }
        return Optional.of(lease);
    }

    /** Its grant was that of {@code from}, which has ended. */
    private void giveBack(HeldLease ended, LockEngine.Hold hold, long token) {
        if (!ended.endedByClose()) { // otherwise the release of the old grant, when all are notified, ends this one
            whenStopped(ended, hold, () -> hold.release(token));
        }
    }

    private void giveBackUnbegun(LockEngine.Hold hold, long token) {
        whenStopped(from, hold, () -> lease.giveBackUnbegun(hold, token));
    }

    /** A lease that was lost by the clock, or unexpectedly, leaves its owner time to stop. */
    private void whenStopped(@Nullable HeldLease ended, LockEngine.Hold hold, Runnable release) {
        if (ended != null && ended.lapsed()) {
            client.time().at(client.time().nanoTime() + hold.ttl().toNanos() / 4, release);
        } else {
            release.run();
        }
    }

    void failed(LockException e) {
        if (leave()) {
            complete(gone);
            outcome.completeExceptionally(e);
        }
    }

    void doubt(String why) {
        if (trouble == null) {
            troubledAt = client.time().nanoTime();
        }
        trouble = why;
        long due = heardAt + client.requestTimeout().toNanos();
        if (client.time().nanoTime() - due >= 0) {
            tellSilence();
        } else if (alarm == null || alarmAt != due) {
            cancel(alarm);
            alarmAt = due;
            alarm = client.time().at(due, this::tellSilence);
            if (state != PENDING) {
                cancel(alarm);
            }
        }
    }

    private void tellSilence() {
        String why = trouble;
        if (why != null && state == PENDING) {
            long now = client.time().nanoTime();
            client.log().unanswered(request.key(), Duration.ofNanos(now - heardAt), why, now);
        }
    }

    void certain() {
        trouble = null;
    }

    private void timeUp() {
        if (!giveUp()) {
            return;
        }
        if (answered) {
            outcome.complete(Optional.empty());
            return;
        }
        outcome.completeExceptionally(silence(wait == null ? Duration.ZERO : wait));
    }

    /** For how many nanoseconds it has been without an answer, or in trouble; -1 if it waits for others. */
    long silentFor() {
        if (answered && trouble == null) {
            return -1;
        }
        return Math.max(0, client.time().nanoTime() - (answered ? troubledAt : heardAt));
    }

    /** Whether the last word of the authority was that it waits for others. */
    boolean isAnswered() {
        return answered;
    }

    /** The exception of a wait that ended without an answer. */
    LockUnavailableException silence(Duration limit) {
        String why = trouble;
        return new LockUnavailableException(
                "No answer about " + request.key() + " within "
                        + ResolvedOptions.text(limit)
                        + " from " + client.server()
                        + (why == null ? client.unconnected() : ": " + why.replaceFirst("\\.$", ""))
                        + ". The request was withdrawn; try again, or wait longer.",
                request.key().name(),
                client.server(),
                null);
    }

    /** Leaves with a withdrawal: the engine has not decided. */
    private boolean giveUp() {
        if (!leave()) {
            return false;
        }
        left();
        return true;
    }

    private void left() {
        withdrawFromEngine();
        tell(LockEvent.Type.WITHDRAWN);
    }

    /** An engine that fails here must not keep whoever waits for the outcome. */
    private void withdrawFromEngine() {
        try {
            if (from == null) {
                client.engine().withdraw(request);
            } else {
                client.engine().withdraw(from.hold(), request);
            }
        } catch (RuntimeException | Error e) {
            LOG.log(Level.WARNING, "Could not withdraw the request for " + request.key() + "; it expires", e);
        } finally {
            complete(gone);
        }
    }

    private boolean leave() {
        if (!STATE.compareAndSet(this, PENDING, GONE)) {
            return false;
        }
        forget();
        return true;
    }

    private void forget() {
        client.pending().remove(this);
        cancel(timer);
        cancel(alarm);
    }

    private static void cancel(TimeSource.@Nullable Scheduled armed) {
        if (armed != null) {
            armed.cancel();
        }
    }

    private void tell(LockEvent.Type type) {
        boolean shown = type == LockEvent.Type.WAITING || !request.mode().isIntention();
        if (client.listened() && shown) {
            long after = client.time().nanoTime() - askedAt;
            client.tell(type, request.key(), OptionalLong.empty(), Optional.empty(), after);
        }
    }

    @Override
    public String toString() {
        return "request for " + request.key();
    }

    private long timeLimit(Duration limit) {
        return askedAt + Waits.nanos(limit);
    }
}
