// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The verbs of a backend, as pure functions of a row by its {@link RowRules}: each takes the row as it is, without what
 * is over, and returns the row as it is to be, the answer, and who is to be told.
 *
 * <p><b>States</b> of a request in a row ({@link Entry.State}). <i>Waiting</i> in the queue, <i>yielding</i> beside it
 * (a soft writer), <i>holding</i>, <i>upgrading</i> (a reader that is to be a writer, before the queue), <i>broken</i>
 * until its client has answered, <i>kept</i> for what is left of the time that it was to be held at least, or
 * <i>withdrawn</i>, which is remembered.
 *
 * <p><b>Invariants.</b> Those that hold may hold together. An upgrade leaves with its grant. Whatever ends a grant or a
 * place in the queue tells whose turn may have come.
 */
final class RowVerbs {
    private final RowRules rules;

    RowVerbs(RowRules rules) {
        this.rules = rules;
    }

    Step<Attempt> attempt(Row row, String client, Request request, RowRules.Look look) {
        Entry holder = row.holder(client, request.id());
        if (holder != null && holder.state() == Entry.State.BROKEN) {
            // Its client may believe: this attempt may be one that was lost, and comes late.
            Attempt broken = new Attempt.Waiting(
                    rules.recheckWithin(row, null, request, look),
                    OptionalInt.empty(),
                    row.owners(),
                    Optional.of(holder.grant()));
            return Step.says(row, broken, Notice.broken(holder));
        }
        if (holder != null) {
            Entry again = holder.heardNow(rules.term(request, true));
            return new Step<>(row.with(holder, again), granted(again), List.of(again), List.of());
        }
        Entry waiter = row.waiter(client, request.id());
        boolean soft = request.isSoft();
        boolean turn = soft
                ? rules.mayDrain(row, waiter, request, look)
                : rules.isTurnOf(row, waiter, request) && rules.admits(row, request);
        if (turn) {
            Entry come = Entry.begin(client, request, Entry.State.HOLDING, rules.term(request, true));
            Row granted = row.without(waiter).plus(come);
            Row held = request.mode() == LockMode.SHARED ? rules.afterReader(granted) : granted;
            // There may be room for the next, too.
            List<Notice> next = request.mode() == LockMode.EXCLUSIVE ? List.of() : rules.wake(held, null);
            return new Step<>(held, granted(come), List.of(come), next);
        }
        if (!request.queue()) {
            return Step.nothing(row, waiting(row, null, request, look));
        }
        if (waiter == null) {
            Entry.State state = soft ? Entry.State.YIELDING : Entry.State.WAITING;
            Entry come = Entry.begin(client, request, state, rules.term(request, false));
            Attempt answer = waiting(row, null, request, look);
            return new Step<>(row.plus(come), answer, List.of(come), List.of());
        }
        return goesOn(row, waiter, request, look);
    }

    /** A waiter asks again, and keeps its place by that. */
    private Step<Attempt> goesOn(Row row, Entry waiter, Request request, RowRules.Look look) {
        Attempt answer = waiting(row, waiter, request, look);
        if (look.now() - waiter.heard() < rules.rewrittenAfter(request)
                && waiter.request().equals(request)) {
            return Step.nothing(row, answer);
        }
        Entry again = waiter.asking(request, rules.term(request, false));
        boolean asBefore = waiter.request().equals(request);
        return new Step<>(row.with(waiter, again), answer, List.of(again), List.of(), true, asBefore);
    }

    Step<Attempt> convert(Row row, String client, Grant held, Request wanted, RowRules.Look look) {
        Entry converted = row.holder(client, wanted.id());
        if (converted != null && converted.state() == Entry.State.HOLDING) {
            Entry again = converted.heardNow(rules.term(wanted, true));
            return new Step<>(row.with(converted, again), granted(again), List.of(again), List.of());
        }
        Entry holder = row.holder(client, held);
        Entry upgrade = row.upgrade();
        if (holder == null
                || holder.state() == Entry.State.BROKEN
                || (upgrade != null && !upgrade.isOf(client, wanted.id()))) {
            return Step.nothing(row, new Attempt.Refused(row.owners()));
        }
        if (wanted.mode() == LockMode.EXCLUSIVE && row.holders().size() > 1) {
            if (!wanted.queue()) {
                return Step.nothing(row, waiting(row, null, wanted, look));
            }
            if (upgrade != null) {
                return goesOn(row, upgrade, wanted, look);
            }
            Entry come = Entry.begin(client, wanted, Entry.State.WAITING, rules.term(wanted, false))
                    .upgrading(holder.token());
            Row asked = row.plus(come);
            return new Step<>(asked, waiting(asked, come, wanted, look), List.of(come), List.of());
        }
        Entry changed = holder.converted(wanted, rules.term(wanted, true));
        Row stands = row.without(upgrade).with(holder, changed);
        Row after = wanted.mode() == LockMode.SHARED ? rules.afterReader(stands) : stands;
        // A writer that has become a reader may leave room for others.
        return new Step<>(after, granted(changed), List.of(changed), rules.wake(after, null));
    }

