// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.LockEngine;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A request of a {@link StoreEngine} outside of its machine, from its submission until nothing of it is left: its sink,
 * its grant as the lease sees it, once there is one, and the caller's thread that waits for a call of the store.
 *
 * <p>A thread that waits for a call can as well make it, which saves two changes of thread: it makes the first call
 * that is offered to it, or none.
 */
final class StoreHold implements LockEngine.Hold {

    private static final int SPINS = 200;
    private static final Runnable NOBODY_WAITS = StoreHold::nobodyWaits;
    private static final VarHandle OFFERED;

    static {
        try {
            OFFERED = MethodHandles.lookup().findVarHandle(StoreHold.class, "offered", Runnable.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** How the machine is told that a grant is given back; false if it is over already. */
    @FunctionalInterface
    private interface GiveBack {
        boolean input(StoreMachine machine, long id, long now);
    }

    final long id;
    final LockEngine.Sink sink;
    private final StoreCalls calls;
    private final CompletableFuture<Answer> released = new CompletableFuture<>();

    /** Set before the sink hears of the grant. */
    private @Nullable Grant grant;

    private volatile long deadline;
    private volatile @Nullable StoreHold successor;

    /** The call that the caller's thread is to make; null while it waits for one. */
    private volatile @Nullable Runnable offered = NOBODY_WAITS;

    StoreHold(StoreCalls calls, long id, LockEngine.Sink sink) {
        this.calls = calls;
        this.id = id;
        this.sink = sink;
    }

    // What the lease asks.

    @Override
    public Duration ttl() {
        Grant held = grant;
        if (held == null) {
            throw new IllegalStateException("request " + id + " has no grant");
        }
        return held.ttl();
    }

    @Override
    public long deadlineNanos() {
        return deadline;
    }

    @Override
    public CompletionStage<Answer> release(long token) {
        return giveBack(StoreMachine::release, false);
    }

    @Override
    public CompletionStage<Answer> releaseWaiting(long token) {
        return giveBack(StoreMachine::release, true);
    }

    @Override
    public CompletionStage<Answer> abandon(long token) {
        return giveBack(StoreMachine::abandon, false);
    }

    private CompletionStage<Answer> giveBack(GiveBack way, boolean callerWaits) {
        StoreHold next = successor;
        if (next != null) {
            // Whoever gives this back did not see it change: the store has one grant in place of the other.
            return next.giveBack(way, callerWaits);
        }
        if (!released.isDone()) {
            StoreMachine.Input input = (machine, now) -> {
                if (!way.input(machine, id, now)) {
                    releasedLate();
                }
            };
            if (callerWaits) {
                inputByCaller(input);
            } else {
                calls.input(input);
            }
        }
        return released.minimalCompletionStage();
    }

    @Override
    public void lapsed(long token) {
        StoreHold next = successor;
        if (next != null) {
            next.lapsed(token);
            return;
        }
        calls.input((machine, now) -> {
            if (!machine.lapsed(id, now) && successor != null) {
                // It came too late for the grant: it ends what that has become.
                lapsed(token);
            }
        });
    }

    @Override
    public Optional<String> server() {
        return Optional.of(calls.server());
    }

    /** As {@link #lapsed}, of a release. */
    private void releasedLate() {
        StoreHold next = successor;
        if (next == null) {
            released.complete(Answer.NOT_HELD);
        } else {
            CompletionStage<Answer> answer = next.giveBack(StoreMachine::release, false);
            answer.whenComplete((said, failure) -> released.complete(failure == null ? said : Answer.UNKNOWN));
        }
    }

    // What the engine tells.

    void granted(Grant held, long deadlineNanos) {
        grant = held;
        deadline = deadlineNanos;
        sink.granted(this, held.token());
    }

    void extend(long deadlineNanos) {
        deadline = deadlineNanos;
    }

    /** The grant has become another one. */
    void becomes(StoreHold next) {
        successor = next;
    }

    void answer(Answer answer) {
        released.complete(answer);
    }

    /** Nothing of the grant is left. */
    void gone() {
        if (successor == null) {
            released.complete(Answer.NOT_HELD);
        }
    }

    // The caller's thread.

    /** Gives that input; the calling thread makes the call that follows from it, if it may. */
    void inputByCaller(StoreMachine.Input input) {
        boolean waits = calls.mayRunOnCaller();
        if (waits) {
            offered = null;
        }
        calls.input(input);
        if (waits) {
            makeOffered();
        }
    }

    /** Hands a call to the caller's thread; false if none waits, or it has one. */
    boolean offer(Runnable call) {
        return OFFERED.compareAndSet(this, (Runnable) null, call);
    }

    /**
     * Makes the call that is offered, now or in a moment; from then on none is accepted. The moment is for another
     * thread that is about to decide on the call: a few steps of the machine.
     */
    private void makeOffered() {
        for (int spins = 0; offered == null && spins < SPINS; spins++) {
            Thread.onSpinWait();
        }
        Runnable call = (Runnable) OFFERED.getAndSet(this, NOBODY_WAITS);
        if (call != null) {
            call.run();
        }
    }

    private static void nobodyWaits() {}
}
