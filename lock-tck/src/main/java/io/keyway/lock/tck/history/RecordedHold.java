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

/** One request for a lock and what became of it, as its user saw it. All instants are the machine's clock in nanoseconds. */
final class RecordedHold {
    /** When a user was told of a loss, and why. */
    record Loss(long at, LeaseLoss.Cause cause) {}

    final String worker;
    final String name;
    final LockMode mode;
    final int permits;
    final long asked;
    final List<HeldAnswer> answers = new ArrayList<>();
    final List<Loss> losses = new ArrayList<>();
    private int capacity;
    private boolean granted;
    private long token;
    private long ttl;
    private long got;
    private boolean releasing;
    private long releaseCalled;
    private @Nullable ReleaseOutcome outcome;
    private boolean untold;

    RecordedHold(String worker, String name, LockMode mode, long asked) {
        this(worker, name, mode, 1, 1, asked);
    }

    RecordedHold(String worker, String name, LockMode mode, int permits, int capacity, long asked) {
        this.worker = worker;
        this.name = name;
        this.mode = mode;
        this.permits = permits;
        this.capacity = capacity;
        this.asked = asked;
    }

    /** The most that its user stated between request and grant. */
    int capacity() {
        return capacity;
    }

    void stated(int current) {
        capacity = Math.max(capacity, current);
    }

    void granted(long token, Duration ttl, long at) {
        this.granted = true;
        this.token = token;
        this.ttl = ttl.toNanos();
        this.got = at;
    }

    void releaseCalled(long at) {
        releasing = true;
        releaseCalled = at;
    }

    void released(ReleaseOutcome how) {
        outcome = how;
    }

    /** The user waited long for the news of a loss, and none came. */
    void untold() {
        untold = true;
    }

    boolean isGranted() {
        return granted;
    }

    long token() {
        return token;
    }

    /** In nanoseconds. */
    long ttl() {
        return ttl;
    }

    /** When the user had the lease in hand. */
    long got() {
        return got;
    }

    boolean isReleasing() {
        return releasing;
    }

    long releaseCalledAt() {
        return releaseCalled;
    }

    Optional<ReleaseOutcome> outcome() {
        return Optional.ofNullable(outcome);
    }

    boolean isUntold() {
        return untold;
    }

    boolean excludes(RecordedHold other) {
        return mode == LockMode.EXCLUSIVE || other.mode == LockMode.EXCLUSIVE;
    }

    /**
     * While the user surely believed: from the end of the first question that was answered "held" to the start of the last one. Belief may have been longer, never shorter; a pause of the process between clock and
     * question cannot make it so.
     */
    Optional<Interval> belief() {
        List<HeldAnswer> held = answers.stream().filter(HeldAnswer::held).toList();
        if (held.isEmpty()) {
            return Optional.empty();
        }
        Interval belief =
                new Interval(held.get(0).after(), held.get(held.size() - 1).before());
        return belief.from() <= belief.to() ? Optional.of(belief) : Optional.empty();
    }

    /** While the authority surely had this grant: as long as the user believed, and until the call of a release that ended it. */
    Optional<Interval> possession() {
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
    String show(long zero) {
        StringBuilder text = new StringBuilder(
                String.format(Locale.ROOT, "%s %s %s asked %s", worker, name, what(), ms(asked, zero)));
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

    static String ms(long at, long zero) {
        return String.format(Locale.ROOT, "%.3f", (at - zero) / 1e6);
    }
}
