// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The canonical encoding of a state: equal states give equal words. Times are written as differences to now, so that a
 * world that has only grown older is the same world.
 */
public final class StateEncoder {
    private static final long NO_HORIZON = Long.MAX_VALUE;

    private final long horizon;
    private long now;
    private long[] words = new long[512];
    private int size;

    public StateEncoder(long now) {
        this(now, NO_HORIZON);
    }

    /** @param horizon all times that are so many nanoseconds past, or more, are the same; nothing counts from them */
    public StateEncoder(long now, long horizon) {
        this.now = now;
        this.horizon = horizon;
    }

    /** Forgets what was written: the same buffer for the next state. */
    public StateEncoder again(long later) {
        now = later;
        size = 0;
        return this;
    }

    public StateEncoder put(long word) {
        if (size == words.length) {
            words = Arrays.copyOf(words, size * 2);
        }
        words[size++] = word;
        return this;
    }

    public StateEncoder put(boolean flag) {
        return put(flag ? 1 : 0);
    }

    /** A time of this cell's clock; {@link Turn#NEVER} stays itself. */
    public StateEncoder time(long at) {
        return put(at == Turn.NEVER ? at : Math.max(at - now, -horizon));
    }

    public StateEncoder put(String text) {
        int length = text.length();
        put(length);
        for (int i = 0; i < length; ) {
            long four = 0; // characters are packed: a state has many names
            for (int end = Math.min(length, i + 4); i < end; i++) {
                four = four << 16 | text.charAt(i);
            }
            put(four);
        }
        return this;
    }

    public StateEncoder put(Key key) {
        return put(key.algorithm()).put(key.id());
    }

    public StateEncoder put(Peer peer) {
        return put(peer.session());
    }

    /**
     * A part of the state that there may be: whether there is, and what {@code encode} writes of it.
     *
     * @param part null if there is none
     */
    public <T> StateEncoder optional(@Nullable T part, BiConsumer<T, StateEncoder> encode) {
        put(part != null);
        if (part != null) {
            encode.accept(part, this);
        }
        return this;
    }

    /**
     * Any immutable value: records and collections part by part, in their order, and everything else by its text, which
     * must tell all of it.
     */
    public StateEncoder value(@Nullable Object value) {
        if (value == null) {
            return put(0);
        } else if (value instanceof Number number) {
            return put(1).put(number.longValue());
        } else if (value instanceof String text) {
            return put(2).put(text);
        } else if (value instanceof Boolean flag) {
            return put(3).put(flag);
        } else if (value instanceof Record) {
            return parts(value);
        } else if (value instanceof Collection<?> all) {
            put(5).put(all.size());
            for (Object one : all) {
                value(one);
            }
            return this;
        } else if (value instanceof Map<?, ?> map) {
            put(6).put(map.size());
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                value(entry.getKey()).value(entry.getValue());
            }
            return this;
        }
        return put(7).put(value.toString());
    }

    private StateEncoder parts(Object value) {
        Class<?> type = value.getClass();
        put(4).put(type.getName().hashCode());
        for (Method part : PARTS.get(type)) {
            try {
                value(part.invoke(value));
            } catch (ReflectiveOperationException e) {
                throw new LinkageError("the parts of a record can be read: " + type, e);
            }
        }
        return this;
    }

    private static final ClassValue<Method[]> PARTS = new ClassValue<>() {
        @Override
        protected Method[] computeValue(Class<?> type) {
            RecordComponent[] components = type.getRecordComponents();
            Method[] parts = new Method[components.length];
            for (int i = 0; i < parts.length; i++) {
                parts[i] = components[i].getAccessor();
                parts[i].setAccessible(true);
            }
            return parts;
        }
    };

    /** A copy of the words. */
    public long[] words() {
        return Arrays.copyOf(words, size);
    }

    public long fingerprint() {
        long hash = 0x9E3779B97F4A7C15L;
        for (int i = 0; i < size; i++) {
            hash = mix(hash ^ words[i]);
        }
        return hash;
    }

    /** A bijective mixer of 64 bits (the finalizer of SplitMix64). */
    public static long mix(long value) {
        long z = value + 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
