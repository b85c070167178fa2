// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.Feature;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * All decisions of an engine over a store, with no thread, clock or I/O in it: each method, here and in {@link #news()}
 * and {@link #leases()}, is an input at the time {@code now} and adds to the effects that {@link #effects()} takes. Not
 * thread-safe.
 *
 * <p>A request is attempted until it is granted: at once, when a hint comes, and at the latest when the store asked to
 * be asked again; one attempt of it at a time, each with the same id, so that one whose outcome is unknown is simply
 * repeated. A grant is believed from the clock before the call that brought it, and is renewed with those of its ttl
 * from then until its release is sent. What is given up, by whichever side and in whichever state, is withdrawn by its
 * id or released by its token, again and again, until the store has answered or has surely expired it.
 */
final class StoreMachine {

    private final Map<Long, StoreEntry> entries = new LinkedHashMap<>();
    private final KeyQueues queues;
    private final StoreTimers timers;
    private final StoreLeases leases;
    private final StoreCleanUp cleanUp;
    private final StoreSignals news;
    private final StoreAttempts attempts;
    private final Conversions conversions = new Conversions(this);

    /** The store tells whose turn has come, and nobody else has a chance. */
    private final boolean wakes;

    private final String server;
    private List<StoreEffect> out = new ArrayList<>();
    private boolean closed;

    /**
     * {@code seed} draws the jitter; {@code features} are the store's, and {@code sessionBound} says how long its
     * grants last; {@code server} is for messages.
     */
    StoreMachine(long seed, Set<Feature> features, boolean sessionBound, String server) {
        this.wakes = features.contains(Feature.FIFO) && features.contains(Feature.WAKE_UP);
        this.queues = new KeyQueues(features.contains(Feature.FIFO), wakes);
        this.timers = new StoreTimers(seed);
        this.leases = new StoreLeases(this, timers, conversions);
        this.cleanUp = new StoreCleanUp(this, timers, sessionBound);
        this.attempts = new StoreAttempts(this, queues, timers, leases, cleanUp);
        this.news = new StoreSignals(this, attempts, leases, entries);
        this.server = server;
    }

    /** Hears what the store says unasked. */
    StoreSignals news() {
        return news;
    }

    /** Hears what came of renewals. */
    StoreLeases leases() {
        return leases;
    }

    StoreAttempts attempts() {
        return attempts;
    }

    /** Takes what has to be done, in order. */
    List<StoreEffect> effects() {
        List<StoreEffect> taken = out;
        out = new ArrayList<>();
        return taken;
    }

    /** When {@link #tick} is to be called next, if nothing comes before. */
    OptionalLong nextDue() {
        return timers.nextDue();
    }

    /** Nothing is wanted, held, or left to clean up. */
    boolean idle() {
        return entries.isEmpty();
    }

    // What the façade asks.

    void submit(Request request, long now) {
        if (admitted(request)) {
            begin(new StoreEntry(request, queues.nextTurn()));
        }
    }

    /** As {@link #submit}, for a request that is to take the place of the grant of another. */
    void convert(long holderId, Request request, long now) {
        if (!admitted(request)) {
            return;
        }
        StoreEntry holder = entries.get(holderId);
        if (holder == null || !Conversions.possible(holder)) {
            out.add(new StoreEffect.Refused(request.id(), List.of()));
            out.add(new StoreEffect.Gone(request));
            return;
        }
        StoreEntry entry = new StoreEntry(request, queues.nextTurn());
        Conversions.begin(holder, entry);
        begin(entry);
    }

    private boolean admitted(Request request) {
        if (closed) {
            String client = request.owner().client();
            out.add(new StoreEffect.Failed(
                    request.id(),
                    new ClientClosedException(client, request.key().name())));
            out.add(new StoreEffect.Gone(request));
        }
        return !closed;
    }

    private void begin(StoreEntry entry) {
        entries.put(entry.id(), entry);
        attempts.begin(entry);
    }

    void withdraw(long id, long now) {
        StoreEntry entry = entries.get(id);
        if (entry == null) {
            return;
        }
        if (entry.phase == StoreEntry.Phase.WANTED) {
            startWithdraw(entry, now);
        } else if (granted(entry) && !entry.converted) {
            // What has lapsed had an owner.
            entry.abandoned |= entry.phase == StoreEntry.Phase.HELD;
            startRelease(entry, now);
        }
    }

    /** As {@link #release}, for a grant that reached nobody. */
    boolean abandon(long id, long now) {
        StoreEntry entry = entries.get(id);
        if (entry != null && granted(entry)) {
            entry.abandoned = true;
        }
        return release(id, now);
    }

    /** False if that grant is over already, and nothing will be said of it. */
    boolean release(long id, long now) {
        StoreEntry entry = entries.get(id);
        if (entry == null || entry.grant == null) {
            return false;
        }
        if (granted(entry)) {
            startRelease(entry, now);
        }
        return true;
    }

    /** Whether it has a grant that was not given back. */
    static boolean granted(StoreEntry entry) {
        return entry.phase == StoreEntry.Phase.HELD || entry.phase == StoreEntry.Phase.LAPSED;
    }

    /** The owner of that grant saw its deadline pass. False if it is over already, and nothing will be said of it. */
    boolean lapsed(long id, long now) {
        StoreEntry entry = entries.get(id);
        if (entry == null || entry.grant == null) {
            return false;
        }
        if (entry.phase == StoreEntry.Phase.HELD) {
            leases.lapse(entry, now);
        }
        return true;
    }

    void close(long now) {
        closed = true;
        for (StoreEntry entry : List.copyOf(entries.values())) {
            withdraw(entry.id(), now);
            release(entry.id(), now);
        }
    }

    // What came of a call.

    void attempted(long id, long sentAt, Attempt result, long now) {
        StoreEntry entry = answered(id);
        if (entry != null) {
            attempts.answered(entry, sentAt, result, now);
        }
    }

    /** {@code maybe}: it may have been executed. {@code fatal}: no repetition can help. */
    void attemptFailed(long id, boolean maybe, String why, @Nullable LockException fatal, long now) {
        StoreEntry entry = answered(id);
        if (entry != null) {
            attempts.failed(entry, maybe, why, fatal, now);
        }
    }

    void released(long id, Answer answer, long now) {
        StoreEntry entry = answered(id);
        if (entry != null && entry.phase == StoreEntry.Phase.RELEASING) {
            cleanUp.released(entry, answer, now);
        } else if (entry != null) {
            attempts.disowned(entry, answer != Answer.UNKNOWN, now);
        }
    }

    void withdrawn(long id) {
        StoreEntry entry = answered(id);
        if (entry != null) {
            cleanUp.withdrawn(entry);
        }
    }

    void cleanUpFailed(long id, boolean maybe, long now) {
        StoreEntry entry = answered(id);
        if (entry != null && entry.phase == StoreEntry.Phase.WANTED) {
            attempts.disowned(entry, false, now);
        } else if (entry != null) {
            cleanUp.failed(entry, maybe, now);
        }
    }

    // Time.

    void tick(long now) {
        timers.run(now, entry -> due(entry, now), renewals -> leases.scan(renewals, now));
    }

    private void due(StoreEntry entry, long now) {
        if (entry.phase == StoreEntry.Phase.LAPSED) {
            startRelease(entry, now);
        } else {
            call(entry);
        }
    }

    // Clean-up.

    /** Its owner has until {@code stoppedAt} to stop: whoever is granted next comes no earlier. */
    void startGrace(StoreEntry entry, long stoppedAt, long now) {
        leases.remove(entry);
        entry.phase = StoreEntry.Phase.LAPSED;
        entry.failures = 0;
        conversions.holderEnded(entry, now);
        timers.arm(entry, stoppedAt);
        if (now - stoppedAt >= 0) {
            startRelease(entry, now);
        }
    }

    void startRelease(StoreEntry entry, long now) {
        if (entry.phase == StoreEntry.Phase.HELD) {
            leases.remove(entry);
        }
        cleanUp.beginRelease(entry, now);
        if (!conversions.holderEnded(entry, now) && !entry.inFlight) {
            call(entry);
        }
    }

    void startWithdraw(StoreEntry entry, long now) {
        if (entry.unsent) {
            attempts.sendNext(entry);
        }
        StoreEntry next = queues.leave(entry);
        cleanUp.beginWithdrawal(entry, now);
        attempts.ask(next);
        if (!entry.inFlight) {
            cleanUp.withdrawOrForget(entry);
        }
    }

    /** The next call of its phase; never while one is under way. */
    void call(StoreEntry entry) {
        switch (entry.phase) {
            case WANTED -> attempts.send(entry, entry.failures == 0);
            case WITHDRAWING -> cleanUp.withdraw(entry);
            case RELEASING -> cleanUp.release(entry);
            case HELD, LAPSED -> throw new IllegalStateException("no call is due of a grant that is " + entry.phase);
        }
    }

    /** The store has ended its grant: nothing is left to clean up, but for an attempt that may be under way still. */
    void forgetGranted(StoreEntry entry, long now) {
        boolean converting = conversions.holderEnded(entry, now);
        if (!entry.unanswered) {
            forget(entry);
            return;
        }
        cleanUp.beginWithdrawal(entry, now);
        if (!converting) {
            cleanUp.withdraw(entry);
        }
    }

    void forget(StoreEntry entry) {
        entry.armed = false;
        entries.remove(entry.id());
        StoreEntry next = entry.phase == StoreEntry.Phase.WANTED ? queues.leave(entry) : null;
        out.add(new StoreEffect.Gone(entry.request));
        conversions.settle(entry);
        attempts.ask(next);
    }

    /** Something of that key was given back by this client. */
    void freed(LockKey key) {
        if (!wakes) {
            attempts.recheck(key);
        }
    }

    private @Nullable StoreEntry answered(long id) {
        StoreEntry entry = entries.get(id);
        if (entry != null) {
            entry.inFlight = false;
        }
        return entry;
    }

    /** The entry that holds that grant; null if none does any more. */
    @Nullable
    StoreEntry holder(Grant grant) {
        StoreEntry entry = entries.get(grant.id());
        return entry == null || entry.phase != StoreEntry.Phase.HELD ? null : entry;
    }

    boolean closed() {
        return closed;
    }

    void tell(StoreEffect effect) {
        out.add(effect);
    }

    String server() {
        return server;
    }
}
