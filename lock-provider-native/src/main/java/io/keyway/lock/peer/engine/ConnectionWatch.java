// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.spi.LockEngine;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Tells observers when a client's session gets and loses its connection. Looks once after each batch of turns, on the
 * cell's thread.
 */
public final class ConnectionWatch {
    private final List<LockEngine.Observer> observers = new CopyOnWriteArrayList<>();
    private boolean connected;

    public void add(LockEngine.Observer observer) {
        observers.add(observer);
    }

    /** All who were added. */
    public List<LockEngine.Observer> observers() {
        return observers;
    }

    /** A batch of turns is over. */
    public void turned(ClientView session, String server) {
        boolean now = session.connected();
        if (now == connected) {
            return;
        }
        connected = now;
        for (LockEngine.Observer observer : observers) {
            if (now) {
                observer.connected(server);
            } else {
                observer.disconnected(server, "the connection ended");
            }
        }
    }
}
