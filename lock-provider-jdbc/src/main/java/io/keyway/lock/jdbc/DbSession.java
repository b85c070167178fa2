// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.jdbc.Connections.Borrowed;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** One connection of session mode, and what the server keeps for as long as it lasts. */
final class DbSession {

    final Borrowed borrowed;

    /** Whoever has it may talk; it passes between threads. */
    final Semaphore use = new Semaphore(0);

    /** How many want this one and no other: who could have another lets them go first. */
    final AtomicInteger wanted = new AtomicInteger();

    /** The locks that this session has at the server; changed by whoever has {@link #use}. */
    final AtomicInteger locks = new AtomicInteger();

    /** How long it may be idle until the server ends it, in milliseconds; 0 forever. Of whoever has {@link #use}. */
    long idleMillis;

    /** When it was used last; of whoever has {@link #use}. */
    long usedAt = System.nanoTime();

    /** The server process, and when it began: a number may come again. */
    long backend;

    String backendStart = "";

    /** The server takes no writes any more, and so gives no token: no lock is taken here, and those that are stay. */
    volatile boolean readOnly;

    private volatile boolean broken;
    private volatile @Nullable Statement waiting;

    /** Made by whoever talks first. */
    DbSession(Borrowed borrowed) {
        this.borrowed = borrowed;
    }

    boolean isBroken() {
        return broken;
    }

    /** The server ends all that it keeps for it. */
    void breakOff() {
        broken = true;
        borrowed.discard();
        borrowed.close();
    }

    /** That statement waits for a lock; null when it does not any more. */
    void waits(@Nullable Statement statement) {
        waiting = statement;
    }

    /** The wait ends, if there is one, with an error or a lock. */
    void cancelWait() {
        Statement statement = waiting;
        if (statement != null) {
            try {
                statement.cancel();
            } catch (SQLException e) {
                // It ends by itself after its slice.
            }
        }
    }
}
