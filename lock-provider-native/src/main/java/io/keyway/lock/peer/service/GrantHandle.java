// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.spi.Owner;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The published state of one grant: whether the lock is in use at this client, with which token, and how long it is
 * believed. User threads take and return the cached lock by compare-and-set without a message; the helper must win the
 * same compare-and-set before it gives the lock back. Closed forever once the grant is over.
 */
public final class GrantHandle {
    private sealed interface State {
        /** The last token that was handed out. */
        long used();
    }

    /** Cached, not in use. */
    private record Idle(long next, long since) implements State {
        @Override
        public long used() {
            return next - 1;
        }
    }

    /** {@code attend}: the release has to go through the cell. */
    private record Active(long token, @Nullable Object user, long since, boolean attend) implements State {
        @Override
        public long used() {
            return token;
        }
    }

    private record Closed(long used) implements State {}

    /** A use, for notices to its user. */
    public record Use(long token, @Nullable Object user) {}

    private final Key key;
    private final long token;
    private final long hi;
    private final LockMode mode;
    private final int permits;
    private final int capacity;
    private final int out;
    private final long ttl;
    private final Owner owner;
    private final AtomicReference<State> state;
    /** The last token that may be handed out; lower than {@link #hi} once it is sealed. */
    private volatile long end;

    private volatile Belief belief;

    private GrantHandle(Key key, long token, long hi, LockCall.Acquire request, int out, State first, Belief belief) {
        this.key = key;
        this.token = token;
        this.hi = hi;
        this.end = hi;
        this.mode = request.mode();
        this.permits = request.permits();
        this.capacity = request.capacity();
        this.out = out;
        this.ttl = request.ttl();
        this.owner = request.owner();
        this.belief = belief;
        this.state = new AtomicReference<>(first);
    }

    /** A grant of a lock whose first token is in use. */
    public GrantHandle(Key key, long token, long hi, LockCall.Acquire request, long now, Belief belief) {
        this(key, token, hi, request, 0, new Active(token, request.user(), now, true), belief);
    }

    /**
     * A grant whose first token is in use.
     *
     * @param out how many permits were out when it was granted, its own among them; 0 for a lock
     */
    public static GrantHandle taken(
            Key key, long token, long hi, LockCall.Acquire request, int out, long now, Belief belief) {
        return new GrantHandle(key, token, hi, request, out, new Active(token, request.user(), now, true), belief);
    }

    /** As {@link #taken}, but nobody uses it yet. */
    public static GrantHandle idle(
            Key key, long token, long hi, LockCall.Acquire request, int out, long now, Belief belief) {
        return new GrantHandle(key, token, hi, request, out, new Idle(token, now), belief);
    }

    private GrantHandle(GrantHandle of) {
        key = of.key;
        token = of.token;
        hi = of.hi;
        end = of.end;
        mode = of.mode;
        permits = of.permits;
        capacity = of.capacity;
        out = of.out;
        ttl = of.ttl;
        owner = of.owner;
        belief = of.belief;
        state = new AtomicReference<>(of.state.get());
    }

    private State state() {
        return Objects.requireNonNull(state.get());
    }

    public Key key() {
        return key;
    }

    public LockMode mode() {
        return mode;
    }

    public int permits() {
        return permits;
    }

    /** How many permits were out when this was granted, its own among them; 0 for a lock. */
    public int out() {
        return out;
    }

    /** Nanoseconds. */
    public long ttl() {
        return ttl;
    }

    public Owner owner() {
        return owner;
    }

    /** The first token of the grant. */
    public long token() {
        return token;
    }

    /** The last token of the grant. */
    public long hi() {
        return hi;
    }

    /** Whether that is one of its tokens. */
    public boolean covers(long asked) {
        return asked >= token && asked <= hi;
    }

    /** The end of belief on the cell's clock, in nanoseconds; moves forward with each extension. */
    public long deadline() {
        return belief.deadline();
    }

    /** Whether {@code token} is in use and believed at {@code now}. */
    public boolean holds(long token, long now) {
        return active(token) && belief.holds(now);
    }

    /** Whether the lock is in use with that token, believed or not. */
    public boolean active(long token) {
        return state.get() instanceof Active active && active.token() == token;
    }

    public boolean closed() {
        return state.get() instanceof Closed;
    }

    /** Takes the cached lock for a request of equal mode, ttl and owner. */
    public long tryReuse(LockMode mode, int permits, long ttl, Owner owner, @Nullable Object user, long now) {
        return tryReuse(mode, permits, 1, ttl, owner, user, now);
    }

    /**
     * Takes the cached lock for a request of equal mode, permits, ttl and owner, and of no smaller capacity than the
     * grant was given by.
     *
     * @param capacity how many permits there are in the asker's view; of no meaning for a lock
     * @param now the cell's clock, read before the call
     * @return the token, or 0 if the request has to go through the cell
     */
    public long tryReuse(
            LockMode mode, int permits, int capacity, long ttl, Owner owner, @Nullable Object user, long now) {
        return fits(mode, permits, capacity, ttl, owner) && fresh(now) ? activate(user, now) : 0;
    }

