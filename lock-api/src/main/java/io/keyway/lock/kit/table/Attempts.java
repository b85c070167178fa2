// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import io.keyway.lock.LockKey;
import io.keyway.lock.kit.table.KnownRows.Done;
import io.keyway.lock.kit.table.KnownRows.Known;
import io.keyway.lock.kit.table.KnownRows.Rule;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The attempts of one client, so that those at one key do not stand in each other's way: while a call for a key is
 * under way others gather, and the first of them takes the rest along, each decided on the row that the one before it
 * leaves, and all written at once. A thousand waiters of one key are a few writes, and an attempt that finds nobody
 * else goes at once, alone.
 *
 * <p><b>States</b> of an attempt. <i>Gathered</i>; <i>leading</i>, and its thread makes the call; <i>under way</i>, in
 * the call of another; <i>answered</i>; <i>gone</i>, when its own time is over, or its thread is interrupted.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>At most one attempt of a key leads, and while there are others, one does.
 *   <li>A write grants one lease at most, since its version is the token: whoever might be granted too, and all who
 *       came after him, wait for the next write.
 *   <li>Who is gone while it is gathered was surely not carried out; under way, it may be, or may have been.
 *   <li>What surely was not carried out for the one that led is carried out for the others by the next one: its time
 *       is not theirs.
 * </ul>
 */
final class Attempts {

    private enum State {
        GATHERED,
        LEADING,
        UNDER_WAY,
        ANSWERED,
        GONE
    }

    /** One attempt. Its state changes with the map's lock of its key held, but to ANSWERED, which its leader says. */
    private static final class Asked {
        final Rule<Attempt> rule;
        final Thread thread = Thread.currentThread();
        volatile State state = State.GATHERED;

        @Nullable
        Done<Attempt> done;

        @Nullable
        Exception failure;

        Asked(Rule<Attempt> rule) {
            this.rule = rule;
        }

        void answer(@Nullable Done<Attempt> answer, @Nullable Exception why) {
            done = answer;
            failure = why;
            state = State.ANSWERED;
            if (thread != Thread.currentThread()) { // it does not park, and would wake up from its next park at once
                LockSupport.unpark(thread);
            }
        }

        Done<Attempt> result() throws Exception {
            if (failure != null) {
                throw failure;
            }
            if (done == null) {
                throw new IllegalStateException("an attempt has been answered by nothing");
            }
            return done;
        }
    }

    /**
     * What a write makes of attempts: of each in order its answer, or why it is refused; of those after the last
     * nothing yet.
     */
    record Outcome(@Nullable Attempt answer, @Nullable NotExecutedException refusal) {}

    private final KnownRows rows;

    /** Those that are gathered, for each key of which an attempt leads. */
    private final Map<LockKey, Deque<Asked>> keys = new ConcurrentHashMap<>();

    Attempts(KnownRows rows) {
        this.rows = rows;
    }

    /**
     * Carries out the attempt, maybe with others.
     *
     * @param guess what is known of the row, asked when it is needed; null if the row has to be read
     */
    Done<Attempt> ask(LockKey key, Supplier<@Nullable Known> guess, Deadline deadline, Rule<Attempt> rule)
            throws Exception {
        Asked own = new Asked(rule);
        enter(key, own);
        await(key, own, deadline);
        if (own.state == State.LEADING) {
            lead(key, own, guess.get(), deadline);
        }
        return own.result();
    }

    private void enter(LockKey key, Asked own) {
        keys.compute(key, (same, gathered) -> {
            if (gathered == null) {
                own.state = State.LEADING;
                return new ArrayDeque<>(0);
            }
            gathered.addLast(own);
            return gathered;
        });
    }

