// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.spi.LockEngine.Sink;
import io.keyway.lock.spi.Owner;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The grants that a client has, by name, for user threads that take without a message what lies idle. Threads meet at a
 * grant only, and each begins with another one. Changed on the thread of the client's cells, read on any.
 */
final class HeldByName {
    /** One grant, or several of one name. */
    sealed interface Grants permits GrantHold, Several {
        /** Takes an idle one that serves such a request; true if the sink was told. */
        boolean take(LockMode mode, int permits, int capacity, long ttl, Owner owner, Sink sink, long now);

        /** What stands on that handle; null if nothing does. */
        @Nullable
        GrantHold on(GrantHandle handle);

        GrantHold[] all();
    }

    private static final class Several implements Grants {
        private final GrantHold[] all;

        Several(GrantHold[] all) {
            this.all = all;
        }

        @Override
        public GrantHold[] all() {
            return all;
        }

        @Override
        public boolean take(LockMode mode, int permits, int capacity, long ttl, Owner owner, Sink sink, long now) {
            int first = (int) (Thread.currentThread().getId() % all.length);
            for (int i = 0; i < all.length; i++) {
                int place = first + i < all.length ? first + i : first + i - all.length;
                if (all[place].take(mode, permits, capacity, ttl, owner, sink, now)) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public @Nullable GrantHold on(GrantHandle handle) {
            for (GrantHold hold : all) {
                if (hold.on(handle) != null) {
                    return hold;
                }
            }
            return null;
        }
    }

    /** By the names alone: that of a semaphore is no address. */
    private final Map<String, Grants> locks = new ConcurrentHashMap<>();

    private final Map<String, Grants> semaphores = new ConcurrentHashMap<>();

    /** As {@link Grants#take}. */
    boolean take(LockKey key, LockMode mode, int permits, int capacity, long ttl, Owner owner, Sink sink, long now) {
        Grants known = held(key.kind() == LockKey.Kind.SEMAPHORE).get(key.name().toString());
        return known != null && known.take(mode, permits, capacity, ttl, owner, sink, now);
    }

    /** What stands on that handle, made if nothing does. */
    GrantHold on(GrantHandle handle, Supplier<GrantHold> maker) {
        boolean semaphore = LockKeys.isSemaphore(handle.key());
        Map<String, Grants> held = held(semaphore);
        String name = name(handle.key(), semaphore);
        Grants known = held.get(name);
        GrantHold hold = known == null ? null : known.on(handle);
        if (hold != null) {
            return hold;
        }
        GrantHold made = maker.get();
        held.merge(name, made, (before, one) -> {
            GrantHold[] more = Arrays.copyOf(before.all(), before.all().length + 1);
            more[more.length - 1] = made;
            return new Several(more);
        });
        return made;
    }

    /** What has that token; null if nothing does any more. */
    @Nullable
    GrantHold covering(Key key, long token) {
        boolean semaphore = LockKeys.isSemaphore(key);
        Grants known = held(semaphore).get(name(key, semaphore));
        if (known != null) {
            for (GrantHold hold : known.all()) {
                if (hold.covers(token)) {
                    return hold;
                }
            }
        }
        return null;
    }

    /** That handle is closed for good. */
    void closed(GrantHandle handle) {
        boolean semaphore = LockKeys.isSemaphore(handle.key());
        held(semaphore).computeIfPresent(name(handle.key(), semaphore), (name, known) -> {
            if (known.on(handle) == null) {
                return known;
            }
            GrantHold[] left = Arrays.stream(known.all())
                    .filter(hold -> hold.on(handle) == null)
                    .toArray(GrantHold[]::new);
            return left.length == 0 ? null : left.length == 1 ? left[0] : new Several(left);
        });
    }

    private Map<String, Grants> held(boolean semaphore) {
        return semaphore ? semaphores : locks;
    }

    private static String name(Key key, boolean semaphore) {
        return semaphore ? LockKeys.named(key.id()).name().toString() : key.id();
    }
}
