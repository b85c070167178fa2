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
 * What users asked while the members were not known, in order. Time limits are the callers' own; who asks hears what
 * stands in the way. On one thread.
 */
final class UnroutedRequests {
    private record Guest(Input.Command command, long since) {}

    private final List<Guest> guests = new ArrayList<>();
    private final Consumer<Notice> ears;
    private @Nullable Unreachable trouble;

    UnroutedRequests(Consumer<Notice> ears) {
        this.ears = ears;
    }

    /** True if that request waited here; it does no more. */
    boolean withdraw(long request) {
        for (Guest guest : guests) {
            if (guest.command().call() instanceof LockCall.Acquire acquire && acquire.request() == request) {
                guests.remove(guest);
                ears.accept(new LockNotice.Withdrawn(guest.command().key(), request, acquire.user()));
                return true;
            }
        }
        return false;
    }

    void add(Input.Command command, long now) {
        Guest guest = new Guest(command, now);
        guests.add(guest);
        Unreachable known = trouble;
        if (known != null) {
            tell(guest, known.why());
        }
    }

    /** Nobody answers; who waits hears why, once for each cause. */
    void trouble(Unreachable why) {
        if (!why.equals(trouble)) {
            trouble = why;
            guests.forEach(guest -> tell(guest, why.why()));
        }
    }

    private void tell(Guest guest, String why) {
        if (guest.command().call() instanceof LockCall.Acquire acquire) {
            ears.accept(new LockNotice.Trouble(guest.command().key(), acquire.request(), why, acquire.user()));
        }
    }

    /** Nobody will answer before a configuration is changed. */
    void refuse(String why) {
        for (Guest guest : guests) {
            Key key = guest.command().key();
            if (guest.command().call() instanceof LockCall.Acquire acquire) {
                ears.accept(new LockNotice.Failed(key, acquire.request(), why, true, acquire.user()));
            } else {
                ears.accept(new LockNotice.Failed(key, question(guest.command()), why, true, null));
            }
        }
        guests.clear();
    }

    /** Nanoseconds after which a question is to be given up by {@link #expire}; empty for what is no question. */
    static Optional<Long> patience(Input.Command command) {
        long limit = limit(command);
        // Before the caller's own clock rings: this side knows more about why there is no answer.
        return limit == 0 ? Optional.empty() : Optional.of(limit - limit / 16);
    }

    private static long limit(Input.Command command) {
        if (command.call() instanceof LockCall.Show show) {
            return show.limit();
        } else if (command.call() instanceof LockCall.Break request) {
            return request.limit();
        }
        return command.call() instanceof LockCall.ListNames list ? list.limit() : 0;
    }

    /** The time of that question is over: who asked it hears why there is no answer. */
    void expire(Input.Command question) {
        if (guests.removeIf(guest -> guest.command().equals(question))) {
            late(question);
        }
    }

    private void late(Input.Command question) {
        String why = trouble == null ? "no member of the cluster answered in time" : trouble.why();
        ears.accept(new LockNotice.Failed(question.key(), question(question), why, null));
    }

    /**
     * Who still waits for an answer, in order, each question with the time that is left for it, and each request with
     * the time that it has waited; the lobby is empty then. Questions whose time is over are answered: nothing is asked
     * late, and above all nothing is broken late.
     */
    List<Input.Command> leave(long now) {
        List<Input.Command> left = new ArrayList<>();
        for (Guest guest : guests) {
            Call call = left(guest.command().call(), now - guest.since());
            if (call != null) {
                left.add(new Input.Command(guest.command().key(), call));
            } else {
                late(guest.command());
            }
        }
        guests.clear();
        trouble = null;
        return left;
    }

    private static long question(Input.Command command) {
        if (command.call() instanceof LockCall.Show show) {
            return show.request();
        } else if (command.call() instanceof LockCall.Break request) {
            return request.request();
        }
        return command.call() instanceof LockCall.ListNames list ? list.request() : 0;
    }

    /** Null if nobody waits for the answer any more. */
    private static @Nullable Call left(Call call, long waited) {
        if (call instanceof LockCall.Show show) {
            long left = show.limit() - waited;
            return left <= 0 ? null : new LockCall.Show(show.request(), left);
        } else if (call instanceof LockCall.Break request) {
            long left = request.limit() - waited;
            return left <= 0 ? null : new LockCall.Break(request.request(), request.token(), request.reason(), left);
        } else if (call instanceof LockCall.ListNames list) {
            long left = list.limit() - waited;
            return left <= 0
                    ? null
                    : new LockCall.ListNames(list.request(), list.prefix(), list.after(), list.max(), left);
        }
        return call instanceof LockCall.Acquire acquire ? acquire.after(waited) : call;
    }
}
