// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A contender of whose one lock it is seen that it excludes; what does not is no lock, and its speed says nothing. */
final class Watched implements Contender {
    private final Contender contender;
    private final AtomicReference<@Nullable Thread> holder;

    private Watched(Contender contender, AtomicReference<@Nullable Thread> holder) {
        this.contender = contender;
        this.holder = holder;
    }

    /** Clients which all take the same lock, and no other. */
    static Opener all(Opener opener) {
        AtomicReference<@Nullable Thread> holder = new AtomicReference<>();
        return () -> new Watched(opener.open(), holder);
    }

    @Override
    public String name() {
        return contender.name();
    }

    @Override
    public Hold take(String lock) throws Exception {
        Hold hold = contender.take(lock);
        if (!holder.compareAndSet(null, Thread.currentThread())) {
            throw new IllegalStateException(lock + " is held twice");
        }
        return () -> {
            holder.set(null);
            hold.free();
        };
    }

    @Override
    public void close() {
        contender.close();
    }
}