    /** Returns the lock to the cache; false if the release has to go through the cell. */
    public boolean tryRelease(long token, long now) {
        return state.get() instanceof Active active
                && active.token() == token
                && !active.attend()
                && token < end
                && state.compareAndSet(active, new Idle(token + 1, now));
    }

    /** Whether it serves such a request. Permits that were few enough may be too many for who states fewer. */
    public boolean fits(LockMode mode, int permits, int capacity, long ttl, Owner owner) {
        return this.mode == mode
                && this.permits == permits
                && this.ttl == ttl
                && (mode != LockMode.PERMITS || this.capacity <= capacity)
                && this.owner.equals(owner);
    }

    /** Whether enough belief is left to begin a use. */
    public boolean fresh(long now) {
        return belief.deadline() - now >= ttl / 8;
    }

    /** Takes the idle lock; 0 if it is not idle, or its range is used up. */
    public long activate(@Nullable Object user, long now) {
        return state.get() instanceof Idle idle
                        && idle.next() <= end
                        && state.compareAndSet(idle, new Active(idle.next(), user, now, false))
                ? idle.next()
                : 0;
    }

    /**
     * Gives the lock in use to the next user of this client; only for a handle that is attended, so that no user thread
     * interferes.
     */
    public long handOver(long token, @Nullable Object user, long now) {
        State current = state();
        return current instanceof Active active
                        && active.token() == token
                        && token < end
                        && state.compareAndSet(current, new Active(token + 1, user, now, true))
                ? token + 1
                : 0;
    }

    /** Makes the lock idle, attended or not. */
    public void rest(long token, long now) {
        State current = state();
        if (current instanceof Active active && active.token() == token) {
            state.compareAndSet(current, new Idle(token + 1, now));
        }
    }

    public boolean idle() {
        return state.get() instanceof Idle;
    }

    /** Since when the lock is idle, or in use. */
    public long since() {
        State current = state();
        return current instanceof Idle idle ? idle.since() : current instanceof Active active ? active.since() : 0;
    }

    /** The token in use; 0 if none is. */
    public long current() {
        return state.get() instanceof Active active ? active.token() : 0;
    }

    /** The present use; null if the lock is not in use. */
    public @Nullable Use use() {
        return state.get() instanceof Active active ? new Use(active.token(), active.user()) : null;
    }

    /** The last token that was handed out. */
    public long used() {
        return state().used();
    }

    /** From now on releases come to the cell, or don't. False if the lock is not in use. */
    public boolean attend(boolean flag) {
        while (state.get() instanceof Active active) {
            if (active.attend() == flag
                    || state.compareAndSet(active, new Active(active.token(), active.user(), active.since(), flag))) {
                return true;
            }
        }
        return false;
    }

    /**
     * That use is the last one: nobody at this client has the lock after it by this grant. To be called by the user who
     * has it.
     *
     * @return whether it is in use with that token
     */
    public boolean seal(long token) {
        boolean active = active(token);
        if (active) {
            end = token;
        }
        return active;
    }

    /** Whether no use can follow the last one. */
    public boolean isUsedUp() {
        return used() >= end;
    }

    /** Closes an idle handle; false if it is not idle. */
    public boolean closeIdle() {
        return state.get() instanceof Idle idle && state.compareAndSet(idle, new Closed(idle.next() - 1));
    }

    /** Closes the handle if that token is in use; null if it is not. */
    public @Nullable Use closeActive(long token) {
        while (state.get() instanceof Active active && active.token() == token) {
            if (state.compareAndSet(active, new Closed(token))) {
                return new Use(token, active.user());
            }
        }
        return null;
    }

    /** Closes the handle whatever it is; tells the use that this ended. */
    public @Nullable Use close() {
        State before = state.getAndUpdate(now -> now instanceof Idle idle
                ? new Closed(idle.next() - 1)
                : now instanceof Active active ? new Closed(active.token()) : now);
        return before instanceof Active active ? new Use(active.token(), active.user()) : null;
    }

    public Belief belief() {
        return belief;
    }

    public void believe(Belief other) {
        belief = other;
    }

    public GrantHandle copy() {
        return new GrantHandle(this);
    }

    public void encode(StateEncoder out) {
        State current = state();
        out.put(token).put(hi).put(end).value(mode).put(permits).put(capacity).put(this.out);
        out.put(ttl).value(owner).time(belief.deadline());
        if (current instanceof Idle idle) {
            out.put(0).put(idle.next()).time(idle.since());
        } else if (current instanceof Active active) {
            out.put(active.attend() ? 1 : 2).put(active.token()).time(active.since());
        } else {
            out.put(3).put(current.used());
        }
    }
}
