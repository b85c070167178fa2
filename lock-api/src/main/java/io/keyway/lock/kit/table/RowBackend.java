// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.kit.table.RowStore.Listed;
import io.keyway.lock.kit.table.RowStore.Page;
import io.keyway.lock.kit.table.RowStore.Stored;
import io.keyway.lock.kit.table.RowStore.Write;
import io.keyway.lock.kit.table.RowStore.Written;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One client's way to a {@link RowStore}: reads a row, has {@link RowRules} decide what becomes of it, and writes it if
 * nobody was faster; else it decides anew on the row that stood in the way.
 *
 * <p>The first try of a request supposes that the key is free and writes at once. The row of a grant is remembered, and
 * its release or renewal supposes that nobody has changed it. So each of them is one request to the store while nobody
 * else wants the key. What is remembered is trusted for no longer than the client would believe in the grant, 3/4 of
 * its ttl: a later message must not find in force what is over by the store's clock (LK-701). An answer that says no is
 * given by a row that was read.
 *
 * <p>A write whose outcome is not known may yet arrive. One that expects a version fails when the row has changed, and
 * one that expects a free key when the row remembers that its request was withdrawn: {@link #withdraw} writes that down
 * for each request of which a write was not answered (LK-1502).
 */
public final class RowBackend implements LockBackend {

    /** What the rules offer over any store; a store adds LIST if it lists, and WAKE_UP if it tells who waits. */
    public static final Set<Feature> FEATURES = Set.copyOf(EnumSet.of(
            Feature.READ_WRITE,
            Feature.SEMAPHORE,
            Feature.FENCING,
            Feature.FIFO,
            Feature.UPGRADE,
            Feature.BREAK,
            Feature.HOLD_AT_LEAST));

    /**
     * {@return what the rules offer over any store, and what a store adds}
     *
     * @param more what the store adds
     */
    public static Set<Feature> featuresWith(Feature... more) {
        Set<Feature> all = EnumSet.copyOf(FEATURES);
        all.addAll(List.of(more));
        return Set.copyOf(all);
    }

    /** So many requests that were withdrawn are refused without asking the store. */
    private static final int WITHDRAWN = 4096;

    private static final Logger LOG = System.getLogger(RowBackend.class.getName());

    private static final Known UNREAD = new Known(new Stored(Row.FREE, RowStore.IF_FREE, 0), 0);

    private final RowStore store;
    private final RowRules rules;
    private final LongSupplier clock;
    private final boolean tells;
    private final Map<LockKey, Known> rows = new ConcurrentHashMap<>();

    /** Requests of which a write was not answered, or is not yet. */
    private final Set<Long> unanswered = ConcurrentHashMap.newKeySet();

    private final Set<Long> withdrawn = Collections.synchronizedSet(Collections.newSetFromMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
            return size() > WITHDRAWN;
        }
    }));

    private volatile String client = "";
    private volatile RowStore.@Nullable Listener listener;

    /**
     * Makes the way of one client.
     *
     * @param store where the rows are
     * @param clock the client's, monotonic, in nanoseconds
     */
    public RowBackend(RowStore store, LongSupplier clock) {
        this.store = store;
        this.rules = store.rules();
        this.clock = clock;
        this.tells = store.features().contains(Feature.WAKE_UP);
    }

    /** A row, and the time of the client's clock at which it was asked for. */
    private record Known(Stored stored, long asked) {}

    /** What a verb came to, and the row as it stands then. */
    private record Done<A>(A answer, Row row) {}

    /** What a verb makes of a row. */
    private interface Rule<A> {
        Step<A> of(Row row, RowRules.Look look) throws NotExecutedException;
    }

    @Override
    public void start(Signals signals, Incarnation incarnation) throws Exception {
        client = incarnation.toString();
        RowStore.Listener own = new OwnListener(signals);
        listener = own;
        store.start(own, incarnation);
    }

    @Override
    public Attempt attempt(Request asks, Duration limit) throws Exception {
        Request request = agreed(asks);
        Known known = rows.getOrDefault(request.key(), UNREAD);
        boolean before = known.stored().row().hasRequest(client, request.id());
        return ask(request, before ? null : known, limit, (row, look) -> rules.attempt(row, client, request, look));
    }

    @Override
    public Attempt convert(Grant held, Request asks, Duration limit) throws Exception {
        Request wanted = agreed(asks);
        return ask(wanted, trusted(held), limit, (row, look) -> rules.convert(row, client, held, wanted, look));
    }

    private Request agreed(Request request) {
        Duration ttl = store.agreed(request.ttl());
        return ttl.equals(request.ttl()) ? request : request.withTtl(ttl);
    }

    /** A request that its withdrawal has to find, whatever becomes of what was written for it. */
    private Attempt ask(Request request, @Nullable Known guess, Duration limit, Rule<Attempt> rule) throws Exception {
        boolean first = unanswered.add(request.id());
        boolean answered = false;
        try {
            Done<Attempt> done = change(request.key(), guess, Deadline.after(limit), (row, look) -> {
                if (withdrawn.contains(request.id()) || row.hasWithdrawn(client, request.id())) {
                    throw new NotExecutedException("request " + request.id() + " was withdrawn");
                }
                return rule.of(row, look);
            });
            answered = true;
            return done.answer() instanceof Attempt.Granted ? granted(request, done.row()) : done.answer();
        } catch (NotExecutedException e) {
            answered = true;
            throw e;
        } finally {
            if (answered && first) {
                unanswered.remove(request.id());
            }
        }
    }

    private Attempt granted(Request request, Row row) {
        Entry holder = row.holder(client, request.id());
        if (holder == null) {
            throw new IllegalStateException("the store says that it has written the row of " + request.key()
                    + ", and shows one without what was written:"
                    + " RowStore.write has to return the row as it stands then");
        }
        return new Attempt.Granted(holder.grant());
    }

    @Override
    public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
        Deadline deadline = Deadline.after(limit);
        Map<LockKey, List<Grant>> byKey = new LinkedHashMap<>();
        for (Grant grant : grants) {
            byKey.computeIfAbsent(grant.key(), key -> new ArrayList<>(1)).add(grant);
        }
        Map<Grant, Answer> answers = new HashMap<>();
        List<List<Grant>> tried = new ArrayList<>();
        List<Write> writes = new ArrayList<>();
        long asked = clock.getAsLong();
        for (List<Grant> group : byKey.values()) {
            Known known = trusted(group);
            Step<List<Answer>> step =
                    known == null ? null : renewal(known.stored().row(), group);
            if (known != null && step != null && isSure(step)) {
                tried.add(group);
                writes.add(write(group.get(0).key(), known.stored(), step));
            }
        }
        List<Written> written = writes.isEmpty() ? List.of() : carryOut(writes, deadline);
        for (int i = 0; i < written.size(); i++) {
            remember(writes.get(i).key(), written.get(i).stored(), asked);
            if (written.get(i).done()) {
                byKey.remove(writes.get(i).key());
                tried.get(i).forEach(grant -> answers.put(grant, Answer.DONE));
            }
        }
        Exception failure = null;
        int rest = byKey.size();
        for (List<Grant> group : byKey.values()) {
            LockKey key = group.get(0).key();
            // A row that hangs leaves most of the time to those after it.
            Deadline share = --rest == 0 ? deadline : deadline.orSooner(Duration.ofNanos(deadline.nanos() / 4));
            try {
                Done<List<Answer>> done = change(key, null, share, (row, look) -> renewal(row, group));
                for (int i = 0; i < group.size(); i++) {
                    answers.put(group.get(i), done.answer().get(i));
                }
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception e) {
                // What was renewed already is renewed, and the rows of other keys may well be reached.
                Level level = e instanceof RuntimeException ? Level.WARNING : Level.DEBUG;
                LOG.log(
                        level,
                        () -> "The renewal of " + key + " failed; its lease ends unless a later one succeeds",
                        e);
                failure = failure == null || failure instanceof NotExecutedException ? e : failure;
            }
        }
        if (failure != null && answers.isEmpty()) {
            throw failure;
        }
        return grants.stream()
                .map(grant -> answers.getOrDefault(grant, Answer.UNKNOWN))
                .toList();
    }

    /** The renewal of several grants of one key. */
    private Step<List<Answer>> renewal(Row row, List<Grant> grants) {
        Row after = row;
        List<Answer> answers = new ArrayList<>(grants.size());
        List<Entry> heard = new ArrayList<>(grants.size());
        List<Notice> notices = new ArrayList<>();
        for (Grant grant : grants) {
            Step<Answer> step = rules.renew(after, client, grant);
            after = step.row();
            answers.add(step.answer());
            heard.addAll(step.heard());
            notices.addAll(step.notices());
        }
        return new Step<>(after, answers, heard, notices, !heard.isEmpty());
    }

    @Override
    public Answer release(Grant grant, Duration limit) throws Exception {
        return end(grant, false, limit);
    }

    @Override
    public Answer keep(Grant grant, Duration limit) throws Exception {
        return end(grant, true, limit);
    }

    private Answer end(Grant grant, boolean keeps, Duration limit) throws Exception {
        return change(
                        grant.key(),
                        trusted(grant),
                        Deadline.after(limit),
                        (row, look) -> rules.release(row, client, grant, keeps, look.now()))
                .answer();
    }

    @Override
    public void withdraw(Request request, Duration limit) throws Exception {
        withdrawn.add(request.id());
        boolean remembers = unanswered.contains(request.id());
        change(
                request.key(),
                rows.get(request.key()),
                Deadline.after(limit),
                (row, look) -> rules.withdraw(row, client, request, remembers));
        unanswered.remove(request.id());
    }

    @Override
    public void forgotten(Request request) {
        unanswered.remove(request.id());
        rows.computeIfPresent(
                request.key(), (key, known) -> known.stored().row().hasOther(client, request.id()) ? known : null);
    }

    @Override
    public boolean breakGrant(LockKey key, long token, String reason, Duration limit) throws Exception {
        return change(key, null, Deadline.after(limit), (row, look) -> rules.breakGrant(row, token, reason))
                .answer();
    }

    @Override
    public int availablePermits(LockKey key, int capacity, Duration limit) throws Exception {
        Stored stored = store.read(key, Deadline.after(limit));
        return (int)
                Math.max(0, capacity - rules.expired(stored.row(), stored.now()).permitsOut());
    }

    @Override
    public Optional<LockStatus> show(LockKey key, Duration limit) throws Exception {
        Stored stored = store.read(key, Deadline.after(limit));
        return rules.status(key, stored.row(), stored.now());
    }

    @Override
    public LockPage list(String prefix, Optional<String> after, int max, Duration limit) throws Exception {
        Deadline deadline = Deadline.after(limit);
        List<LockStatus> locks = new ArrayList<>();
        Optional<String> next = after;
        do {
            Page page = store.list(prefix, next, max - locks.size(), deadline);
            for (Listed listed : page.rows()) {
                Stored stored = listed.stored();
                rules.status(listed.key(), stored.row(), stored.now()).ifPresent(locks::add);
            }
            next = page.next();
        } while (next.isPresent() && locks.size() < max);
        return new LockPage(locks, next);
    }

    @Override
    public Set<Feature> features() {
        return store.features();
    }

    @Override
    public Guarantees guarantees() {
        return store.guarantees();
    }

    @Override
    public boolean prompt() {
        return store.prompt();
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return type.isInstance(store) ? Optional.of(type.cast(store)) : store.unwrap(type);
    }

    @Override
    public void close() throws Exception {
        store.close();
    }

    /**
     * Carries out a rule on the row of that key; on the one that is supposed to stand there, if that leads to a yes.
     */
    private <A> Done<A> change(LockKey key, @Nullable Known guess, Deadline deadline, Rule<A> rule) throws Exception {
        long asked = clock.getAsLong();
        if (guess != null) {
            Stored supposed = guess.stored();
            long now = supposed.now() + asked - guess.asked();
            Step<A> step = rule.of(supposed.row(), new RowRules.Look(now, tells));
            if (isSure(step)) {
                Written written =
                        carryOut(List.of(write(key, supposed, step)), deadline).get(0);
                remember(key, written.stored(), asked);
                return written.done()
                        ? new Done<>(step.answer(), written.stored().row())
                        : decide(key, written.stored(), deadline, rule);
            }
        }
        Stored read = store.read(key, deadline);
        remember(key, read, asked);
        return decide(key, read, deadline, rule);
    }

    /** Carries out a rule on a row that was read just now, or on the one that stands there when it is written. */
    private <A> Done<A> decide(LockKey key, Stored read, Deadline deadline, Rule<A> rule) throws Exception {
        Stored stands = read;
        while (true) {
            Row row = rules.expired(stands.row(), stands.now());
            Step<A> step = rule.of(row, new RowRules.Look(stands.now(), tells));
            if (!step.writes()) {
                RowStore.Listener own = listener;
                if (own != null) {
                    step.notices().forEach(own::told);
                }
                return new Done<>(step.answer(), row);
            }
            deadline.check("the row of " + key + " was written, since others were faster");
            List<Notice> notices = new ArrayList<>(rules.noticesOfExpiry(stands.row(), row));
            notices.addAll(step.notices());
            long asked = clock.getAsLong();
            Write write = new Write(key, stands.version(), step.row(), step.heard(), notices);
            Written written = carryOut(List.of(write), deadline).get(0);
            remember(key, written.stored(), asked);
            if (written.done()) {
                return new Done<>(step.answer(), written.stored().row());
            }
            stands = written.stored();
        }
    }

    private static Write write(LockKey key, Stored supposed, Step<?> step) {
        return new Write(key, supposed.version(), step.row(), step.heard(), step.notices());
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
    private static boolean isSure(Step<?> step) {
        Object answer = step.answer();
        boolean yes = answer instanceof Attempt.Granted
                || answer == Answer.DONE
                || Boolean.TRUE.equals(answer)
                || (answer instanceof List<?> all && all.stream().allMatch(each -> each == Answer.DONE));
        return yes && step.writes();
    }

    private void remember(LockKey key, Stored stored, long asked) {
        rows.compute(key, (same, known) -> {
            if (known != null && known.stored().version() > stored.version()) {
                return known;
            }
            return stored.row().hasOther(client, -1) ? new Known(stored, asked) : null;
        });
    }

    private @Nullable Known trusted(List<Grant> grants) {
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
    private @Nullable Known trusted(Grant grant) {
        Known known = rows.get(grant.key());
        Entry holder = known == null ? null : known.stored().row().holder(client, grant);
        if (known == null || holder == null) {
            return null;
        }
        long left = holder.ends() - known.stored().now() - grant.ttl().toNanos() / 4;
        return clock.getAsLong() - known.asked() - left < 0 ? known : null;
    }

    private final class OwnListener implements RowStore.Listener {
        private final Signals signals;

        OwnListener(Signals signals) {
            this.signals = signals;
        }

        @Override
        public void told(Notice notice) {
            if (notice instanceof Notice.Turn turn) {
                signals.recheck(turn.key(), turn.request());
            } else if (notice instanceof Notice.Broken broken) {
                signals.ended(broken.key(), broken.token(), LeaseLoss.Cause.BROKEN, "broken: " + broken.reason());
            }
        }

        @Override
        public void changed(LockKey key, Stored stored) {
            rules.noticesFor(client, rules.expired(stored.row(), stored.now())).forEach(this::told);
        }

        @Override
        public Signals signals() {
            return signals;
        }
    }
}
