// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A lease: its state machine, and the sink through which its engine speaks of it.
 *
 * <h2>States</h2>
 *
 * <p>One atomic reference holds the state: a {@link Phase}, or an object that says more, so that the end and its reason
 * are one step.
 *
 * <pre>{@code
 * PENDING, EarlyEnd --granted--> HELD <--doubt, certain--> DOUBT
 * HELD, DOUBT       --its time is over, or it is ended--> LeaseLoss
 * HELD, DOUBT       --release, or change of mode--> RELEASING --somebody waits--> the future of the outcome
 * RELEASING, future --DONE--> RELEASED
 *                   --NOT_HELD--> LeaseLoss
 *                   --UNKNOWN--> the future, completed
 * }</pre>
 *
 * <ul>
 *   <li>PENDING: the request may bring a grant. An {@link EarlyEnd} is PENDING too: the end of the grant was told while
 *       another thread hands it out, and is told to the owner when the lease has begun.
 *   <li>HELD, DOUBT: the owner believes if the clock agrees.
 *   <li>A {@link LeaseLoss}: LOST, for good.
 *   <li>RELEASING: the owner gives it back; a {@link CompletableFuture} replaces it when somebody has to wait for
 *       the outcome. RELEASED, or that future when it is complete: this is over.
 * </ul>
 *
 * <p>What the engine tells before the grant is for the {@link PendingAcquire} that waits for it.
 *
 * <p>Inputs come from any thread: of the engine ({@link LockEngine.Sink}), of the owner, of the clock (the limit and
 * the warning that the owner asked for, the time that an answer to the release may take), and of the close of the
 * client.
 *
 * <h2>Invariants</h2>
 *
 * <ul>
 *   <li>Belief is no part of the state: each question compares the clock with the deadline that the engine moves, and
 *       the first to see it pass makes it LOST (R2).
 *   <li>There is one end, by compare-and-set; who wins tells of it. So a loss is told once, and never of a lease that
 *       was RELEASED (R9).
 *   <li>A grant that was lost by the clock is given back when its owner had a quarter of the ttl to stop, or says by a
 *       release that it has (R3): by the engine where it saw the deadline, here where only the owner's limit was
 *       passed.
 *   <li>Its owner's release is sent once, and names the token. It is answered within the request timeout, by UNKNOWN if
 *       need be; the first answer counts.
 *   <li>A lease that lives, waits for the answer to its release, or has to be given back here, is in
 *       {@link ClientContext#leases}: who closes the client ends what is in there.
 * </ul>
 */
final class HeldLease extends Registry.Node implements Lease, Releasable, LockEngine.Sink {

    enum Phase {
        PENDING,
        HELD,
        DOUBT,
        /** Inside the call that sends the release. */
        RELEASING,
        /** Released, and the answer is DONE. */
        RELEASED,
        /** The state is the future of the outcome. */
        GIVEN_BACK,
        LOST
    }

    /** What was said of a grant that is being handed out by another thread. */
    private record EarlyEnd(Cause cause, String detail) {}

    private static final Logger LOG = System.getLogger(HeldLease.class.getName());
    private static final VarHandle STATE;
    private static final VarHandle LOST_STAGE;
    private static final VarHandle CHANGE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(HeldLease.class, "state", Object.class);
            LOST_STAGE = MethodHandles.lookup().findVarHandle(HeldLease.class, "lostStage", CompletableFuture.class);
            CHANGE = MethodHandles.lookup().findVarHandle(HeldLease.class, "change", PendingAcquire.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ClientContext client;
    private final LockKey key;
    private final LockMode mode;
    private final int permits;
    private final ResolvedOptions options;
    private final @Nullable HoldWarning warning;

    private volatile Object state = Phase.PENDING;

    /** What waits for the grant; null when that is here, and for a grant that was at hand. */
    private volatile @Nullable PendingAcquire pending;

    /** Written by {@link #begin}, before the state is HELD. */
    private LockEngine.@Nullable Hold hold;

    private long token;

    /** When it was granted; before that, when it was asked for, if that is told to anybody; or 0. */
    private long since;

    private @Nullable HoldLimit limit;

    /** The lease with which this one ends, if that has an end; null if it ends by itself. */
    private @Nullable HeldLease endsWith;

    /** What kept a grant that was at hand from beginning; seen by the thread that took it. */
    private @Nullable Throwable unbegun;

    /** Whether it is what a lock over nodes has at one of them: what the loss of it means, its transaction knows. */
    private boolean ofNodes;

    /** Whether its owner has given it up for another mode, and not released it. */
    private volatile boolean givenUp;

    /** The lease that its grant has become in another mode, or becomes now; null if none. */
    private volatile @Nullable HeldLease successor;

    /** The request for another mode that was made last; null if none was. */
    @SuppressWarnings("UnusedVariable") // by the handle
    private volatile @Nullable PendingAcquire change;

    private volatile @Nullable CompletableFuture<LeaseLoss> lostStage;

    HeldLease(ClientContext client, LockKey key, LockMode mode, int permits, ResolvedOptions options) {
        this.client = client;
        this.key = key;
        this.mode = mode;
        this.permits = permits;
        this.options = options;
        Duration warnAfter = options.warnAfter();
        this.warning = warnAfter == null ? null : new HoldWarning(warnAfter, key);
        this.since = client.listened() ? client.time().nanoTime() : 0;
    }

    /**
     * Takes a grant that is at hand without a message; false if there is none. What is
     * to be held at least for some time is held by the store alone.
     */
    boolean reacquire(int capacity) {
        boolean granted = client.mayReacquire()
                && options.holdAtLeast().isZero()
                && client.engine()
                        .reacquire(
                                key,
                                mode,
                                permits,
                                capacity,
                                options.ttl(),
                                options.owner().metadata(),
                                this);
        ensureBegun();
        return granted;
    }

    /** Its owner's limit is that of another lease, which is granted. Before it is asked for. */
    void endsWith(HeldLease other) {
        endsWith = other;
    }

    /** It is to be what a lock over nodes has at one of them. Before it is asked for. */
    void ofNodes(boolean is) {
        ofNodes = is;
    }

    boolean isOfNodes() {
        return ofNodes;
    }

    /** When it was granted. */
    long since() {
        return since;
    }

    /** The request is about to be sent. */
    void asks(PendingAcquire request) {
        pending = request;
    }

    // What the engine tells: before the grant of a request, that is the request's; of a grant at hand, only its end may
    // come before.

    @Override
    public void waiting(OptionalInt ahead, List<Owner> holders) {
        PendingAcquire asking = asking();
        if (asking != null) {
            asking.waiting();
        }
    }

    @Override
    public void closed(String why) {
        PendingAcquire asking = asking();
        if (asking != null) {
            asking.closed(why);
        }
    }

    @Override
    public void refused(List<Owner> holders) {
        PendingAcquire asking = asking();
        if (asking != null) {
            asking.refused();
        }
    }

    @Override
    public void failed(LockException e) {
        PendingAcquire asking = asking();
        if (asking != null) {
            asking.failed(e);
        }
    }

    @Override
    public void granted(LockEngine.Hold granted, long grantedToken) {
        PendingAcquire asked = pending;
        if (asked != null) {
            asked.granted(granted, grantedToken);
        } else if (phase() == Phase.PENDING) {
            beginAtHand(granted, grantedToken);
        } else {
            granted.abandon(grantedToken);
        }
    }

    /** The owner hears what goes wrong, and not the engine, which the owner has called. */
    private void beginAtHand(LockEngine.Hold granted, long grantedToken) {
        try {
            begin(granted, grantedToken);
        } catch (RuntimeException | Error e) {
            unbegun = e;
            giveBackUnbegun(granted, grantedToken);
        }
    }

    private @Nullable PendingAcquire asking() {
        PendingAcquire asked = pending;
        return asked == null || asked.isGranted() ? null : asked;
    }

    /** The grant could not begin: it goes back, and nothing is left of it. */
    void giveBackUnbegun(LockEngine.Hold granted, long grantedToken) {
        if (phase() == Phase.PENDING) {
            state = Phase.RELEASED;
            granted.abandon(grantedToken);
        } else {
            abandon();
        }
    }

    /** The grant is the owner's. */
    void begin(LockEngine.Hold granted, long grantedToken) {
        PendingAcquire asked = pending;
        pending = null; // it is needed no more, for as long as the lease is held
        hold = granted;
        token = grantedToken;
        long now = client.time().nanoTime();
        long askedAt = asked != null ? asked.askedAt() : since == 0 ? now : since;
        since = now;
        HoldLimit same = endsWith == null ? null : endsWith.limit;
        limit = same != null
                ? same.copy()
                : options.limitsHold() ? HoldLimit.of(options, now, granted.deadlineNanos()) : null;
        endsWith = null;
        EarlyEnd early = STATE.getAndSet(this, Phase.HELD) instanceof EarlyEnd told ? told : null;
        tell(LockEvent.Type.GRANTED, now - askedAt);
        if (!client.leases().add(this)) {
            closeWithClient();
            if (asked != null && asked.isChange()) {
                // Listeners know of the lock, which they have held in another mode: they hear of the end first.
                client.events().complete(this::giveBack);
            } else {
                giveBack();
            }
            return;
        }
        if (limit != null) {
            limit.arm(client.time(), this::unlocking, this::state);
        }
        if (warning != null) {
            warning.arm(client.time(), now, this::warn);
        }
        if (early != null) {
            ended(early.cause(), early.detail());
        }
        if (!lives()) {
            cancelTimers();
        }
    }

    @Override
    public void doubt(String why) {
        PendingAcquire asking = asking();
        if (asking != null) {
            asking.doubt(why);
        } else if (STATE.compareAndSet(this, Phase.HELD, Phase.DOUBT)) {
            tell(LockEvent.Type.DOUBTFUL, heldFor());
        }
    }

    @Override
    public void certain() {
        PendingAcquire asking = asking();
        if (asking != null) {
            asking.certain();
        } else if (STATE.compareAndSet(this, Phase.DOUBT, Phase.HELD)) {
            tell(LockEvent.Type.RECOVERED, heldFor());
        }
    }

    @Override
    public void ended(Cause cause, String detail) {
        if (asking() != null) {
            return;
        }
        if (state == Phase.PENDING && STATE.compareAndSet(this, Phase.PENDING, new EarlyEnd(cause, detail))) {
            return;
        }
        lose(cause, detail, client.time().nanoTime());
    }

    // The owner's questions.

    @Override
    public LockName name() {
        return key.name();
    }

    @Override
    public LockMode mode() {
        return mode;
    }

    @Override
    public int permits() {
        return permits;
    }

    @Override
    public OptionalInt permitsOut() {
        return hold().permitsOut();
    }

    @Override
    public long token() {
        return token;
    }

    @Override
    public Duration ttl() {
        return hold().ttl();
    }

    @Override
    public State state() {
        return state(client.time().nanoTime());
    }

    private State state(long now) {
        Phase seen = phase();
        if (seen != Phase.HELD && seen != Phase.DOUBT) {
            return seen == Phase.LOST ? State.LOST : State.RELEASED;
        }
        long deadline = hold().deadlineNanos();
        if (now - deadline >= 0 || (limit != null && now - limit.endNanos >= 0)) {
            lapse(deadline);
            return state();
        }
        return seen == Phase.DOUBT || deadline - now <= hold().ttl().toNanos() / 8 ? State.DOUBTFUL : State.HELD;
    }

    @Override
    public boolean isHeld() {
        State seen = state();
        return seen == State.HELD || seen == State.DOUBTFUL;
    }

    /** As {@link #isHeld}, and nobody is notified if it is not: for those who hold a lock of their own. */
    boolean isBelieved() {
        return lives() && isInTime();
    }

    private boolean isInTime() {
        long now = client.time().nanoTime();
        return now - hold().deadlineNanos() < 0 && (limit == null || now - limit.endNanos < 0);
    }

    /** As {@link #isBelieved}, also while and after its grant becomes that of another lease: by that one. */
    boolean isGrantBelieved() {
        if (isBelieved()) {
            return true;
        }
        HeldLease next = successor;
        if (next == null) {
            return false;
        }
        // Before it begins there are a few steps of the thread that brings it, which may stand still, or go on just
        // now.
        boolean begins = next.isAwaited() && phase() == Phase.RELEASING && isInTime();
        return begins || next.isGrantBelieved();
    }

    /** As {@link #isBelieved}, and without doubt. */
    boolean isSure() {
        return state == Phase.HELD && left() > hold().ttl().toNanos() / 8;
    }

    /** For so long it is believed if it is not renewed; 0 if it is not believed. Tells nobody. */
    long left() {
        return isBelieved() ? leftOfBelief() : 0;
    }

    @Override
    public Duration remaining() {
        return Duration.ofNanos(isHeld() ? leftOfBelief() : 0);
    }

    private long leftOfBelief() {
        // The deadline first: read after the clock, it may be that of a renewal which was sent later than that.
        long deadline = hold().deadlineNanos();
        long now = client.time().nanoTime();
        long left = deadline - now;
        if (limit != null) {
            left = Math.min(left, limit.endNanos - now);
        }
        return Math.max(0, left);
    }

    @Override
    public void ensureHeld() {
        State seen = state();
        LeaseLoss loss = loss();
        if (loss != null) {
            throw new LeaseLostException(key.name(), token, loss);
        }
        if (seen == State.RELEASED) {
            throw new IllegalStateException("The lease of " + key.name() + " with token " + token
                    + " was released; acquire the lock again to go on");
        }
    }

    @Override
    public CompletionStage<LeaseLoss> lost() {
        CompletableFuture<LeaseLoss> stage = lostStage;
        if (stage == null) {
            stage = ClockedFuture.on(client.time());
            if (!LOST_STAGE.compareAndSet(this, null, stage)) {
                return lost();
            }
        }
        // Also seen here: an end that came before the stage was there to be completed.
        state();
        LeaseLoss loss = loss();
        if (loss != null && !stage.isDone()) {
            complete(stage, loss);
        }
        return ClockedFuture.stage(stage);
    }

    // The owner gives it back.

    @Override
    public ReleaseOutcome release() {
        long now = client.time().nanoTime();
        // Where a test moves the time: who moves it finds the release over, not a thread about to see that.
        boolean watch = sendRelease(now, lease -> lease.hold().releaseWaiting(lease.token), !client.manualTime());
        ReleaseOutcome known = outcome();
        return known != null ? known : awaitOutcome(watch, answerLimit(now));
    }

    @Override
    public CompletionStage<ReleaseOutcome> sendRelease() {
        beginRelease();
        return outcomeFuture();
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        CompletionStage<ReleaseOutcome> outcome = sendRelease();
        ReleaseOutcome known = outcome();
        if (known != null) {
            return CompletableFuture.completedStage(known);
        }
        CompletableFuture<ReleaseOutcome> told = ClockedFuture.on(client.time());
        outcome.whenComplete((value, failure) -> client.events().complete(() -> told.complete(value)));
        return ClockedFuture.stage(told);
    }

    @Override
    public void close() {
        try {
            release();
        } catch (RuntimeException e) {
            LOG.log(Level.WARNING, "Could not release " + key + " (token " + token + "); it expires", e);
        }
    }

    // What the client asks.

    LockKey key() {
        return key;
    }

    ResolvedOptions options() {
        return options;
    }

    boolean of(ClientContext other) {
        return client == other;
    }

    /** Whether its grant has not come. */
    boolean isAwaited() {
        return phase() == Phase.PENDING;
    }

    /** Throws what kept a grant at hand from beginning. */
    private void ensureBegun() {
        Throwable why = unbegun;
        if (why instanceof Error error) {
            throw error;
        } else if (why instanceof RuntimeException failure) {
            throw failure;
        }
    }

    /** The client closed while the grant came: the lease was told so, and its release is sent. */
    boolean endedByClose() {
        return state instanceof LeaseLoss loss && loss.cause() == Cause.CLIENT_CLOSED;
    }

    @Override
    int hash() {
        return key.hashCode();
    }

    /** The loss is told now, unless one was told before. */
    @Override
    void closeWithClient() {
        lose(Cause.CLIENT_CLOSED, "the client was closed", client.time().nanoTime());
    }

    @Override
    void giveBack() {
        client.leases().remove(this);
        cancelTimers();
        CompletionStage<Answer> answer = hold().release(token);
        answer.whenComplete((said, failure) -> {
            if (said != Answer.DONE) {
                LOG.log(Level.DEBUG, "The release of {0} (token {1}) was answered {2}", key, token, said);
            }
        });
    }

    @Override
    void endWithClient() {
        conclude(Answer.UNKNOWN);
    }

    // Another mode.

    /** Belief ends now, since the store may grant others before its answer is here; false if it has ended already. */
    boolean giveUp() {
        state();
        if (!end(Phase.RELEASING)) {
            return false;
        }
        givenUp = true;
        finish();
        return true;
    }

    /**
     * The grant has become that of another lease, which begins. This one is RELEASED, or LOST if that cannot begin;
     * false if this one has ended before.
     */
    boolean giveWay(HeldLease to, LockEngine.Hold granted, long grantedToken) {
        successor = to; // before belief in this one ends
        // Who asks for less than it has may have given it up before.
        if (givenUp ? outcome() != null : !giveUp()) {
            successor = null;
            return false;
        }
        try {
            to.begin(granted, grantedToken);
        } catch (RuntimeException | Error e) {
            conclude(Answer.NOT_HELD);
            throw e;
        }
        conclude(Answer.DONE);
        return true;
    }

    /** The lease that has begun in its place; null if none has. */
    private @Nullable HeldLease heir() {
        HeldLease next = successor;
        return next == null || next.isAwaited() ? null : next;
    }

    /** Gives back the grant that was this lease's, whatever lease has that when it is given back. */
    Releasable grant() {
        return new Grant(this);
    }

    private record Grant(HeldLease lease) implements Releasable {
        /** The lease that has it now, unless that is about to change. */
        private HeldLease now() {
            HeldLease now = lease;
            for (HeldLease heir = now.heir(); heir != null; heir = now.heir()) {
                now = heir;
            }
            return now;
        }

        @Override
        public ReleaseOutcome release() {
            HeldLease now = now();
            ReleaseOutcome outcome = now.release();
            HeldLease next = now.successor;
            PendingAcquire comes = next == null ? null : next.pending;
            HeldLease heir = now.heir(); // there, if it has come at all, when the release is answered
            if (heir != null) {
                return new Grant(heir).release();
            } else if (comes != null) {
                // The thread that brings it stands still for longer than an answer may take.
                CompletionStage<Optional<Lease>> stage = comes.outcome();
                stage.thenAccept(granted -> granted.ifPresent(Lease::releaseAsync));
            }
            return outcome;
        }

        @Override
        public CompletionStage<ReleaseOutcome> sendRelease() {
            HeldLease now = now();
            CompletionStage<ReleaseOutcome> outcome = now.sendRelease();
            return now.successor == null
                    ? outcome
                    : outcome.thenCompose(over -> now.heir() == null ? outcome : new Grant(now).sendRelease());
        }

        @Override
        public void close() {
            try {
                release();
            } catch (RuntimeException e) {
                LOG.log(Level.WARNING, "Could not release " + lease.key + "; it expires", e);
            }
        }
    }

    /** That request asks for another mode; returns the one that did before, or null. */
    @Nullable
    PendingAcquire changesBy(PendingAcquire request) {
        return (PendingAcquire) CHANGE.getAndSet(this, request);
    }

    // Ends.

    /** Somebody has seen that it was not believed, and goes by that: it is over, also if it was renewed just then. */
    void endAsSeen() {
        state();
        if (lose(
                Cause.EXPIRED, "no renewal was confirmed in time", client.time().nanoTime())) {
            hold().lapsed(token);
        }
    }

    private void lapse(long deadline) {
        HoldLimit asked = limit;
        if (asked != null && asked.endNanos - deadline <= 0) {
            if (lose(asked.cause, asked.detail, asked.endNanos)) {
                giveBackWhenStopped(asked);
            }
        } else if (lose(Cause.EXPIRED, "no renewal was confirmed in time", deadline)) {
            hold().lapsed(token);
        }
    }

    /** The engine, which renews on, knows nothing of this end: its owner has until then to stop. */
    private void giveBackWhenStopped(HoldLimit asked) {
        if (client.leases().add(this)) {
            asked.arm(client.time(), asked.endNanos + hold().ttl().toNanos() / 4, this::giveBack);
            if (client.closed()) {
                // Who closes it gives it back.
                asked.cancel();
            }
        } else {
            giveBack();
        }
    }

    /** Lost by the clock, and not because the owner, the store or an operator ended it. */
    boolean lapsed() {
        LeaseLoss loss = loss();
        return loss != null && (loss.cause() == Cause.EXPIRED || loss.cause() == Cause.MAX_HOLD);
    }

    private boolean lose(Cause cause, String detail, long at) {
        // Asked first: most calls come for a lease that has ended.
        return lives() && lose(new LeaseLoss(cause, heldUntil(at), hold().server(), detail));
    }

    /** Ends a living lease as LOST; false if it has ended already. */
    private boolean lose(LeaseLoss loss) {
        if (!end(loss)) {
            return false;
        }
        onLost(loss);
        return true;
    }

    private void onLost(LeaseLoss loss) {
        finish();
        if (loss.cause() != Cause.CLIENT_CLOSED && !ofNodes) {
            client.log().lost(key, token, loss, client.time().nanoTime());
        }
        CompletableFuture<LeaseLoss> stage = lostStage;
        if (stage != null) {
            complete(stage, loss);
        }
        tell(LockEvent.Type.LOST, loss.heldFor().toNanos());
    }

    private void onReleased() {
        client.leases().remove(this);
        tell(LockEvent.Type.RELEASED, heldFor());
    }

    /** What a release means that the store answered with "not held". */
    private LeaseLoss goneBeforeRelease() {
        return new LeaseLoss(
                Cause.EXPIRED,
                heldUntil(client.time().nanoTime()),
                hold().server(),
                "the store no longer held it when the release arrived");
    }

    /** Sends the release, once; does not wait. */
    void beginRelease() {
        sendRelease(client.time().nanoTime(), lease -> lease.hold().release(lease.token), false);
    }

    /** Nobody will take this lease: as {@link #beginRelease}, whatever time it was to be held at least. */
    void abandon() {
        sendRelease(client.time().nanoTime(), lease -> lease.hold().abandon(lease.token), false);
    }

    /**
     * Sends the release, unless the lease has ended. True if the caller, who is ready to, has to see to its time limit.
     */
    private boolean sendRelease(long now, Function<HeldLease, CompletionStage<Answer>> way, boolean callerWatches) {
        // The question first: what has lapsed is lost, not released.
        state(now);
        if (!end(Phase.RELEASING)) {
            stopped();
            return false;
        }
        // It stays among the client's leases until the answer: who closes the client ends the wait for it.
        cancelTimers();
        CompletableFuture<Answer> answer;
        try {
            answer = way.apply(this).toCompletableFuture();
        } catch (RuntimeException e) {
            LOG.log(Level.WARNING, "The release of " + key + " (token " + token + ") failed; it expires", e);
            conclude(Answer.UNKNOWN);
            return false;
        }
        if (answer.isDone()) {
            conclude(answer.isCompletedExceptionally() ? Answer.UNKNOWN : answer.join());
            return false;
        }
        TimeSource.Scheduled timer =
                callerWatches ? null : client.time().at(answerLimit(now), () -> conclude(Answer.UNKNOWN));
        CompletionStage<Answer> stage = answer;
        stage.whenComplete((said, failure) -> {
            if (timer != null) {
                timer.cancel();
            }
            conclude(failure != null ? Answer.UNKNOWN : said);
        });
        return callerWatches;
    }

    private long answerLimit(long sentAt) {
        return sentAt + client.requestTimeout().toNanos();
    }

    /** The owner of a lost lease is done with it: an engine that passes the lock on only then need not wait longer. */
    private void stopped() {
        LeaseLoss loss = loss();
        if (loss != null && (lapsed() || loss.cause() == Cause.BROKEN) && !client.closed()) {
            giveBack();
        }
    }

    private void finish() {
        client.leases().remove(this);
        cancelTimers();
    }

    private void cancelTimers() {
        if (limit != null) {
            limit.cancel();
        }
        if (warning != null) {
            warning.cancel();
        }
    }

    private boolean unlocking() {
        boolean held = isHeld();
        if (held) {
            tell(LockEvent.Type.UNLOCKING, heldFor());
        }
        return held;
    }

    private void warn() {
        if (isHeld() && warning != null) {
            warning.log(key, token, heldFor());
            tell(LockEvent.Type.HELD_LONG, heldFor());
        }
    }

    private void complete(CompletableFuture<LeaseLoss> stage, LeaseLoss loss) {
        client.events().complete(() -> stage.complete(loss));
    }

    private long heldFor() {
        return client.time().nanoTime() - since;
    }

    private Duration heldUntil(long at) {
        return Duration.ofNanos(Math.max(0, at - since));
    }

    private void tell(LockEvent.Type type, long afterNanos) {
        // Of a level above a lock of a tree its wait and its trouble are all that concerns anybody.
        boolean trouble =
                type == LockEvent.Type.LOST || type == LockEvent.Type.DOUBTFUL || type == LockEvent.Type.RECOVERED;
        if (client.listened() && (trouble || !mode.isIntention())) {
            client.tell(type, key, OptionalLong.of(token), hold().server(), afterNanos);
        }
    }

    LockEngine.Hold hold() {
        LockEngine.Hold granted = hold;
        if (granted == null) {
            throw new IllegalStateException("not granted yet");
        }
        return granted;
    }

    // The state.

    Phase phase() {
        Object seen = state;
        if (seen instanceof Phase phase) {
            return phase;
        }
        if (seen instanceof EarlyEnd) {
            return Phase.PENDING;
        }
        return seen instanceof LeaseLoss ? Phase.LOST : Phase.GIVEN_BACK;
    }

    /** HELD or DOUBT: the owner may believe, if the clock agrees. */
    private boolean lives() {
        Object seen = state;
        return seen == Phase.HELD || seen == Phase.DOUBT;
    }

    @Nullable
    LeaseLoss loss() {
        return state instanceof LeaseLoss loss ? loss : null;
    }

    /** Ends the life of the lease; true for the one caller who does. */
    private boolean end(Object after) {
        while (true) {
            Object seen = state;
            if (seen != Phase.HELD && seen != Phase.DOUBT) {
                return false;
            }
            if (STATE.compareAndSet(this, seen, after)) {
                return true;
            }
        }
    }

    /** Ends the release with {@code answer}. The first answer counts: a later one changes nothing. */
    ReleaseOutcome conclude(Answer answer) {
        while (true) {
            Object seen = state;
            ReleaseOutcome known = outcomeOf(seen);
            if (known != null) {
                return known;
            }
            Object last = switch (answer) {
                case DONE -> Phase.RELEASED;
                case NOT_HELD -> goneBeforeRelease();
                case UNKNOWN -> CompletableFuture.completedFuture(ReleaseOutcome.UNKNOWN);
            };
            if (!STATE.compareAndSet(this, seen, last)) {
                continue;
            }
            ReleaseOutcome outcome = ReleaseOutcome.UNKNOWN;
            if (last instanceof LeaseLoss loss) {
                outcome = ReleaseOutcome.ALREADY_LOST;
                onLost(loss);
            } else {
                outcome = last == Phase.RELEASED ? ReleaseOutcome.RELEASED : outcome;
                onReleased();
            }
            if (seen instanceof CompletableFuture<?>) {
                future(seen).complete(outcome);
            }
            return outcome;
        }
    }

    /** The outcome, if there is one. */
    private @Nullable ReleaseOutcome outcome() {
        return outcomeOf(state);
    }

    /** The future of the outcome; put into the state by the first who has to wait. */
    private CompletableFuture<ReleaseOutcome> outcomeFuture() {
        while (true) {
            Object seen = state;
            ReleaseOutcome known = outcomeOf(seen);
            if (known != null) {
                return CompletableFuture.completedFuture(known);
            }
            if (seen instanceof CompletableFuture<?>) {
                return future(seen);
            }
            CompletableFuture<ReleaseOutcome> fresh = new CompletableFuture<>();
            if (STATE.compareAndSet(this, seen, fresh)) {
                return fresh;
            }
        }
    }

    /** Waits for the outcome; an interrupt is kept for later, since a release that was sent cannot be taken back. */
    private ReleaseOutcome awaitOutcome(boolean watch, long timeUp) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    CompletableFuture<ReleaseOutcome> outcome = outcomeFuture();
                    // Each by its own limit: the thread that watches may fail.
                    return client.manualTime()
                            ? client.time().await(outcome)
                            : client.time().await(outcome, timeUp);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    return ReleaseOutcome.UNKNOWN;
                } catch (TimeoutException e) {
                    return conclude(Answer.UNKNOWN);
                } catch (RuntimeException | Error e) {
                    if (watch) {
                        conclude(Answer.UNKNOWN);
                    }
                    throw e;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static @Nullable ReleaseOutcome outcomeOf(Object seen) {
        if (seen instanceof LeaseLoss) {
            return ReleaseOutcome.ALREADY_LOST;
        }
        if (seen == Phase.RELEASED) {
            return ReleaseOutcome.RELEASED;
        }
        return seen instanceof CompletableFuture<?> ? future(seen).getNow(null) : null;
    }

    @SuppressWarnings("unchecked")
    private static CompletableFuture<ReleaseOutcome> future(Object seen) {
        return (CompletableFuture<ReleaseOutcome>) seen;
    }

    @Override
    public String toString() {
        return "Lease[" + key + ", token " + token + ", " + mode + "]";
    }
}
