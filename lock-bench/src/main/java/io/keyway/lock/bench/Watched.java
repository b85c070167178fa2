// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A contender of whose one name it is seen that it excludes whom it should; what does not is no lock, and its speed
 * says nothing.
 */
final class Watched implements Contender {
    private static final int ALONE = -1;

    private final Contender contender;
    /** How many hold it, or {@link #ALONE}. */
    private final AtomicInteger holders;

    private Watched(Contender contender, AtomicInteger holders) {
        this.contender = contender;
        this.holders = holders;
    }

    /** Clients which all take the same name, and no other. */
    static Opener all(Opener opener) {
        AtomicInteger holders = new AtomicInteger();
        return () -> new Watched(opener.open(), holders);
    }

    @Override
    public String name() {
        return contender.name();
    }

    @Override
    public Set<Use> offers() {
        return contender.offers();
    }

    @Override
    public Hold take(String lock) throws Exception {
        return take(lock, Use.LOCK);
    }

    @Override
    public Hold take(String name, Use use) throws Exception {
        Hold hold = contender.take(name, use);
        boolean alone = use == Use.LOCK || use == Use.WRITE || use == Use.TRANSACTION;
        int most = use == Use.PERMIT ? Use.PERMITS : Integer.MAX_VALUE;
        boolean excludes = alone ? holders.compareAndSet(0, ALONE) : among(holders.getAndIncrement(), most);
        if (!excludes) {
            throw new IllegalStateException(name + " is held by too many: " + holders + " beside a " + use);
        }
        return () -> {
            holders.addAndGet(alone ? 1 : -1);
            hold.free();
        };
    }

    private static boolean among(int others, int most) {
        return others >= 0 && others < most;
    }

    @Override
    public void close() {
        contender.close();
    }
}
