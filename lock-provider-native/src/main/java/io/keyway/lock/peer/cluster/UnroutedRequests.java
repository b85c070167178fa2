// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.ClientView.Unreachable;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockNotice;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What users asked while the members were not known, in order. Time limits are the callers' own; who asks hlistener
 * what stands in the way. On one thread.
 */
final class UnroutedRequests {
    private record Waiter(Input.Command command, long since) {}

    private final List<Waiter> waiters = new ArrayList<>();
    private final Consumer<Notice> listener;
    private @Nullable Unreachable trouble;

    UnroutedRequests(Consumer<Notice> listener) {
        this.listener = listener;
    }

    /** True if that request waited here; it does no more. */
    boolean withdraw(long request) {
        for (Waiter waiter : waiters) {
            if (waiter.command().call() instanceof LockCall.Acquire acquire && acquire.request() == request) {
                waiters.remove(waiter);
                listener.accept(new LockNotice.Withdrawn(waiter.command().key(), request, acquire.user()));
                return true;
            }
        }
        return false;
    }

    void add(Input.Command command, long now) {
        Waiter waiter = new Waiter(command, now);
        waiters.add(waiter);
        Unreachable known = trouble;
        if (known != null) {
            tell(waiter, known.why());
        }
    }

    /** Nobody answers; those who wait hear why, once for each cause. */
    void trouble(Unreachable why) {
        if (!why.equals(trouble)) {
            trouble = why;
            waiters.forEach(waiter -> tell(waiter, why.why()));
        }
    }

    private void tell(Waiter waiter, String why) {
        if (waiter.command().call() instanceof LockCall.Acquire acquire) {
            listener.accept(new LockNotice.Trouble(waiter.command().key(), acquire.request(), why, acquire.user()));
        }
    }

    /** Nobody will answer before a configuration is changed. */
    void refuse(String why) {
        for (Waiter waiter : waiters) {
            Key key = waiter.command().key();
            if (waiter.command().call() instanceof LockCall.Acquire acquire) {
                listener.accept(new LockNotice.Failed(key, acquire.request(), why, true, acquire.user()));
            } else if (waiter.command().call() instanceof LockCall.Question question) {
                listener.accept(new LockNotice.Failed(key, question.request(), why, true, null));
            }
        }
        waiters.clear();
    }

    /** Nanoseconds after which a question is to be given up by {@link #expire}; empty for what is no question. */
    static Optional<Long> patience(Input.Command command) {
        // Before the caller's own clock rings: this side knows more about why there is no answer.
        return command.call() instanceof LockCall.Question question && question.limit() > 0
                ? Optional.of(question.limit() - question.limit() / 16)
                : Optional.empty();
    }

    /** The time of that question is over: who asked it hlistener why there is no answer. */
    void expire(Input.Command command) {
        if (waiters.removeIf(waiter -> waiter.command().equals(command))) {
            late(command);
        }
    }

    private void late(Input.Command command) {
        if (command.call() instanceof LockCall.Question question) {
            String why = trouble == null ? "no member of the cluster answered in time" : trouble.why();
            listener.accept(new LockNotice.Failed(command.key(), question.request(), why, null));
        }
    }

    /**
     * Who still waits for an answer, in order, each question with the time that is left for it, and each request with
     * the time that it has waited; nobody waits here then. Questions whose time is over are answered: nothing is asked
     * late, and above all nothing is broken late.
     */
    List<Input.Command> takeAll(long now) {
        List<Input.Command> left = new ArrayList<>();
        for (Waiter waiter : waiters) {
            Call call = left(waiter.command().call(), now - waiter.since());
            if (call != null) {
                left.add(new Input.Command(waiter.command().key(), call));
            } else {
                late(waiter.command());
            }
        }
        waiters.clear();
        trouble = null;
        return left;
    }

    /** Null if nobody waits for the answer any more. */
    private static @Nullable Call left(Call call, long waited) {
        if (call instanceof LockCall.Question question) {
            long left = question.limit() - waited;
            return left <= 0 ? null : question.within(left);
        }
        return call instanceof LockCall.Acquire acquire ? acquire.after(waited) : call;
    }
}