    Step<Answer> renew(Row row, String client, Grant grant) {
        Entry holder = rules.inForce(row, client, grant);
        if (holder == null) {
            return Step.nothing(row, Answer.NOT_HELD);
        }
        if (holder.state() == Entry.State.BROKEN) {
            // Said again, before the answer: the holder learns why.
            return Step.says(row, Answer.NOT_HELD, Notice.broken(holder));
        }
        Entry again = holder.known().heardNow(rules.term(holder.request(), true));
        return new Step<>(row.with(holder, again), Answer.DONE, List.of(again), List.of());
    }

    /** Ends a grant; if {@code keeps}, its place stays for what is left of the time that it was to be held at least. */
    Step<Answer> release(Row row, String client, Grant grant, boolean keeps, long now) {
        Entry holder = rules.inForce(row, client, grant);
        if (holder == null) {
            return Step.nothing(row, Answer.NOT_HELD);
        }
        if (holder.state() == Entry.State.BROKEN) {
            return ended(row, holder, Answer.NOT_HELD);
        }
        Entry kept = holder.kept(rules.keptFor(holder.request()));
        if (!keeps || now - kept.ends() >= 0) {
            return ended(row, holder, Answer.DONE);
        }
        Row stays = row.with(holder, kept);
        Row after = stays.withoutOrphan();
        return new Step<>(after, Answer.DONE, List.of(), rules.noticesOfExpiry(stays, after));
    }

    /** @param remembers whether an attempt of it may be under way, which must find that it was withdrawn */
    Step<Boolean> withdraw(Row row, String client, Request request, boolean remembers) {
        Step<Boolean> step = withdrawn(row, client, request);
        if (!remembers || row.hasWithdrawn(client, request.id())) {
            return step;
        }
        Entry memory = Entry.begin(client, request, Entry.State.WITHDRAWN, rules.withdrawnFor(request));
        return new Step<>(step.row().plus(memory), step.answer(), List.of(memory), step.notices());
    }

    private Step<Boolean> withdrawn(Row row, String client, Request request) {
        Entry waiter = row.waiter(client, request.id());
        Entry upgrade = row.upgrade();
        if (waiter == null && upgrade != null && upgrade.isOf(client, request.id())) {
            waiter = upgrade;
        }
        if (waiter != null) {
            return ended(row, waiter, true);
        }
        Entry holder = row.holder(client, request.id());
        if (holder == null) {
            return Step.nothing(row, true);
        }
        Entry reader = holder.before();
        if (reader == null || holder.request().mode() != LockMode.EXCLUSIVE) {
            return ended(row, holder, true);
        }
        Entry again = holder.undone(reader);
        Row undone = row.with(holder, again);
        return new Step<>(undone, true, List.of(again), rules.wake(undone, holder));
    }

    /**
     * Ends the grant of that token. Its place is kept until its client has answered by a release, or its term has
     * passed.
     */
    Step<Boolean> breakGrant(Row row, long token, String reason) {
        for (Entry holder : row.holders()) {
            if (holder.token() == token && holder.state() == Entry.State.KEPT) {
                return ended(row, holder, true);
            }
            if (holder.token() == token && holder.state() == Entry.State.HOLDING) {
                Entry broken = holder.broken(reason);
                Row stays = row.with(holder, broken);
                Row after = stays.withoutOrphan();
                List<Notice> notices = new ArrayList<>(rules.noticesOfExpiry(stays, after));
                notices.add(Notice.broken(broken));
                return new Step<>(after, true, List.of(), notices);
            }
        }
        return Step.nothing(row, false);
    }

    /**
     * Returns who of that client may be granted at that time, for a store that tells all clients of each change. Who is
     * told asks, which may be a change: a soft writer whose time has not come would be told without end.
     */
    List<Notice> noticesFor(String client, Row row, long now) {
        List<Notice> all = new ArrayList<>(1);
        for (Entry entry : row.entries()) {
            if (!entry.client().equals(client)) {
                continue;
            }
            if (mayHaveItsTurn(row, entry, now)) {
                all.add(Notice.turn(entry));
            } else if (entry.state() == Entry.State.BROKEN) {
                all.add(Notice.broken(entry));
            }
        }
        return all;
    }

    private boolean mayHaveItsTurn(Row row, Entry entry, long now) {
        return switch (entry.state()) {
            case UPGRADING -> row.holders().size() == 1;
            case YIELDING -> rules.mayDrain(row, entry, entry.request(), new RowRules.Look(now, true));
            case WAITING -> rules.isTurnOf(row, entry, entry.request()) && rules.admits(row, entry.request());
            default -> false;
        };
    }

    private <A> Step<A> ended(Row row, Entry left, A answer) {
        Row after = row.without(left).withoutOrphan();
        return new Step<>(after, answer, List.of(), rules.wake(after, left));
    }

    private static Attempt granted(Entry holder) {
        return new Attempt.Granted(holder.grant());
    }

    private Attempt waiting(Row row, @Nullable Entry waiter, Request request, RowRules.Look look) {
        int ahead = row.ahead(waiter);
        return new Attempt.Waiting(
                rules.recheckWithin(row, waiter, request, look), OptionalInt.of(ahead), row.owners());
    }
}
