// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.LockEngine.Sink;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * To whom a {@link StoreEngine} speaks of each request: its sink, the hold of its grant, and the thread that waits for
 * it, from its submission until nothing of it is left.
 */
final class StoreSinks {

    private static final class Slot {
        final Sink sink;
        volatile @Nullable CallerThread lent;
        volatile @Nullable StoreHold hold;

        Slot(Sink sink, @Nullable CallerThread lent) {
            this.sink = sink;
            this.lent = lent;
        }
    }

    private final StoreEngine engine;
    private final Map<Long, Slot> slots = new ConcurrentHashMap<>();

    StoreSinks(StoreEngine engine) {
        this.engine = engine;
    }

    /** {@code lent} is a thread that waits for the first call of that request, if one does. */
    void add(long id, Sink sink, @Nullable CallerThread lent) {
        slots.put(id, new Slot(sink, lent));
    }

    /** A thread waits for the release of that grant; false if nothing is left of it. */
    boolean lend(long id, CallerThread lent) {
        Slot slot = slots.get(id);
        if (slot == null) {
            return false;
        }
        slot.lent = lent;
        return true;
    }

    /** The thread that waits for that call, if one does. */
    @Nullable
    CallerThread lent(StoreEffect effect) {
        Slot slot = null;
        if (effect instanceof StoreEffect.Attempt attempt) {
            slot = slots.get(attempt.request().id());
        } else if (effect instanceof StoreEffect.Release release) {
            slot = slots.get(release.grant().id());
        }
        return slot == null ? null : slot.lent;
    }

    /** Carries out an effect that is no call. */
    void tell(StoreEffect effect) {
        if (effect instanceof StoreEffect.Waiting waiting) {
            sink(waiting.id()).waiting(waiting.ahead(), waiting.holders());
        } else if (effect instanceof StoreEffect.Refused refused) {
            sink(refused.id()).refused(refused.holders());
        } else if (effect instanceof StoreEffect.Granted granted) {
            Slot slot = slot(granted.id());
            StoreHold hold = new StoreHold(engine, granted.grant(), granted.deadlineNanos());
            slot.hold = hold;
            slot.sink.granted(hold, granted.grant().token());
        } else if (effect instanceof StoreEffect.Converted converted) {
            Slot slot = slot(converted.id());
            StoreHold hold = new StoreHold(engine, converted.grant(), converted.deadlineNanos());
            slot.hold = hold;
            StoreHold before = slot(converted.from()).hold;
            if (before != null) {
                before.becomes(hold);
            }
            slot.sink.granted(hold, converted.grant().token());
        } else if (effect instanceof StoreEffect.Extended extended) {
            for (Grant grant : extended.grants()) {
                StoreHold hold = hold(slots.get(grant.id()));
                if (hold != null) {
                    hold.extend(extended.deadlineNanos());
                }
            }
        } else if (effect instanceof StoreEffect.Doubt doubt) {
            sink(doubt.id()).doubt(doubt.why());
        } else if (effect instanceof StoreEffect.Certain certain) {
            sink(certain.id()).certain();
        } else if (effect instanceof StoreEffect.Ended ended) {
            sink(ended.id()).ended(ended.cause(), ended.detail());
        } else if (effect instanceof StoreEffect.Failed failed) {
            sink(failed.id()).failed(failed.failure());
        } else if (effect instanceof StoreEffect.Released released) {
            StoreHold hold = slot(released.id()).hold;
            if (hold != null) {
                hold.answer(released.answer());
            }
        } else if (effect instanceof StoreEffect.Gone gone) {
            StoreHold hold = hold(slots.remove(gone.id()));
            if (hold != null) {
                // Nothing, unless the grant ended without a release.
                hold.gone();
            }
        }
    }

    private static @Nullable StoreHold hold(@Nullable Slot slot) {
        return slot == null ? null : slot.hold;
    }

    private Slot slot(long id) {
        Slot slot = slots.get(id);
        if (slot == null) {
            throw new IllegalStateException("request " + id + " is gone");
        }
        return slot;
    }

    private Sink sink(long id) {
        return slot(id).sink;
    }
}
