// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockException;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Starts the backend before its first call; on the thread of that call, since it may block. */
final class StoreCalls {

    /** A call of the backend. */
    @FunctionalInterface
    interface Call<T> {
        T make(LockBackend backend) throws Exception;
    }

    private final LockBackend backend;
    private final LockBackend.Signals signals;
    private final Incarnation incarnation = Incarnation.draw();
    private final ReentrantLock starting = new ReentrantLock();
    private volatile boolean started;

    StoreCalls(LockBackend backend, LockBackend.Signals signals) {
        this.backend = backend;
        this.signals = signals;
    }

    Incarnation incarnation() {
        return incarnation;
    }

    /** Whether a call can be made without connecting first. */
    boolean started() {
        return started;
    }

    <T> T make(Call<T> call) throws Exception {
        start();
        return call.make(backend);
    }

    /** Nothing was sent if this fails; with a LockException it is no use to try again. */
    void start() throws NotExecutedException, InterruptedException {
        if (started) {
            return;
        }
        starting.lockInterruptibly();
        try {
            if (!started) {
                backend.start(signals, incarnation);
                started = true;
            }
        } catch (NotExecutedException | InterruptedException | LockException e) {
            throw e;
        } catch (Throwable e) {
            throw new NotExecutedException("the store could not be reached: " + describe(e), e);
        } finally {
            starting.unlock();
        }
    }

    static String describe(@Nullable Throwable failure) {
        if (failure == null) {
            return "for an unknown reason";
        }
        String message = failure.getMessage();
        if (failure instanceof Error) {
            // Its message alone is the name of a class, or of a library, or nothing.
            return failure.toString();
        }
        return message == null || message.isBlank() ? failure.getClass().getSimpleName() : message;
    }
}
