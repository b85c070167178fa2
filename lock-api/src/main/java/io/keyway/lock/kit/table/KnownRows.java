// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import io.keyway.lock.Feature;
import io.keyway.lock.LockKey;
import io.keyway.lock.kit.table.RowStore.Stored;
import io.keyway.lock.kit.table.RowStore.Write;
import io.keyway.lock.kit.table.RowStore.Written;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a {@link RowStore} as one client remembers them, and how it changes one: it reads the row, has a rule
 * decide what becomes of it, and writes it if nobody was faster; else it decides anew on the row that stood in the way.
 *
 * <p>A client that is far from the store may find others faster each time. After {@link #MISSED} such writes it asks
 * the store to keep others from the row while it decides.
 *
 * <p>The first try of a request supposes that the key is free and writes at once. The row of a grant is remembered, and
 * its release or renewal supposes that nobody has changed it. What is remembered is trusted for no longer than the
 * client would believe in the grant, 3/4 of its ttl: a later message must not find in force what is over by the store's
 * clock (LK-701). An answer that says no is given by a row that was read. Thread-safe.
 */
final class KnownRows {
    private static final Known UNREAD = new Known(new Stored(Row.FREE, RowStore.IF_FREE, 0), 0);

    /** So often in turn no row is in the way when it is written, and as it was when it is looked at. */
    private static final int UNFOUNDED = 8;

    /** A row, and the time of the client's clock at which it was asked for. */
    record Known(Stored stored, long asked) {}

    /** What a verb came to, and the row as it stands then. */
    record Done<A>(A answer, Row row) {}

    /** What a verb makes of a row. */
    interface Rule<A> {
        Step<A> of(Row row, RowRules.Look look) throws NotExecutedException;
    }

    /** So many writes of a verb may find that others were faster. */
    private static final int MISSED = 2;

    private final RowStore store;
    private final RowRules rules;
    private final LongSupplier clock;
    private final boolean tells;
    private final Map<LockKey, Known> rows = new ConcurrentHashMap<>();

    private volatile String client = "";
    private volatile RowStore.@Nullable Listener listener;

    /** @param clock the client's, monotonic, in nanoseconds */
    KnownRows(RowStore store, RowRules rules, LongSupplier clock) {
        this.store = store;
        this.rules = rules;
        this.clock = clock;
        this.tells = store.features().contains(Feature.WAKE_UP);
    }

    /** @param own told what a verb has to say that writes nothing */
    void start(String named, RowStore.Listener own) {
        client = named;
        listener = own;
    }

    /** The row that is remembered; if none is, that of a key which was never used. */
    Known known(LockKey key) {
        return rows.getOrDefault(key, UNREAD);
    }

    /** The row that is remembered; null if none is. */
    @Nullable
    Known remembered(LockKey key) {
        return rows.get(key);
    }

    /** That request is over; the row is forgotten unless another one of this client is in it. */
    void forget(Request request) {
        rows.computeIfPresent(
                request.key(), (key, known) -> known.stored().row().hasOther(client, request.id()) ? known : null);
    }

    /**
     * Carries out a rule on the row of that key; on the one that is supposed to stand there, if that leads to a yes.
     */
    <A> Done<A> change(LockKey key, @Nullable Known guess, Deadline deadline, Rule<A> rule) throws Exception {
        return change(key, guess, rule, deadline, rule);
    }

    /** The same, with a rule of its own for the row that is supposed to stand there. */
    <A> Done<A> change(LockKey key, @Nullable Known guess, Rule<A> onGuess, Deadline deadline, Rule<A> rule)
            throws Exception {
        long asked = clock.getAsLong();
        if (guess != null) {
            Stored supposed = guess.stored();
            long now = supposed.now() + asked - guess.asked();
            Step<A> step = onGuess.of(supposed.row(), new RowRules.Look(now, tells));
            if (isSure(step)) {
                Written written =
                        carryOut(List.of(write(key, supposed, step)), deadline).get(0);
                remember(key, written.stored(), asked);
                return written.done()
                        ? new Done<>(step.answer(), written.stored().row())
                        : decide(key, written.stored(), 1, deadline, rule);
            }
        }
        Stored read = store.read(key, deadline);
        remember(key, read, asked);
        return decide(key, read, 0, deadline, rule);
    }

    /** Carries out a rule on a row that was read just now, or on the one that stands there when it is written. */
    private <A> Done<A> decide(LockKey key, Stored read, int missed, Deadline deadline, Rule<A> rule) throws Exception {
        Decision<A> decision = new Decision<>(key, rule);
        Stored stands = read;
        int unfounded = 0;
        for (int faster = missed; ; faster++) {
            Write write = decision.on(stands).orElse(null);
            if (write == null || decision.renewsApart(write, deadline)) {
                return decision.done();
            }
            deadline.check("the row of " + key + " was written"
                    + (faster == 0 ? "" : ", since others were faster " + faster + " times"));
            Written written = faster == MISSED
                    ? writeLocked(write, decision, deadline)
                    : write(List.of(write), deadline).get(0);
            if (written.done()) {
                return decision.done(written);
            }
            if (!decision.writes()) {
                return decision.done();
            }
            unfounded = isUnfounded(write, stands, written.stored()) ? unfounded + 1 : 0;
            stands = written.stored();
            if (unfounded == UNFOUNDED) {
                throw unfounded(write, stands);
            }
        }
    }

    /** As {@link #write}, where the store can lock a row. */
    private <A> Written writeLocked(Write missed, Decision<A> decision, Deadline deadline) throws Exception {
        long asked = clock.getAsLong();
        Optional<Written> written;
        boolean answered = false;
        try {
            written = store.writeLocked(missed, decision, deadline);
            answered = true;
        } finally {
            if (!answered) {
                rows.remove(missed.key());
            }
        }
        if (written.isEmpty()) {
            return write(List.of(missed), deadline).get(0);
        }
        remember(missed.key(), written.get().stored(), asked);
        return written.get();
    }

    /** What a rule made of the row on which it decided last. */
    private final class Decision<A> implements Function<Stored, Optional<Write>> {
        private final LockKey key;
        private final Rule<A> rule;
        private Row row = Row.FREE;
        private @Nullable Step<A> step;
        private @Nullable NotExecutedException refused;

        Decision(LockKey key, Rule<A> rule) {
            this.key = key;
            this.rule = rule;
        }

        /** A store knows nothing of what a rule refuses: it has nothing to write then. */
        @Override
        public Optional<Write> apply(Stored stands) {
            try {
                refused = null;
                return on(stands);
            } catch (NotExecutedException e) {
                refused = e;
                step = null;
                return Optional.empty();
            }
        }

        Optional<Write> on(Stored stands) throws NotExecutedException {
            row = rules.expired(stands.row(), stands.now());
            Step<A> made = rule.of(row, new RowRules.Look(stands.now(), tells));
            step = made;
            if (!made.writes()) {
                return Optional.empty();
            }
            List<Notice> notices = new ArrayList<>(rules.noticesOfExpiry(stands.row(), row));
            notices.addAll(made.notices());
            return Optional.of(new Write(key, store.expected(stands), made.row(), made.heard(), notices));
        }

        /** Whether all that it would write is that waiters were heard of, and their leases were renewed instead. */
        boolean renewsApart(Write write, Deadline deadline) throws Exception {
            return made().renews()
                    && write.notices().isEmpty()
                    && store.renewWaiters(write.key(), write.heard(), deadline);
        }

        /** Whether it has decided to write. */
        boolean writes() {
            return refused == null && made().writes();
        }

        private Step<A> made() {
            return Objects.requireNonNull(step, "decided");
        }

        /** What it came to without a write. */
        Done<A> done() throws NotExecutedException {
            if (refused != null) {
                throw refused;
            }
            RowStore.Listener own = listener;
            if (own != null) {
                made().notices().forEach(own::told);
            }
            return new Done<>(made().answer(), row);
        }

        Done<A> done(Written written) {
            return new Done<>(made().answer(), written.stored().row());
        }
    }

    /** Whether nothing stood in the way of a write: what is expected is there, with the entries that it had before. */
    private static boolean isUnfounded(Write write, Stored before, Stored stands) {
        List<Entry> entries = stands.row().entries();
        return write.isFor(stands)
                && stands.version() == before.version()
                && entries.size() == before.row().entries().size()
                && IntStream.range(0, entries.size())
                        .allMatch(at ->
                                entries.get(at).isSame(before.row().entries().get(at)));
    }

    /** Another decision would lead to the same write, without end. */
    private static IllegalStateException unfounded(Write write, Stored stands) {
        String expected = write.expected() == RowStore.IF_FREE
                ? "if it is free, and shows it free"
                : "at version " + write.expected() + ", and says that this version stands there";
        return new IllegalStateException("the store says that it has not written the row of " + write.key()
                + ", which was to be written " + expected + " (version " + stands.version()
                + "): RowStore.write has to write the row that is expected, or return what stood in its way, and throw"
                + " if it does not know whether it wrote");
    }

    static Write write(LockKey key, Stored supposed, Step<?> step) {
        return new Write(key, supposed.version(), step.row(), step.heard(), step.notices());
    }

    /** Writes rows as they are remembered, and remembers what stands there then. */
    List<Written> write(List<Write> writes, Deadline deadline) throws Exception {
        long asked = clock.getAsLong();
        List<Written> written = carryOut(writes, deadline);
        for (int i = 0; i < written.size(); i++) {
            remember(writes.get(i).key(), written.get(i).stored(), asked);
        }
        return written;
    }

    private List<Written> carryOut(List<Write> writes, Deadline deadline) throws Exception {
        boolean answered = false;
        try {
            List<Written> written = writes.size() == 1
                    ? List.of(store.write(writes.get(0), deadline))
                    : store.writeAll(writes, deadline);
            answered = true;
            return written;
        } finally {
            if (!answered) {
                writes.forEach(write -> rows.remove(write.key()));
            }
        }
    }

    /** Whether what was decided on a row that may have changed is right if it has not: only then will it be written. */
    static boolean isSure(Step<?> step) {
        Object answer = step.answer();
        boolean yes = answer instanceof List<?> all ? all.stream().allMatch(KnownRows::isYes) : isYes(answer);
        return yes && step.writes();
    }

    private static boolean isYes(@Nullable Object answer) {
        return answer instanceof Attempt.Granted
                || answer == Answer.DONE
                || Boolean.TRUE.equals(answer)
                || (answer instanceof Attempts.Outcome outcome && isYes(outcome.answer()));
    }

    private void remember(LockKey key, Stored stored, long asked) {
        rows.compute(key, (same, known) -> {
            if (known != null && known.stored().version() > stored.version()) {
                return known;
            }
            return stored.row().hasOther(client, -1) ? new Known(stored, asked) : null;
        });
    }

    @Nullable
    Known trusted(List<Grant> grants) {
        Known known = null;
        for (Grant grant : grants) {
            known = trusted(grant);
            if (known == null) {
                return null;
            }
        }
        return known;
    }

    /** The row that is remembered, if its grant is surely in force by the store's clock; else null. */
    @Nullable
    Known trusted(Grant grant) {
        Known known = rows.get(grant.key());
        Entry holder = known == null ? null : known.stored().row().holder(client, grant);
        if (known == null || holder == null) {
            return null;
        }
        long left = holder.ends() - known.stored().now() - grant.ttl().toNanos() / 4;
        return clock.getAsLong() - known.asked() - left < 0 ? known : null;
    }
}
