// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Stands before a resource and refuses effects under a token lower than the highest it has seen for that name: so a
 * holder that was paused beyond its lease cannot spoil what the next one did. For EXCLUSIVE leases of providers with
 * FENCING. An equal token is that of the same grant and is let through. Thread-safe.
 *
 * <pre>{@code
 * FenceGuard guard = FenceGuard.inMemory();
 * boolean done = guard.run(lease, held -> cache.put(key, value)); // false: a later holder was there already
 * }</pre>
 *
 * <p>This one remembers in memory: it protects a resource that lives and dies with this process. It remembers at most a
 * fixed number of names, and refuses further ones with an exception until some are forgotten, since a forgotten token
 * could be overtaken. Rules LK-605 and LK-606.
 */
public final class FenceGuard {
    /** The number of names that {@link #inMemory()} remembers. */
    public static final int DEFAULT_MAX_NAMES = 100_000;

    private final int maxNames;
    private final AtomicInteger names = new AtomicInteger();
    private final ConcurrentHashMap<LockName, Entry> highest = new ConcurrentHashMap<>();

    private static final class Entry {
        final ReentrantLock gate = new ReentrantLock();
        long token = Long.MIN_VALUE;
        boolean forgotten;
    }

    private FenceGuard(int maxNames) {
        if (maxNames < 1) {
            throw new IllegalArgumentException("a fence guard remembers at least 1 name, not " + maxNames);
        }
        this.maxNames = maxNames;
    }

    /** {@return a guard that remembers {@link #DEFAULT_MAX_NAMES} names} */
    public static FenceGuard inMemory() {
        return new FenceGuard(DEFAULT_MAX_NAMES);
    }

    /**
     * {@return a guard that remembers that many names}
     *
     * @param maxNames how many, at least 1
     */
    public static FenceGuard inMemory(int maxNames) {
        return new FenceGuard(maxNames);
    }

    /**
     * Runs the effect unless a higher token was seen before; effects of one name run one at a time, so that none is
     * overtaken between the check and its end.
     *
     * @param <X> what the effect may throw
     * @param lease an EXCLUSIVE lease, whose token orders the effect
     * @param effect what to do to the resource
     * @return whether it was run
     * @throws X what the effect throws; the token counts as seen all the same
     * @throws IllegalArgumentException if the lease is not EXCLUSIVE
     * @throws IllegalStateException if the name is new and the guard is full
     */
    public <X extends Exception> boolean run(Lease lease, LockedAction<X> effect) throws X {
        requireExclusive(lease);
        Entry entry = enter(lease.name());
        try {
            if (lease.token() < entry.token) {
                return false;
            }
            entry.token = lease.token();
            effect.run(lease);
            return true;
        } finally {
            entry.gate.unlock();
        }
    }

    /**
     * Notes the token, and returns whether it is the highest seen so far. For effects that are ordered by themselves;
     * what is checked here can be overtaken before it is done.
     *
     * @param name the name of the lock that protects the resource
     * @param token the token that came with the effect
     * @return whether the resource may take the effect: no higher token was seen for the name
     * @throws IllegalStateException if the name is new and the guard is full
     */
    public boolean admits(LockName name, long token) {
        Entry entry = enter(name);
        try {
            if (token < entry.token) {
                return false;
            }
            entry.token = token;
            return true;
        } finally {
            entry.gate.unlock();
        }
    }

    /**
     * As {@link #admits(LockName, long)}, with the name as text.
     *
     * @param name the name of the lock that protects the resource
     * @param token the token that came with the effect
     * @return whether the resource may take the effect: no higher token was seen for the name
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     * @throws IllegalStateException if the name is new and the guard is full
     */
    public boolean admits(String name, long token) {
        return admits(LockName.of(name), token);
    }

    /**
     * As {@link #admits(LockName, long)}, with the lease's name and token.
     *
     * @param lease an EXCLUSIVE lease
     * @return whether the resource may take the effect: no higher token was seen for the name
     * @throws IllegalArgumentException if the lease is not EXCLUSIVE
     * @throws IllegalStateException if the name is new and the guard is full
     */
    public boolean admits(Lease lease) {
        requireExclusive(lease);
        return admits(lease.name(), lease.token());
    }

    /**
     * Forgets a name, for a resource that is gone: the next token of it is let through, whatever it is.
     *
     * @param name the name of the lock that protects the resource
     */
    public void forget(LockName name) {
        Entry entry = highest.get(name);
        if (entry == null) {
            return;
        }
        entry.gate.lock();
        try {
            if (!entry.forgotten) {
                entry.forgotten = true;
                highest.remove(name, entry);
                names.decrementAndGet();
            }
        } finally {
            entry.gate.unlock();
        }
    }

    /**
     * As {@link #forget(LockName)}, with the name as text.
     *
     * @param name the name of the lock that protects the resource
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     */
    public void forget(String name) {
        forget(LockName.of(name));
    }

    /** Returns the entry with its gate locked. */
    @SuppressWarnings("LockNotBeforeTry")
    private Entry enter(LockName name) {
        Objects.requireNonNull(name, "name");
        while (true) {
            Entry entry = highest.get(name);
            if (entry == null) {
                entry = highest.computeIfAbsent(name, this::newEntry);
            }
            entry.gate.lock();
            if (!entry.forgotten) {
                return entry;
            }
            entry.gate.unlock();
        }
    }

    private Entry newEntry(LockName name) {
        if (names.incrementAndGet() > maxNames) {
            names.decrementAndGet();
            throw new IllegalStateException("The fence guard remembers " + maxNames + " names and cannot take " + name
                    + ". Make it larger, or forget the names of resources that are gone.");
        }
        return new Entry();
    }

    private static void requireExclusive(Lease lease) {
        if (lease.mode() != LockMode.EXCLUSIVE) {
            throw new IllegalArgumentException(
                    "A fence guard orders EXCLUSIVE leases; that of " + lease.name() + " is " + lease.mode() + ".");
        }
    }
}
