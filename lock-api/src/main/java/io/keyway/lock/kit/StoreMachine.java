// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.Feature;
import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.kit.StoreEntry.Phase;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * All decisions of an engine over a store, with no thread, clock or I/O in it. Each method that takes the time {@code
 * now} is an input; it changes the state and adds to the effects, which {@link #effects} hands over in order: calls of
 * the store, whose outcomes come back as inputs, and what the sinks of the requests are told. Not thread-safe.
 *
 * <h2>States</h2>
 *
 * <p>A request is a {@link StoreEntry} from its submission until nothing of it is left, in one of these phases:
 *
 * <pre>{@code
 * WANTED      --granted--> HELD --deadline--> LAPSED
 * WANTED      --given up--> WITHDRAWING
 * HELD        --released--> RELEASING
 * LAPSED      --a quarter of the ttl later, or when its owner says that it has stopped--> RELEASING
 * RELEASING   --answered--> forgotten, or WITHDRAWING where an attempt may still arrive
 * WITHDRAWING --answered--> forgotten
 * }</pre>
 *
 * <ul>
 *   <li>WANTED: attempts go on, one at a time and each with the same id, so that one whose outcome is unknown is simply
 *       repeated: at once when a hint comes ({@link KeyQueue} says who is asked), at the latest when the store asked to
 *       be asked again, and after a back-off if one failed. One that does not queue is over with the first answer.
 *   <li>HELD: believed until three quarters of the ttl after the clock before the call that brought the grant, or that
 *       renewed it last ({@link StoreEntry#echo}); renewed with all grants of its ttl ({@link RenewalGroup}) from half
 *       of the ttl on; doubted when it was silent for five eighths.
 *   <li>LAPSED: nobody believes in it any more, but its owner may not have stopped: it is not released yet.
 *   <li>RELEASING: released by its token. WITHDRAWING: withdrawn by its id. Either again and again, until the store has
 *       answered or, after twice the ttl, has surely expired it; where grants last as long as the client's session,
 *       until it has answered.
 * </ul>
 *
 * <p>A change of mode is a request of its own, WANTED beside the HELD grant that it is to replace, and bound to it
 * ({@link StoreEntry#holder}, {@link StoreEntry#conversion}) until it is over.
 *
 * <h2>Invariants</h2>
 *
 * <ul>
 *   <li>One call of an entry is under way at a time ({@link StoreEntry#inFlight}), but for a renewal beside it.
 *   <li>Belief is counted from before a call was sent, never from its answer, and an answer that comes after the
 *       deadline extends nothing (R2).
 *   <li>What is granted after it was given up, in whichever state and by whichever side, is withdrawn or released: no
 *       grant is left to which nobody holds on (R18). An entry with a call that may still arrive is never forgotten.
 *   <li>Whoever is granted next comes no earlier than the owner of a lapsed grant had a quarter of the ttl to stop
 *       (R3).
 *   <li>After a doubt about the store nothing is believed that was sent before it ({@link StoreEntry#stale}), and
 *       after it said that something ended no grant that may be older ({@link StoreEntry#voided}).
 *   <li>While a change of mode is wanted nobody knows which of the two grants the store has. So "not held" does not end
 *       the holder, whose belief goes on until its deadline and no longer; and its release is sent only when the
 *       request is over, withdrawn if need be, since a withdrawal makes the grant again what it was.
 *   <li>An effect captures what it says when it is told: it is carried out after the step.
 * </ul>
 */
final class StoreMachine {

    /** An input, applied in its turn. */
    @FunctionalInterface
    interface Input {
        void apply(StoreMachine machine, long now);
    }

    private final Map<Long, StoreEntry> entries = new LinkedHashMap<>();

    /** Of the keys for which requests are wanted. */
    private final Map<LockKey, KeyQueue> queues = new HashMap<>();

    /** What is held, by its ttl. */
    private final Map<Long, RenewalGroup> groups = new LinkedHashMap<>();

    private final StoreTimers timers;
    private final boolean fifo;

    /** The store tells whose turn has come, and nobody else has a chance. */
    private final boolean wakes;

    private final boolean sessionBound;
    private final String server;
    private List<Consumer<StoreEffects>> effects = new ArrayList<>();
    private long turns;
    private boolean closed;

    /**
     * {@code seed} draws the jitter; {@code features} are the store's, and {@code sessionBound} is as
     * {@link io.keyway.lock.spi.LockBackend#sessionBound}; {@code server} is for messages.
     */
    StoreMachine(long seed, Set<Feature> features, boolean sessionBound, String server) {
        this.timers = new StoreTimers(seed);
        this.fifo = features.contains(Feature.FIFO);
        this.wakes = fifo && features.contains(Feature.WAKE_UP);
        this.sessionBound = sessionBound;
        this.server = server;
    }

    /** Takes what has to be done, in order. */
    List<Consumer<StoreEffects>> effects() {
        List<Consumer<StoreEffects>> taken = effects;
        effects = new ArrayList<>();
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

    // Inputs of the façade.

    void submit(Request request, long now) {
        if (admitted(request)) {
            begin(new StoreEntry(request, ++turns));
        }
    }

    /** As {@link #submit}, for a request whose grant is to replace that of another. */
    void convert(long holderId, Request request, long now) {
        if (!admitted(request)) {
            return;
        }
        StoreEntry holder = entries.get(holderId);
        if (holder == null || holder.phase != Phase.HELD || holder.wantedConversion() != null) {
            tell(shell -> shell.refused(request.id(), List.of()));
            tell(shell -> shell.gone(request));
            return;
        }
        StoreEntry entry = new StoreEntry(request, ++turns);
        entry.holder = holder;
        if (holder.conversion == null) {
            holder.conversion = entry;
        } else {
            holder.nextConversion = entry;
        }
        begin(entry);
    }

    private boolean admitted(Request request) {
        if (closed) {
            LockException failure = new ClientClosedException(
                    request.owner().client(), request.key().name());
            tell(shell -> shell.failed(request.id(), failure));
            tell(shell -> shell.gone(request));
        }
        return !closed;
    }

    /** Ends a request and the grant that it may have. */
    void withdraw(long id, long now) {
        StoreEntry entry = entries.get(id);
        if (entry == null) {
            return;
        }
        if (entry.phase == Phase.WANTED) {
            beginWithdrawal(entry, now);
        } else if (entry.isGranted() && !entry.converted) {
            // What has lapsed had an owner.
            entry.abandoned |= entry.phase == Phase.HELD;
            beginRelease(entry, now);
        }
    }

    /** As {@link #release}, for a grant that reached nobody. */
    boolean abandon(long id, long now) {
        StoreEntry entry = entries.get(id);
        if (entry != null && entry.isGranted()) {
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
        if (entry.isGranted()) {
            beginRelease(entry, now);
        }
        return true;
    }

    /** The owner of that grant saw its deadline pass. False if it is over already, and nothing will be said of it. */
    boolean lapsed(long id, long now) {
        StoreEntry entry = entries.get(id);
        if (entry == null || entry.grant == null) {
            return false;
        }
        if (entry.phase == Phase.HELD) {
            lapse(entry, now);
        }
        return true;
    }

    /** Ends all there is, and repeats what has failed; the effects go on until the machine is {@link #idle}. */
    void close(long now) {
        closed = true;
        for (StoreEntry entry : List.copyOf(entries.values())) {
            withdraw(entry.id(), now);
            release(entry.id(), now);
        }
        entries.values().stream().filter(StoreEntry::waitsToRepeat).toList().forEach(entry -> call(entry, now));
    }

    // Inputs: what came of a call.

    void attempted(long id, long sentAt, Attempt result, long now) {
        StoreEntry entry = answered(id);
        if (entry == null) {
            return;
        }
        sendNext(entry);
        entry.mayExist = true;
        if (entry.phase == Phase.WITHDRAWING) {
            sendWithdrawal(entry);
        } else if (result instanceof Attempt.Granted granted) {
            take(entry, granted.grant(), sentAt - granted.age().toNanos(), now);
        } else if (result instanceof Attempt.Waiting waiting) {
            wait(entry, waiting, now);
        } else if (result instanceof Attempt.Refused refused) {
            refuse(entry, refused, now);
        }
    }

    /** {@code maybe}: it may have been executed. {@code fatal}: no repetition can help. */
    void attemptFailed(long id, boolean maybe, String why, @Nullable LockException fatal, long now) {
        StoreEntry entry = answered(id);
        if (entry == null) {
            return;
        }
        sendNext(entry);
        entry.mayExist |= maybe;
        entry.unanswered |= maybe;
        if (entry.phase == Phase.WITHDRAWING) {
            withdrawOrForget(entry);
            return;
        }
        boolean over = !maybe && !entry.request.queue();
        LockException failure = fatal == null && over ? Failures.notAsked(entry.request.key(), server, why) : fatal;
        if (failure != null) {
            tell(shell -> shell.failed(id, failure));
            beginWithdrawal(entry, now);
            return;
        }
        tell(shell -> shell.doubt(id, why));
        backOff(entry, now);
    }

    /** What came of a release, or of one by which a request answered that its grant was broken. */
    void released(long id, Answer answer, long now) {
        StoreEntry entry = answered(id);
        if (entry == null) {
            return;
        }
        if (entry.phase != Phase.RELEASING) {
            disowned(entry, answer != Answer.UNKNOWN, now);
        } else if (answer == Answer.UNKNOWN) {
            cleanUpFailed(entry, true, now);
        } else if (entry.stale) {
            entry.sentBefore |= answer == Answer.DONE;
            sendRelease(entry);
        } else {
            Answer told = entry.sentBefore ? Answer.DONE : answer;
            tell(shell -> shell.released(id, told));
            if (entry.unanswered) {
                // A first attempt that arrives only now would be granted, and nobody would know.
                freed(entry.request.key());
                entry.cleanUp(Phase.WITHDRAWING, now);
                sendWithdrawal(entry);
            } else {
                cleanedUp(entry);
            }
        }
    }

    void withdrawn(long id) {
        StoreEntry entry = answered(id);
        if (entry != null && entry.stale) {
            sendWithdrawal(entry);
        } else if (entry != null) {
            cleanedUp(entry);
        }
    }

    /** A release or a withdrawal failed. */
    void cleanUpFailed(long id, boolean maybe, long now) {
        StoreEntry entry = answered(id);
        if (entry != null && entry.phase == Phase.WANTED) {
            disowned(entry, false, now);
        } else if (entry != null) {
            cleanUpFailed(entry, maybe, now);
        }
    }

    void renewed(List<Grant> grants, long sentAt, List<Answer> answers, long now) {
        List<Grant> extended = new ArrayList<>();
        long deadline = sentAt;
        StoreEntry soonest = null;
        for (int i = 0; i < grants.size(); i++) {
            StoreEntry entry = holderOf(grants.get(i));
            if (entry == null) {
                continue;
            }
            boolean old = entry.stale;
            boolean converting = entry.renewalOver();
            // A lapse comes first: an answer read after a pause extends nothing that has ended.
            if (now - entry.deadline() >= 0) {
                lapse(entry, now);
                continue;
            }
            if (old) {
                entry.renewDue = now;
                soonest = entry.sooner(soonest);
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
                        tell(shell -> shell.certain(entry.id()));
                    }
                }
                case NOT_HELD -> {
                    if (converting) {
                        soonest = renewLater(entry, soonest, now);
                        // It knows more of that grant than the renewal does.
                        ask(entry.wantedConversion());
                    } else {
                        end(entry, Cause.EXPIRED, "the store no longer holds it", now);
                    }
                }
                case UNKNOWN -> soonest = renewLater(entry, soonest, now);
            }
        }
        if (!extended.isEmpty()) {
            long until = deadline;
            tell(shell -> shell.extended(extended, until));
        }
        if (soonest != null) {
            watch(soonest, now);
        }
    }

    void renewFailed(List<Grant> grants, long now) {
        StoreEntry soonest = null;
        for (Grant grant : grants) {
            StoreEntry entry = holderOf(grant);
            if (entry != null) {
                entry.renewalOver();
                soonest = renewLater(entry, soonest, now);
            }
        }
        if (soonest != null) {
            watch(soonest, now);
        }
    }

    // Inputs: what the store says unasked.

    /** A hint that something of that key is free. */
    void recheck(LockKey key) {
        KeyQueue queue = queues.get(key);
        ask(queue == null ? null : queue.hint());
    }

    /** Hints may have been missed. */
    void recheckAll() {
        List.copyOf(queues.keySet()).forEach(this::recheck);
    }

    /** A hint that the turn of that request has come. */
    void recheck(long id) {
        StoreEntry entry = entries.get(id);
        if (entry != null && entry.phase == Phase.WANTED) {
            ask(entry);
        }
    }

    /** The turn of a request has come; {@code known} is what an attempt of it would bring, if that is known still. */
    void granted(long id, Supplier<Optional<Attempt.Granted>> known, long now) {
        StoreEntry entry = entries.get(id);
        if (entry == null || entry.phase != Phase.WANTED) {
            return;
        }
        Optional<Attempt.Granted> granted = entry.inFlight || entry.voided ? Optional.empty() : known.get();
        if (granted.isEmpty()) {
            ask(entry);
            return;
        }
        entry.armed = false;
        entry.mayExist = true;
        take(entry, granted.get().grant(), now - granted.get().age().toNanos(), now);
    }

    /** It can be reached again: whoever backs off tries now. */
    void reconnected(long now) {
        for (StoreEntry entry : List.copyOf(entries.values())) {
            if (entry.failures > 0) {
                entry.failures = 0;
                if (entry.armed) {
                    call(entry, now);
                } else if (entry.phase == Phase.HELD) {
                    entry.renewDue = now;
                }
            }
        }
        lookAtAll(now);
    }

    /** Something is wrong with it: what was sent before says nothing. */
    void doubt(String why, long now) {
        for (StoreEntry entry : entries.values()) {
            entry.stale |= entry.inFlight || entry.renewing;
            if (entry.phase == Phase.HELD) {
                entry.renewDue = now;
                doubt(entry, why);
            } else {
                // What was granted to it may be what is in doubt: it has to be asked.
                entry.voided = true;
            }
        }
        lookAtAll(now);
    }

    void ended(LockKey key, long token, Cause cause, String detail, long now) {
        for (StoreEntry entry : List.copyOf(entries.values())) {
            if (!entry.request.key().equals(key)) {
                continue;
            }
            if (entry.isGranted() && entry.held().token() == token) {
                if (cause != Cause.BROKEN) {
                    end(entry, cause, detail, now);
                } else if (entry.phase == Phase.HELD) {
                    // Nobody believes in it from here on: the store may wait for the release that says so.
                    tell(shell -> shell.ended(entry.id(), cause, detail));
                    beginRelease(entry, now);
                }
                return;
            }
            // Its grant may be on the way, and older than this.
            entry.voided = true;
        }
    }

    void endedAll(Cause cause, long now) {
        for (StoreEntry entry : List.copyOf(entries.values())) {
            if (entry.isGranted()) {
                end(entry, cause, "the store ended all leases of this client", now);
            } else {
                entry.voided = true;
            }
        }
    }

    // Input: time.

    void tick(long now) {
        timers.run(now, entry -> call(entry, now), group -> look(group, now));
    }

    // WANTED: attempts, one at a time.

    /** The entry is new; it is sent when those that came before it have been. */
    private void begin(StoreEntry entry) {
        entries.put(entry.id(), entry);
        if (!isHeldBack(entry)) {
            enqueue(entry);
        }
    }

    /** Whether it is a request for another mode that is sent when the one before it is over; it is in no queue yet. */
    private static boolean isHeldBack(StoreEntry entry) {
        return entry.holder != null && entry.holder.nextConversion == entry;
    }

    private void enqueue(StoreEntry entry) {
        KeyQueue queue = queues.computeIfAbsent(entry.request.key(), key -> new KeyQueue(fifo, wakes));
        queue.add(entry);
        if (queue.maySend(entry)) {
            send(entry, false);
        }
    }

    private void ask(@Nullable StoreEntry entry) {
        if (entry != null && entry.inFlight) {
            entry.again = true;
        } else if (entry != null) {
            send(entry, false);
        }
    }

    /** A heartbeat keeps the request queued, and can wait. */
    private void send(StoreEntry entry, boolean heartbeat) {
        if (isHeldBack(entry)) {
            return;
        }
        entry.beginAttempt();
        Request request = entry.request;
        if (entry.holder == null) {
            tell(shell -> shell.attempt(request, heartbeat));
        } else {
            Grant held = entry.holder.held();
            tell(shell -> shell.convert(held, request, heartbeat));
        }
    }

    /** Its first call is over, or will not be made. */
    private void sendNext(StoreEntry entry) {
        KeyQueue queue = queues.get(entry.request.key());
        if (queue == null) {
            return;
        }
        for (StoreEntry next : queue.sent(entry)) {
            if (!closed) {
                send(next, false);
            }
        }
    }

    /** The store has granted it, by a call that was sent then. */
    private void take(StoreEntry entry, Grant grant, long sentAt, long now) {
        if (entry.voided) {
            send(entry, false);
            return;
        }
        entry.echo = sentAt;
        long ttl = grant.ttl().toNanos();
        if (now - (sentAt + ttl / 4 * 3) >= 0) {
            // Too old to be believed; a repetition brings a fresh answer of the same grant.
            backOff(entry, now);
            return;
        }
        StoreEntry holder = entry.holder;
        if (holder != null && now - holder.deadline() >= 0) {
            lapse(holder, now);
            return;
        }
        StoreEntry next = leaveQueue(entry, true);
        entry.grant = grant;
        entry.phase = Phase.HELD;
        entry.failures = 0;
        long deadline = entry.deadline();
        if (holder == null) {
            tell(shell -> shell.granted(entry.id(), grant, deadline));
        } else {
            tell(shell -> shell.converted(holder.id(), entry.id(), grant, deadline));
            entry.holder = null;
            entry.converted = true;
            groupOf(holder).remove(holder);
            holder.conversion = null;
            forgetGranted(holder, now);
        }
        entry.renewDue = entry.echo + entry.ttl() / 2;
        groupOf(entry).add(entry);
        watch(entry, now);
        ask(next);
    }

    private void wait(StoreEntry entry, Attempt.Waiting waiting, long now) {
        Optional<Grant> broken = waiting.broken();
        if (broken.isPresent() && broken.get().token() != entry.disowned) {
            disown(entry, broken.get());
            return;
        }
        if (!entry.request.queue()) {
            tell(shell -> shell.refused(entry.id(), waiting.holders()));
            leave(entry, now);
            return;
        }
        if (entry.isLate(waiting)) {
            queueOf(entry).moveToEnd(entry, ++turns);
        }
        entry.failures = 0;
        if (entry.isNew(waiting)) {
            tell(shell -> shell.waiting(entry.id(), waiting.ahead(), waiting.holders()));
        }
        if (entry.again) {
            send(entry, false);
            return;
        }
        timers.arm(entry, now + timers.jittered(waiting.recheckWithin().toNanos()));
        ask(queueOf(entry).refused(entry));
    }

    private void refuse(StoreEntry entry, Attempt.Refused refused, long now) {
        tell(shell -> shell.refused(entry.id(), refused.holders()));
        StoreEntry holder = entry.holder;
        leave(entry, now);
        if (holder != null && holder.phase == Phase.HELD) {
            // Perhaps for the reason that it is gone.
            holder.renewDue = now;
            look(groupOf(holder), now);
        }
    }

    /** Its caller has been told no; an earlier attempt of it must not come to a grant any more. */
    private void leave(StoreEntry entry, long now) {
        if (entry.unanswered) {
            beginWithdrawal(entry, now);
        } else {
            forget(entry);
        }
    }

    /** Its grant was broken before it was heard of: nobody believes in it, which the store cannot know. */
    private void disown(StoreEntry entry, Grant broken) {
        entry.disowned = broken.token();
        entry.beginCall();
        tell(shell -> shell.release(broken, false));
    }

    /** The store has been told that nobody believes in what was broken; {@code known}: it has answered. */
    private void disowned(StoreEntry entry, boolean known, long now) {
        if (entry.phase == Phase.WITHDRAWING) {
            sendWithdrawal(entry);
        } else if (known) {
            send(entry, false);
        } else {
            entry.disowned = 0;
            timers.retry(entry, now);
        }
    }

    /** The attempt came to nothing; a round of its queue ends with it. */
    private void backOff(StoreEntry entry, long now) {
        timers.retry(entry, now);
        queueOf(entry).failed(entry);
    }

    // HELD: renewals, doubt and the end of belief.

    /** Something of that entry is due, now or sooner than before: the others of its group need no look. */
    private void watch(StoreEntry entry, long now) {
        RenewalGroup group = groupOf(entry);
        long due = group.due(entry, now + entry.ttl());
        if (now - due >= 0) {
            look(group, now);
        } else if (!group.armed || due - group.due < 0) {
            timers.arm(group, due);
        }
    }

    private void lookAtAll(long now) {
        for (RenewalGroup group : List.copyOf(groups.values())) {
            look(group, now);
        }
    }

    private void look(RenewalGroup group, long now) {
        for (StoreEntry entry : group.lapsed(now)) {
            lapse(entry, now);
        }
        for (StoreEntry entry : group.doubtful(now)) {
            doubt(entry, "no renewal was confirmed for five eighths of the ttl");
        }
        for (List<Grant> batch : group.round(now)) {
            tell(shell -> shell.renew(batch));
        }
        if (group.isEmpty()) {
            group.armed = false;
            groups.remove(group.ttl(), group);
            return;
        }
        timers.arm(group, group.next(now));
    }

    /** Returns which of the two is renewed sooner. */
    private StoreEntry renewLater(StoreEntry entry, @Nullable StoreEntry other, long now) {
        entry.failures++;
        entry.renewDue = now + Math.min(timers.backOff(entry.failures), Math.max(1, entry.ttl() / 16));
        return entry.sooner(other);
    }

    private void doubt(StoreEntry entry, String why) {
        if (!entry.doubted) {
            entry.doubted = true;
            tell(shell -> shell.doubt(entry.id(), why));
        }
    }

    /** Belief has ended: at its deadline or, where its owner saw an earlier one pass, at the latest now. */
    private void lapse(StoreEntry entry, long now) {
        tell(shell -> shell.ended(entry.id(), Cause.EXPIRED, "no renewal was confirmed in time"));
        long deadline = entry.deadline();
        long stoppedAt = (now - deadline < 0 ? now : deadline) + entry.ttl() / 4;
        groupOf(entry).remove(entry);
        entry.phase = Phase.LAPSED;
        entry.failures = 0;
        endConversion(entry, now);
        timers.arm(entry, stoppedAt);
        if (now - stoppedAt >= 0) {
            beginRelease(entry, now);
        }
    }

    /** The store has said that it is over. */
    private void end(StoreEntry entry, Cause cause, String detail, long now) {
        if (entry.phase == Phase.HELD) {
            tell(shell -> shell.ended(entry.id(), cause, detail));
            groupOf(entry).remove(entry);
        }
        forgetGranted(entry, now);
    }

    /** The store has ended its grant: nothing is left to clean up, but for an attempt that may be under way still. */
    private void forgetGranted(StoreEntry entry, long now) {
        boolean converting = endConversion(entry, now);
        if (!entry.unanswered) {
            forget(entry);
            return;
        }
        entry.cleanUp(Phase.WITHDRAWING, now);
        if (!converting) {
            sendWithdrawal(entry);
        }
    }

    // Changes of mode.

    /** The holder has ended: nothing is left to convert. True if its release has to wait for the request. */
    private boolean endConversion(StoreEntry holder, long now) {
        StoreEntry wanted = holder.wantedConversion();
        if (wanted != null) {
            LockKey key = wanted.request.key();
            String why = "The lease of the " + key + " ended before its mode was changed. Acquire the lock again.";
            LockException failure = new LockUnavailableException(why, key.name(), server, null);
            tell(shell -> shell.failed(wanted.id(), failure));
            beginWithdrawal(wanted, now);
        }
        return holder.conversion != null;
    }

    /** The request for another mode is over, and has changed nothing. */
    private void settleConversion(StoreEntry wanted) {
        StoreEntry holder = wanted.holder;
        if (holder == null) {
            return;
        }
        StoreEntry next = holder.nextConversion;
        if (holder.conversion != wanted) {
            holder.nextConversion = next == wanted ? null : next;
            return;
        }
        holder.conversion = next;
        holder.nextConversion = null;
        holder.renewedInConversion = holder.renewing;
        if (next != null) {
            enqueue(next);
        } else if (holder.phase == Phase.RELEASING && !holder.inFlight) {
            sendRelease(holder);
        } else if (holder.phase == Phase.WITHDRAWING && !holder.inFlight) {
            sendWithdrawal(holder);
        }
    }

    // RELEASING and WITHDRAWING.

    private void beginRelease(StoreEntry entry, long now) {
        if (entry.phase == Phase.HELD) {
            groupOf(entry).remove(entry);
        }
        entry.cleanUp(Phase.RELEASING, now);
        if (!endConversion(entry, now) && !entry.inFlight) {
            sendRelease(entry);
        }
    }

    private void beginWithdrawal(StoreEntry entry, long now) {
        if (entry.unsent) {
            sendNext(entry);
        }
        StoreEntry next = isHeldBack(entry) ? null : leaveQueue(entry, false);
        entry.cleanUp(Phase.WITHDRAWING, now);
        ask(next);
        if (!entry.inFlight) {
            withdrawOrForget(entry);
        }
    }

    /** Nothing needs to be withdrawn where the store can have nothing of it. */
    private void withdrawOrForget(StoreEntry entry) {
        if (entry.mayExist) {
            sendWithdrawal(entry);
        } else {
            forget(entry);
        }
    }

    private void sendWithdrawal(StoreEntry entry) {
        entry.beginCall();
        tell(shell -> shell.withdraw(entry.request));
    }

    private void sendRelease(StoreEntry entry) {
        entry.beginCall();
        Grant grant = entry.held();
        boolean keeps = !entry.abandoned && !entry.request.holdAtLeast().isZero();
        tell(shell -> shell.release(grant, keeps));
    }

    private void cleanUpFailed(StoreEntry entry, boolean maybe, long now) {
        entry.sentBefore |= maybe;
        if (now - entry.giveUpAt < 0) {
            timers.retry(entry, now);
            return;
        }
        if (entry.phase == Phase.RELEASING && !entry.releaseTold) {
            entry.releaseTold = true;
            tell(shell -> shell.released(entry.id(), Answer.UNKNOWN));
        }
        if (sessionBound) {
            timers.retryLater(entry, now);
        } else {
            forget(entry);
        }
    }

    private void cleanedUp(StoreEntry entry) {
        forget(entry);
        freed(entry.request.key());
    }

    /** Something of that key was given back by this client. */
    private void freed(LockKey key) {
        if (!wakes) {
            recheck(key);
        }
    }

    // What all phases share.

    /** What is due in its phase; never while a call is under way. */
    private void call(StoreEntry entry, long now) {
        switch (entry.phase) {
            case WANTED -> send(entry, entry.failures == 0);
            case LAPSED -> beginRelease(entry, now);
            case WITHDRAWING -> sendWithdrawal(entry);
            case RELEASING -> sendRelease(entry);
            case HELD -> throw new IllegalStateException("no call is due of a grant that is held");
        }
    }

    private void forget(StoreEntry entry) {
        entry.armed = false;
        entries.remove(entry.id());
        StoreEntry next = entry.phase == Phase.WANTED ? leaveQueue(entry, false) : null;
        tell(shell -> shell.gone(entry.request));
        settleConversion(entry);
        ask(next);
    }

    private void tell(Consumer<StoreEffects> effect) {
        effects.add(effect);
    }

    /** The entry whose call is over; null if it was forgotten. */
    private @Nullable StoreEntry answered(long id) {
        StoreEntry entry = entries.get(id);
        if (entry != null) {
            entry.inFlight = false;
        }
        return entry;
    }

    /** The entry that holds that grant; null if none does any more. */
    private @Nullable StoreEntry holderOf(Grant grant) {
        StoreEntry entry = entries.get(grant.id());
        return entry == null || entry.phase != Phase.HELD ? null : entry;
    }

    private RenewalGroup groupOf(StoreEntry entry) {
        return groups.computeIfAbsent(entry.ttl(), RenewalGroup::new);
    }

    private KeyQueue queueOf(StoreEntry entry) {
        LockKey key = entry.request.key();
        return Objects.requireNonNull(queues.get(key), () -> "no queue of " + key);
    }

    /** Takes the request out; the next to ask, if this one was asked. */
    private @Nullable StoreEntry leaveQueue(StoreEntry entry, boolean granted) {
        KeyQueue queue = queueOf(entry);
        StoreEntry next = queue.leave(entry, granted);
        if (queue.isEmpty()) {
            queues.remove(entry.request.key());
        }
        return next;
    }
}
