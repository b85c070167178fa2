// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.member.LocalDirectory;
import io.keyway.lock.peer.os.LockFile;
import io.keyway.lock.peer.os.OsLockStatus;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The byte of clients.lock by which a client proves that it lives, and the place whose file that is. A byte that
 * vanished, or one of a file that is no longer there, would prove it dead while it lives: all is lost then, and it goes
 * on under another byte as soon as it can.
 */
final class LivenessByte {
    private static final Logger LOG = LoggerFactory.getLogger(LivenessByte.class);

    private final String client;
    private final long guard;
    private volatile LocalConfig config;
    /**
     * {@link Input.Reborn#NO_LIFE} while no byte proves that this client lives: it holds nothing and asks for nothing.
     */
    private volatile long life = Input.Reborn.NO_LIFE;

    private volatile boolean ended;

    /**
     * @param guard the byte of the process that works under this client's leases, which is one of the present file; 0
     *     if there is none
     */
    LivenessByte(String client, LocalConfig config, long guard) {
        this.client = client;
        this.config = config;
        this.guard = guard;
    }

    LocalConfig config() {
        return config;
    }

    /**
     * Takes a byte of the file that others find in the directory.
     *
     * @throws LockUnavailableException if none can be locked; the next call may help, unless there is a guard
     */
    long take() {
        if (life != Input.Reborn.NO_LIFE && config.bytes().stillHeld(life)) {
            return life; // of a start that failed
        }
        if (!mayGoOn()) {
            throw LockFile.unavailable(
                    clientsLock(OsLockStatus.REPLACED) + "; close this client and open a new one", null);
        }
        if (!config.stands()) {
            config = config.anew();
        }
        life = config.bytes().take();
        return life;
    }

    /** The guard keeps a byte of the former file. */
    private boolean mayGoOn() {
        return guard == 0 || config.stands();
    }

    private String clientsLock(OsLockStatus status) {
        return config.directory().path() + "/" + LocalDirectory.CLIENTS + ": " + status.sentence();
    }

    /** Looks after the byte; one thread, several times a second. {@code told} gets what the cell has to know. */
    void check(Consumer<Input> told) {
        try {
            if (life == Input.Reborn.NO_LIFE) {
                goOn("a new byte of clients.lock proves that it lives", told);
                return;
            }
            OsLockStatus status = config.bytes().status(life);
            if (status != OsLockStatus.HELD) {
                lost(status, told);
            }
        } catch (RuntimeException | Error e) {
            life = Input.Reborn.NO_LIFE;
            told.accept(again("clients.lock cannot be looked at: " + e.getMessage()));
            LOG.error("all leases of {} are lost: it cannot look after its byte", client, e);
        }
    }

    private void lost(OsLockStatus status, Consumer<Input> told) {
        String why = clientsLock(status);
        LOG.error("all leases of {} are lost: {}", client, why);
        release();
        if (status == OsLockStatus.REPLACED || !goOn(why, told)) {
            told.accept(again(
                    why + "; " + (mayGoOn() ? "try again in some seconds" : "close this client and open a new one")));
        }
    }

    private boolean goOn(String why, Consumer<Input> told) {
        if (!mayGoOn()) {
            return false;
        }
        try {
            take();
            if (ended) {
                release();
                return false;
            }
            told.accept(again(why));
            LOG.info("{} goes on, under another byte of clients.lock", client);
            return true;
        } catch (LockUnavailableException e) {
            LOG.debug("{} cannot go on yet: {}", client, e.getMessage());
            return false;
        }
    }

    /** Makes the cell drop its session, and begin another one if a byte proves that this client lives. */
    Input.Reborn again(String why) {
        return new Input.Reborn(life, guard, why);
    }

    /** Gives the byte back, for good; nothing is held under it any more. */
    void end() {
        ended = true;
        release();
    }

    private void release() {
        long former = life;
        life = Input.Reborn.NO_LIFE;
        config.bytes().release(former);
    }
}