    /** Returns when the attempt is to lead, or is answered. */
    private void await(LockKey key, Asked own, Deadline deadline) throws Exception {
        boolean interrupted = false;
        while (own.state == State.GATHERED || own.state == State.UNDER_WAY) {
            long left = deadline.nanos();
            interrupted |= Thread.interrupted();
            if (interrupted || left == 0) {
                State last = leave(key, own);
                if (last == State.LEADING && interrupted) {
                    pass(key);
                }
                if (last == State.GATHERED || last == State.UNDER_WAY || (interrupted && last == State.LEADING)) {
                    throw gone(key, last, interrupted);
                }
            } else {
                LockSupport.parkNanos(own, left);
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static Exception gone(LockKey key, State last, boolean interrupted) {
        if (interrupted) {
            return new InterruptedException();
        }
        return last == State.GATHERED
                ? new NotExecutedException("the time was over before others of this client had asked for " + key)
                : new TimeoutException("no answer in time to others of this client, who asked for " + key + " too");
    }

    /** Takes the attempt out, unless it is to lead or is answered; returns in which state it was. */
    private State leave(LockKey key, Asked own) {
        State[] last = {State.ANSWERED};
        keys.computeIfPresent(key, (same, gathered) -> {
            last[0] = own.state;
            if (last[0] == State.GATHERED) {
                gathered.remove(own);
            }
            if (last[0] == State.GATHERED || last[0] == State.UNDER_WAY) {
                own.state = State.GONE;
            }
            return gathered;
        });
        return last[0];
    }

    /** The next one leads; if there is none, nobody does. */
    private void pass(LockKey key) {
        keys.computeIfPresent(key, (same, gathered) -> {
            Asked next = gathered.pollFirst();
            if (next == null) {
                return null;
            }
            next.state = State.LEADING;
            LockSupport.unpark(next.thread);
            return gathered;
        });
    }

    /** Takes along who is gathered by now. */
    private void gather(LockKey key, List<Asked> along) {
        keys.computeIfPresent(key, (same, gathered) -> {
            along.removeIf(asked -> asked.state == State.GONE);
            gathered.forEach(asked -> asked.state = State.UNDER_WAY);
            along.addAll(gathered);
            gathered.clear();
            return gathered;
        });
    }

    /** Puts back, in their order, before those who came since, who were taken along and are not carried out yet. */
    private void putBack(LockKey key, List<Asked> along) {
        keys.computeIfPresent(key, (same, gathered) -> {
            for (int i = along.size() - 1; i >= 0; i--) {
                Asked asked = along.get(i);
                if (asked.state == State.UNDER_WAY) {
                    asked.state = State.GATHERED;
                    gathered.addFirst(asked);
                }
            }
            return gathered;
        });
    }

    private void lead(LockKey key, Asked own, @Nullable Known guess, Deadline deadline) throws Exception {
        List<Asked> along = new ArrayList<>();
        try {
            Done<List<Outcome>> done =
                    rows.change(key, guess, (row, look) -> together(List.of(own), row, look), deadline, (row, look) -> {
                        gather(key, along);
                        List<Asked> all = new ArrayList<>(along.size() + 1);
                        all.add(own);
                        all.addAll(along);
                        return together(all, row, look);
                    });
            List<Outcome> outcomes = done.answer();
            answer(own, outcomes.get(0), done.row());
            for (Outcome outcome : outcomes.subList(1, outcomes.size())) {
                answer(along.remove(0), outcome, done.row());
            }
        } catch (NotExecutedException e) {
            throw e;
        } catch (Exception e) {
            for (Asked asked : along) {
                asked.answer(null, new ExecutionException("no answer to the write that it went along with: " + e, e));
            }
            throw e;
        } finally {
            putBack(key, along);
            pass(key);
        }
    }

    private static void answer(Asked asked, Outcome outcome, Row row) {
        Attempt answer = outcome.answer();
        asked.answer(answer == null ? null : new Done<>(answer, row), outcome.refusal());
    }

    /** Decides them one after the other, until a second one would be granted. */
    private static Step<List<Outcome>> together(List<Asked> all, Row row, RowRules.Look look) {
        Row after = row;
        List<Outcome> outcomes = new ArrayList<>(all.size());
        List<Entry> heard = new ArrayList<>();
        List<Notice> notices = new ArrayList<>();
        boolean granted = false;
        boolean writes = false;
        boolean renews = true;
        for (Iterator<Asked> each = all.iterator(); each.hasNext(); ) {
            Step<Attempt> step;
            try {
                step = each.next().rule.of(after, look);
            } catch (NotExecutedException e) {
                outcomes.add(new Outcome(null, e));
                continue;
            }
            boolean grants = step.answer() instanceof Attempt.Granted;
            if (granted && grants) {
                break;
            }
            granted |= grants;
            writes |= step.writes();
            renews &= !step.writes() || step.renews();
            after = step.row();
            heard.addAll(step.heard());
            notices.addAll(step.notices());
            outcomes.add(new Outcome(step.answer(), null));
        }
        return new Step<>(after, outcomes, heard, notices, writes, writes && renews);
    }
}
