// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One request for a lock and what became of it, as its user saw it. All instants are nanoseconds on one clock. Not
 * thread-safe.
 */
public final class RecordedHold {
    /**
     * The news of a loss.
     *
     * @param at when the user was told
     * @param cause why the lease was lost
     */
    public record Loss(long at, LeaseLoss.Cause cause) {}

    private final String worker;
    private final String name;
    private final LockMode mode;
    private final int permits;
    private final long asked;
    private final long transaction;
    private final List<HeldAnswer> answers = new ArrayList<>();
    private final List<Loss> losses = new ArrayList<>();
    private int capacity;
    /** Null if it waits without end, or not at all. */
    private @Nullable Duration limit;

    private boolean granted;
    private long token;
    private long ttl;
    private long got;
    private boolean releasing;
    private long releaseCalled;
    private @Nullable ReleaseOutcome outcome;
    private boolean untold;
    private boolean ended;
    private long endedAt;

    /** A request of that worker for that lock, made at that instant. */
    public RecordedHold(String worker, String name, LockMode mode, long asked) {
        this(worker, name, mode, 1, 1, 0, asked);
    }

    /** A request of that worker for so many permits, made at that instant; {@code capacity} is what its user stated. */
    public RecordedHold(String worker, String name, LockMode mode, int permits, int capacity, long asked) {
        this(worker, name, mode, permits, capacity, 0, asked);
    }

    /** As above, for that {@link #transaction} of the worker's. */
    public RecordedHold(
            String worker, String name, LockMode mode, int permits, int capacity, long transaction, long asked) {
        this.worker = worker;
        this.name = name;
        this.mode = mode;
        this.permits = permits;
        this.capacity = capacity;
        this.transaction = transaction;
        this.asked = asked;
    }

    /** Who asked. */
    public String worker() {
        return worker;
    }

    /** The name of the lock; that of a semaphore begins with its kind. */
    public String name() {
        return name;
    }

    public LockMode mode() {
        return mode;
    }

    /** How many permits were asked for; 1 for a lock. */
    public int permits() {
        return permits;
    }

    /** Which transaction of its worker's asked; 0 if none did. */
    public long transaction() {
        return transaction;
    }

    /** When the user asked. */
    public long asked() {
        return asked;
    }

    /** What the lease answered, in the order of the questions; live. */
    public List<HeldAnswer> answers() {
        return answers;
    }

    public void answered(HeldAnswer answer) {
        answers.add(answer);
    }

    /** What the user was told of a loss; live. A good lease tells it once at most. */
    public List<Loss> losses() {
        return losses;
    }

    /** The user was told of a loss. */
    public void lost(long at, LeaseLoss.Cause cause) {
        losses.add(new Loss(at, cause));
    }

    /** The most that its user stated between request and grant. */
    int capacity() {
        return capacity;
    }

    void stated(int current) {
        capacity = Math.max(capacity, current);
    }

    /** How long its user lets it wait. */
    void waits(Duration most) {
        limit = most.isZero() || most.isNegative() ? null : most;
    }

    /** It has waited as long as it may, and was not granted. */
    boolean isOverdue(long now) {
        return !granted && limit != null && Duration.ofNanos(now - asked).compareTo(limit) >= 0;
    }

    /** The user got the lease at that instant. */
    public void granted(long token, Duration ttl, long at) {
        this.granted = true;
        this.token = token;
        this.ttl = ttl.toNanos();
        this.got = at;
    }

    /** The user called release at that instant. */
    public void releaseCalled(long at) {
        releasing = true;
        releaseCalled = at;
    }

    /** What the release returned. */
    public void released(ReleaseOutcome how) {
        outcome = how;
    }

    /** What the release returned, at that instant. */
    public void released(ReleaseOutcome how, long at) {
        released(how);
        end(at);
    }

    /** The user was told at that instant that there is no lease for this request. */
    public void refused(long at) {
        end(at);
    }

    private void end(long at) {
        ended = true;
        endedAt = at;
    }

    /** Whether it is recorded when the release returned, or when the user was refused. */
    public boolean isEnded() {
        return ended;
    }

    /** When the release returned, or the user was refused; 0 if that is not recorded. */
    public long endedAt() {
        return endedAt;
    }

    /** The user waited long for the news of a loss, and none came. */
    public void untold() {
        untold = true;
    }

    public boolean isGranted() {
        return granted;
    }

    /** The fencing token; 0 if nothing was granted. */
    public long token() {
        return token;
    }

    /** In nanoseconds. */
    public long ttl() {
        return ttl;
    }

    /** When the user had the lease in hand. */
    public long got() {
        return got;
    }

    public boolean isReleasing() {
        return releasing;
    }

    public long releaseCalledAt() {
        return releaseCalled;
    }

    public Optional<ReleaseOutcome> outcome() {
        return Optional.ofNullable(outcome);
    }

    public boolean isUntold() {
        return untold;
    }

    /** Whether the two may not be held at once. */
    public boolean excludes(RecordedHold other) {
        return mode == LockMode.EXCLUSIVE || other.mode == LockMode.EXCLUSIVE;
    }

    /**
     * While the user surely believed: from the end of the first question that was answered "held" to the start of the
     * last one. Belief may have been longer, never shorter; a pause of the process between clock and question cannot
     * make it so.
     */
    public Optional<Interval> belief() {
        List<HeldAnswer> held = answers.stream().filter(HeldAnswer::held).toList();
        if (held.isEmpty()) {
            return Optional.empty();
        }
        Interval belief =
                new Interval(held.get(0).after(), held.get(held.size() - 1).before());
        return belief.from() <= belief.to() ? Optional.of(belief) : Optional.empty();
    }

    /**
     * While the authority surely had this grant: as long as the user believed, and until the call of a release that
     * ended it.
     */
    public Optional<Interval> possession() {
        if (outcome != ReleaseOutcome.RELEASED) {
            return belief();
        }
        return answers.stream()
                .filter(HeldAnswer::held)
                .findFirst()
                .filter(first -> first.after() <= releaseCalled)
                .map(first -> new Interval(first.after(), releaseCalled));
    }

    /** One line, with times in milliseconds from a zero. */
    public String show(long zero) {
        StringBuilder text = new StringBuilder(
                String.format(Locale.ROOT, "%s %s %s asked %s", worker, name, what(), ms(asked, zero)));
        if (transaction != 0) {
            text.append(" by transaction ").append(transaction);
        }
        if (granted) {
            text.append(" got token ").append(token).append(' ').append(ms(got, zero));
        }
        belief().ifPresent(belief -> text.append(" believed ")
                .append(ms(belief.from(), zero))
                .append(" to ")
                .append(ms(belief.to(), zero)));
        answers.stream()
                .filter(answer -> !answer.held())
                .findFirst()
                .ifPresent(answer -> text.append(" not held ").append(ms(answer.after(), zero)));
        losses.forEach(
                loss -> text.append(" lost ").append(loss.cause()).append(' ').append(ms(loss.at(), zero)));
        if (releasing) {
            text.append(" release ").append(ms(releaseCalled, zero)).append(' ').append(outcome);
        }
        return text.toString();
    }

    private String what() {
        return mode == LockMode.PERMITS
                ? permits + " of " + capacity + " permits"
                : mode.name().toLowerCase(Locale.ROOT);
    }

    /** That instant in milliseconds from a zero, with three digits. */
    public static String ms(long at, long zero) {
        return String.format(Locale.ROOT, "%.3f", (at - zero) / 1e6);
    }
}
