// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.kit.table.KnownRows.Done;
import io.keyway.lock.kit.table.KnownRows.Known;
import io.keyway.lock.kit.table.KnownRows.Rule;
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
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One client's way to a {@link RowStore}: each verb is a change of one row, by {@link RowVerbs}, that {@link KnownRows}
 * carries out, so that an attempt, its renewals and its release are one request to the store each while nobody else
 * wants the key.
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
            Feature.HOLD_AT_LEAST,
            Feature.DRAIN));

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

    private final RowStore store;
    private final RowRules rules;
    private final RowVerbs verbs;
    private final KnownRows rows;
    private final Attempts attempts;

    /** Requests of which a write was not answered, or is not yet. */
    private final Set<Long> unanswered = ConcurrentHashMap.newKeySet();

    private final Set<Long> withdrawn = Collections.synchronizedSet(Collections.newSetFromMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
            return size() > WITHDRAWN;
        }
    }));

    /** Which requests wait for each key, for the store. */
    private final Map<LockKey, Set<Long>> waiting = new ConcurrentHashMap<>();

    private volatile String client = "";

    /**
     * Makes the way of one client.
     *
     * @param store where the rows are
     * @param clock the client's, monotonic, in nanoseconds
     */
    public RowBackend(RowStore store, LongSupplier clock) {
        this.store = store;
        this.rules = store.rules();
        this.verbs = new RowVerbs(rules);
        this.rows = new KnownRows(store, rules, clock);
        this.attempts = new Attempts(rows);
    }

    @Override
    public void start(Signals signals, Incarnation incarnation) throws Exception {
        client = incarnation.toString();
        RowStore.Listener own = new OwnListener(signals);
        rows.start(client, own);
        store.start(own, incarnation);
    }

    @Override
    public Attempt attempt(Request asks, Duration limit) throws Exception {
        Request request = agreed(asks);
        Deadline deadline = Deadline.after(limit);
        return ask(
                request,
                rule -> attempts.ask(request.key(), () -> supposed(request), deadline, rule),
                (row, look) -> verbs.attempt(row, client, request, look));
    }

    @Override
    public Attempt convert(Grant held, Request asks, Duration limit) throws Exception {
        Request wanted = agreed(asks);
        Deadline deadline = Deadline.after(limit);
        return ask(
                wanted,
                rule -> rows.change(wanted.key(), rows.trusted(held), deadline, rule),
                (row, look) -> verbs.convert(row, client, held, wanted, look));
    }

    /** The row in which an attempt supposes to be granted; null if it has asked before, and has to look. */
    private @Nullable Known supposed(Request request) {
        Known known = rows.known(request.key());
        return known.stored().row().hasRequest(client, request.id()) ? null : known;
    }

    private Request agreed(Request request) {
        Duration ttl = store.agreed(request.ttl());
        return ttl.equals(request.ttl()) ? request : request.withTtl(ttl);
    }

    /** How the rule of an attempt comes to its row. */
    private interface Way {
        Done<Attempt> to(Rule<Attempt> rule) throws Exception;
    }

    /** A request that its withdrawal has to find, whatever becomes of what was written for it. */
    private Attempt ask(Request request, Way way, Rule<Attempt> rule) throws Exception {
        boolean first = unanswered.add(request.id());
        boolean answered = false;
        try {
            Done<Attempt> done = way.to((row, look) -> {
                if (withdrawn.contains(request.id()) || row.hasWithdrawn(client, request.id())) {
                    throw new NotExecutedException("request " + request.id() + " was withdrawn");
                }
                return rule.of(row, look);
            });
            answered = true;
            if (done.answer() instanceof Attempt.Granted) {
                waitsNoMore(request);
                return granted(request, done.row());
            }
            if (done.answer() instanceof Attempt.Waiting && request.queue()) {
                waits(request);
            }
            return done.answer();
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
        for (List<Grant> group : byKey.values()) {
            Known known = rows.trusted(group);
            Step<List<Answer>> step =
                    known == null ? null : renewal(known.stored().row(), group);
            if (known != null && step != null && KnownRows.isSure(step)) {
                tried.add(group);
                writes.add(KnownRows.write(group.get(0).key(), known.stored(), step));
            }
        }
        List<Written> written = writes.isEmpty() ? List.of() : rows.write(writes, deadline);
        for (int i = 0; i < written.size(); i++) {
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
                Done<List<Answer>> done = rows.change(key, null, share, (row, look) -> renewal(row, group));
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
            Step<Answer> step = verbs.renew(after, client, grant);
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
        return rows.change(
                        grant.key(),
                        rows.trusted(grant),
                        Deadline.after(limit),
                        (row, look) -> verbs.release(row, client, grant, keeps, look.now()))
                .answer();
    }

    @Override
    public void withdraw(Request request, Duration limit) throws Exception {
        withdrawn.add(request.id());
        boolean remembers = unanswered.contains(request.id());
        rows.change(
                request.key(),
                rows.remembered(request.key()),
                Deadline.after(limit),
                (row, look) -> verbs.withdraw(row, client, request, remembers));
        unanswered.remove(request.id());
    }

    @Override
    public void forgotten(Request request) {
        unanswered.remove(request.id());
        waitsNoMore(request);
        rows.forget(request);
    }

    /** The store hears it while the key is locked, so that what it hears last is so. */
    private void waits(Request request) {
        waiting.compute(request.key(), (key, requests) -> {
            Set<Long> all = requests == null ? new HashSet<>() : requests;
            if (all.add(request.id()) && all.size() == 1) {
                store.waits(key, true);
            }
            return all;
        });
    }

    private void waitsNoMore(Request request) {
        waiting.computeIfPresent(request.key(), (key, requests) -> {
            requests.remove(request.id());
            if (!requests.isEmpty()) {
                return requests;
            }
            store.waits(key, false);
            return null;
        });
    }

    @Override
    public boolean breakGrant(LockKey key, long token, String reason, Duration limit) throws Exception {
        return rows.change(key, null, Deadline.after(limit), (row, look) -> verbs.breakGrant(row, token, reason))
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
            verbs.noticesFor(client, rules.expired(stored.row(), stored.now()), stored.now())
                    .forEach(this::told);
        }

        @Override
        public Signals signals() {
            return signals;
        }
    }
}
