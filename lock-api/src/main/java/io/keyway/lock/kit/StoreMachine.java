// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * All decisions of an engine over a store, with no thread, clock or I/O in it: each method is an input at the time
 * {@code now} and adds to the effects that {@link #effects()} takes. Not thread-safe.
 *
 * <p>A request is attempted until it is granted: at once, when a hint comes, and at the latest when the store asked to
 * be asked again; one attempt of it at a time, each with the same id, so that one whose outcome is unknown is simply
 * repeated. A grant is believed from the clock before the call that brought it, and is renewed with those of its ttl
 * from then until its release is sent. What is given up, by whichever side and in whichever state, is withdrawn by its
 * id or released by its token, again and again, until the store has answered or has surely expired it.
 */
final class StoreMachine {

    private static final long FIRST_RETRY = 50_000_000L;
    private static final long LAST_RETRY = 2_000_000_000L;

    private final SplittableRandom draws;
    private final Map<Long, StoreEntry> entries = new LinkedHashMap<>();
    private final Map<LockKey, KeyQueue> queues = new HashMap<>();
    private final Map<Long, RenewalClass> classes = new LinkedHashMap<>();
    private final PriorityQueue<Timer> timers = new PriorityQueue<>();
    private final String server;
    private List<StoreEffect> out = new ArrayList<>();
    private boolean closed;

    /** {@code seed} draws the jitter; {@code server} is for messages. */
    StoreMachine(long seed, String server) {
        this.draws = new SplittableRandom(seed);
        this.server = server;
    }

    /** Takes what has to be done, in order. */
    List<StoreEffect> effects() {
        List<StoreEffect> taken = out;
        out = new ArrayList<>();
        return taken;
    }

    /** When {@link #tick} is to be called next, if nothing comes before. */
    OptionalLong nextDue() {
        while (!timers.isEmpty() && timers.peek().stale()) {
            timers.poll();
        }
        return timers.isEmpty() ? OptionalLong.empty() : OptionalLong.of(timers.peek().at);
    }

    /** Nothing is wanted, held, or left to clean up. */
    boolean idle() {
        return entries.isEmpty();
    }

    // What the façade asks.

    void submit(Request request, long now) {
        if (closed) {
            out.add(new StoreEffect.Failed(
                    request.id(),
                    new ClientClosedException(
                            request.owner().client(), request.key().name())));
            out.add(new StoreEffect.Gone(request.id()));
            return;
        }
        StoreEntry entry = new StoreEntry(request);
        entries.put(request.id(), entry);
        queues.computeIfAbsent(request.key(), key -> new KeyQueue()).add(entry);
        attempt(entry, false);
    }

    void withdraw(long id, long now) {
        StoreEntry entry = entries.get(id);
        if (entry == null) {
            return;
        }
        if (entry.phase == StoreEntry.Phase.WANTED) {
            startWithdraw(entry, now);
        } else if (entry.phase == StoreEntry.Phase.HELD) {
            startRelease(entry, now);
        }
    }

    /** False if that grant is over already, and nothing will be said of it. */
    boolean release(long id, long now) {
        StoreEntry entry = entries.get(id);
        if (entry == null || entry.grant == null) {
            return false;
        }
        if (entry.phase == StoreEntry.Phase.HELD) {
            startRelease(entry, now);
        }
        return true;
    }

    void close(long now) {
        closed = true;
        for (StoreEntry entry : List.copyOf(entries.values())) {
            withdraw(entry.id(), now);
        }
    }

    // What came of an attempt.

    void attempted(long id, long sentAt, Attempt result, long now) {
        StoreEntry entry = answered(id);
        if (entry == null) {
            return;
        }
        entry.mayStand = true;
        if (entry.phase == StoreEntry.Phase.WITHDRAWING) {
            callWithdraw(entry);
        } else if (result instanceof Attempt.Granted granted) {
            granted(entry, granted.grant(), sentAt, now);
        } else if (result instanceof Attempt.Waiting waiting) {
            waits(entry, waiting, now);
        }
    }

    /** {@code maybe}: it may have been executed. {@code fatal}: no repetition can help. */
    void attemptFailed(long id, boolean maybe, String why, @Nullable LockException fatal, long now) {
        StoreEntry entry = answered(id);
        if (entry == null) {
            return;
        }
        entry.mayStand |= maybe;
        if (entry.phase == StoreEntry.Phase.WITHDRAWING) {
            withdrawOrForget(entry);
            return;
        }
        LockException failure = fatal;
        if (failure == null && !maybe && !entry.request.queue()) {
            failure = new LockUnavailableException(
                    "The " + entry.request.key() + " could not be asked for at " + server + ": " + why
                            + ". Nothing was sent; try again.",
                    entry.request.key().name(),
                    server,
                    null);
        }
        if (failure != null) {
            out.add(new StoreEffect.Failed(id, failure));
            startWithdraw(entry, now);
            return;
        }
        out.add(new StoreEffect.Doubt(id, why));
        retry(entry, now);
        roundFailed(entry);
    }

    // What came of a renewal.

    void renewed(List<Grant> grants, long sentAt, List<Answer> answers, long now) {
        List<Grant> extended = new ArrayList<>();
        long deadline = sentAt;
        RenewalClass renewals = null;
        for (int i = 0; i < grants.size(); i++) {
            StoreEntry entry = renewing(grants.get(i));
            if (entry == null) {
                continue;
            }
            renewals = classOf(entry);
            // A lapse comes first: an answer read after a pause extends nothing that has ended.
            if (now - entry.deadline() >= 0) {
                lapse(entry, now);
                continue;
            }
            switch (i < answers.size() ? answers.get(i) : Answer.UNKNOWN) {
                case DONE -> {
                    entry.failures = 0;
                    if (sentAt - entry.echo > 0) {
                        entry.echo = sentAt;
                        deadline = entry.deadline();
                        extended.add(entry.held());
                    }
                    entry.renewDue = entry.echo + entry.ttl() / 2;
                    if (entry.doubted) {
                        entry.doubted = false;
                        out.add(new StoreEffect.Certain(entry.id()));
                    }
                }
                case NOT_HELD -> end(entry, Cause.EXPIRED, "the store no longer holds it");
                case UNKNOWN -> retryRenewal(entry, now);
            }
        }
        if (!extended.isEmpty()) {
            out.add(new StoreEffect.Extended(extended, deadline));
        }
        if (renewals != null) {
            scan(renewals, now);
        }
    }

    void renewFailed(List<Grant> grants, long now) {
        RenewalClass renewals = null;
        for (Grant grant : grants) {
            StoreEntry entry = renewing(grant);
            if (entry != null) {
                renewals = classOf(entry);
                retryRenewal(entry, now);
            }
        }
        if (renewals != null) {
            scan(renewals, now);
        }
    }

    // What came of a release or a withdrawal.

    void released(long id, Answer answer, long now) {
        if (answer == Answer.UNKNOWN) {
            cleanUpFailed(id, true, now);
            return;
        }
        StoreEntry entry = answered(id);
        if (entry != null) {
            boolean ours = answer == Answer.DONE || entry.sentBefore;
            out.add(new StoreEffect.Released(id, ours ? Answer.DONE : answer));
            forget(entry);
            recheck(entry.request.key());
        }
    }

    void withdrawn(long id) {
        StoreEntry entry = answered(id);
        if (entry != null) {
            forget(entry);
            recheck(entry.request.key());
        }
    }

    void cleanUpFailed(long id, boolean maybe, long now) {
        StoreEntry entry = answered(id);
        if (entry == null) {
            return;
        }
        entry.sentBefore |= maybe;
        if (now - entry.giveUpAt < 0) {
            retry(entry, now);
            return;
        }
        if (entry.phase == StoreEntry.Phase.RELEASING) {
            out.add(new StoreEffect.Released(id, Answer.UNKNOWN));
        }
        forget(entry);
    }

    // What the store says unasked.

    void recheck(LockKey key) {
        KeyQueue queue = queues.get(key);
        if (queue != null) {
            ask(queue.hint());
        }
    }

    /** The store can be reached again: whoever backs off tries now. */
    void reconnected(long now) {
        for (StoreEntry entry : List.copyOf(entries.values())) {
            if (entry.failures > 0) {
                entry.failures = 0;
                if (entry.armed) {
                    call(entry);
                } else if (entry.phase == StoreEntry.Phase.HELD) {
                    entry.renewDue = now;
                }
            }
        }
        for (RenewalClass renewals : List.copyOf(classes.values())) {
            scan(renewals, now);
        }
    }

    void doubt(String why, long now) {
        for (StoreEntry entry : entries.values()) {
            if (entry.phase == StoreEntry.Phase.HELD) {
                entry.renewDue = now;
                doubt(entry, why);
            }
        }
        for (RenewalClass renewals : List.copyOf(classes.values())) {
            scan(renewals, now);
        }
    }

    void ended(LockKey key, long token, Cause cause, String detail) {
        for (StoreEntry entry : List.copyOf(entries.values())) {
            if (!entry.request.key().equals(key)) {
                continue;
            }
            if (entry.phase == StoreEntry.Phase.HELD && entry.held().token() == token) {
                end(entry, cause, detail);
                return;
            }
            // Its answer may be on the way, and older than this.
            entry.voided |= entry.inFlight;
        }
    }

    void endedAll(Cause cause) {
        for (StoreEntry entry : List.copyOf(entries.values())) {
            if (entry.phase == StoreEntry.Phase.HELD) {
                end(entry, cause, "the store ended all leases of this client");
            } else {
                entry.voided |= entry.inFlight;
            }
        }
    }

    // Time.

    void tick(long now) {
        while (!timers.isEmpty() && (timers.peek().stale() || now - timers.peek().at >= 0)) {
            Timer timer = timers.poll();
            if (timer.stale()) {
                continue;
            }
            if (timer.entry != null) {
                call(timer.entry);
            } else if (timer.renewals != null) {
                scan(timer.renewals, now);
            }
        }
    }

    // Attempts.

    private void attempt(StoreEntry entry, boolean heartbeat) {
        entry.armed = false;
        entry.inFlight = true;
        entry.again = false;
        entry.voided = false;
        out.add(new StoreEffect.Attempt(entry.request, heartbeat));
    }

    private void ask(@Nullable StoreEntry entry) {
        if (entry == null) {
            return;
        }
        if (entry.inFlight) {
            entry.again = true;
        } else {
            attempt(entry, false);
        }
    }

    private void roundFailed(StoreEntry entry) {
        KeyQueue queue = queue(entry);
        if (queue.isAsked(entry)) {
            queue.failed();
        }
    }

    private void granted(StoreEntry entry, Grant grant, long sentAt, long now) {
        if (entry.voided) {
            attempt(entry, false);
            return;
        }
        entry.echo = sentAt;
        long ttl = grant.ttl().toNanos();
        if (now - (sentAt + ttl / 4 * 3) >= 0) {
            // Too old to be believed; a repetition brings a fresh answer of the same grant.
            retry(entry, now);
            roundFailed(entry);
            return;
        }
        KeyQueue queue = queue(entry);
        boolean asked = queue.isAsked(entry);
        queue.remove(entry);
        entry.grant = grant;
        entry.phase = StoreEntry.Phase.HELD;
        entry.failures = 0;
        entry.renewDue = sentAt + ttl / 2;
        RenewalClass renewals = classOf(entry);
        renewals.add(entry);
        out.add(new StoreEffect.Granted(entry.id(), grant, entry.deadline()));
        scan(renewals, now);
        if (asked) {
            ask(queue.granted(entry));
        }
        dropIfEmpty(entry.request.key());
    }

    private void waits(StoreEntry entry, Attempt.Waiting waiting, long now) {
        if (!entry.request.queue()) {
            out.add(new StoreEffect.Refused(entry.id(), waiting.holders()));
            forget(entry);
            return;
        }
        entry.failures = 0;
        Attempt.Waiting told = entry.told;
        if (told == null
                || !told.ahead().equals(waiting.ahead())
                || !told.holders().equals(waiting.holders())) {
            entry.told = waiting;
            out.add(new StoreEffect.Waiting(entry.id(), waiting.ahead(), waiting.holders()));
        }
        if (entry.again) {
            attempt(entry, false);
            return;
        }
        arm(entry, now + jittered(waiting.recheckWithin().toNanos()));
        KeyQueue queue = queue(entry);
        if (queue.isAsked(entry)) {
            ask(queue.refused(entry));
        }
    }

    // Leases.

    private void scan(RenewalClass renewals, long now) {
        for (StoreEntry entry : renewals.lapsed(now)) {
            lapse(entry, now);
        }
        for (StoreEntry entry : renewals.doubtful(now)) {
            doubt(entry, "no renewal was confirmed for five eighths of the ttl");
        }
        for (List<Grant> batch : renewals.round(now)) {
            out.add(new StoreEffect.Renew(batch));
        }
        if (renewals.isEmpty()) {
            renewals.armed = false;
            classes.remove(renewals.ttl(), renewals);
            return;
        }
        long next = renewals.next(now);
        if (!renewals.armed || renewals.due != next) {
            renewals.armed = true;
            renewals.due = next;
            timers.add(new Timer(next, null, renewals));
        }
    }

    private void doubt(StoreEntry entry, String why) {
        if (!entry.doubted) {
            entry.doubted = true;
            out.add(new StoreEffect.Doubt(entry.id(), why));
        }
    }

    private void retryRenewal(StoreEntry entry, long now) {
        entry.failures++;
        entry.renewDue = now + Math.min(backOff(entry.failures), Math.max(1, entry.ttl() / 16));
    }

    private void lapse(StoreEntry entry, long now) {
        out.add(new StoreEffect.Ended(entry.id(), Cause.EXPIRED, "no renewal was confirmed in time"));
        startRelease(entry, now);
    }

    /** Over by the store's word: nothing is left to clean up. */
    private void end(StoreEntry entry, Cause cause, String detail) {
        out.add(new StoreEffect.Ended(entry.id(), cause, detail));
        classOf(entry).remove(entry);
        forget(entry);
    }

    // Clean-up.

    private void startRelease(StoreEntry entry, long now) {
        classOf(entry).remove(entry);
        entry.phase = StoreEntry.Phase.RELEASING;
        entry.failures = 0;
        entry.giveUpAt = now + 2 * entry.ttl();
        call(entry);
    }

    private void startWithdraw(StoreEntry entry, long now) {
        KeyQueue queue = queue(entry);
        boolean asked = queue.isAsked(entry);
        queue.remove(entry);
        entry.phase = StoreEntry.Phase.WITHDRAWING;
        entry.armed = false;
        entry.failures = 0;
        entry.giveUpAt = now + 2 * entry.ttl();
        if (asked) {
            ask(queue.left());
        }
        dropIfEmpty(entry.request.key());
        if (!entry.inFlight) {
            withdrawOrForget(entry);
        }
    }

    private void withdrawOrForget(StoreEntry entry) {
        if (entry.mayStand) {
            callWithdraw(entry);
        } else {
            forget(entry);
        }
    }

    private void callWithdraw(StoreEntry entry) {
        entry.armed = false;
        entry.inFlight = true;
        out.add(new StoreEffect.Withdraw(entry.request));
    }

    /** The next call of its phase; never while one is under way. */
    private void call(StoreEntry entry) {
        switch (entry.phase) {
            case WANTED -> attempt(entry, entry.failures == 0);
            case WITHDRAWING -> callWithdraw(entry);
            case RELEASING -> {
                entry.armed = false;
                entry.inFlight = true;
                out.add(new StoreEffect.Release(entry.held()));
            }
            case HELD -> throw new IllegalStateException("a held grant is called by its class only");
        }
    }

    private void forget(StoreEntry entry) {
        entry.armed = false;
        entries.remove(entry.id());
        if (entry.phase == StoreEntry.Phase.WANTED) {
            KeyQueue queue = queue(entry);
            queue.remove(entry);
            dropIfEmpty(entry.request.key());
        }
        out.add(new StoreEffect.Gone(entry.id()));
    }

    // Looking up.

    private @Nullable StoreEntry answered(long id) {
        StoreEntry entry = entries.get(id);
        if (entry != null) {
            entry.inFlight = false;
        }
        return entry;
    }

    private @Nullable StoreEntry renewing(Grant grant) {
        StoreEntry entry = entries.get(grant.id());
        if (entry == null || entry.phase != StoreEntry.Phase.HELD) {
            return null;
        }
        entry.renewing = false;
        return entry;
    }

    private RenewalClass classOf(StoreEntry entry) {
        return classes.computeIfAbsent(entry.ttl(), RenewalClass::new);
    }

    private KeyQueue queue(StoreEntry entry) {
        KeyQueue queue = queues.get(entry.request.key());
        if (queue == null) {
            throw new IllegalStateException("no queue of " + entry.request.key());
        }
        return queue;
    }

    private void dropIfEmpty(LockKey key) {
        KeyQueue queue = queues.get(key);
        if (queue != null && queue.isEmpty()) {
            queues.remove(key);
        }
    }

    // Timers.

    private void retry(StoreEntry entry, long now) {
        entry.failures++;
        arm(entry, now + backOff(entry.failures));
    }

    private void arm(StoreEntry entry, long at) {
        entry.armed = true;
        entry.due = at;
        timers.add(new Timer(at, entry, null));
    }

    private long backOff(int failures) {
        return jittered(Math.min(LAST_RETRY, FIRST_RETRY << Math.min(failures - 1, 10)));
    }

    /** Between three quarters of {@code span} and all of it, so that clients do not stay in step. */
    private long jittered(long span) {
        return span - draws.nextLong(Math.max(1, span / 4));
    }

    /** An armed entry or class; stale once that was armed anew. */
    private record Timer(
            long at, @Nullable StoreEntry entry, @Nullable RenewalClass renewals) implements Comparable<Timer> {

        boolean stale() {
            if (entry != null) {
                return !entry.armed || entry.due != at;
            }
            return renewals == null || !renewals.armed || renewals.due != at;
        }

        @Override
        public int compareTo(Timer other) {
            return Long.signum(at - other.at);
        }
    }
}
