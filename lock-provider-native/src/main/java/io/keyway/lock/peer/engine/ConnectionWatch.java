// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.spi.LockEngine;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Tells observers when a client gets its first connection to a server, and loses its last one. Looks once after each
 * batch of turns, on the thread of the client's cells.
 */
public final class ConnectionWatch {
    private final List<LockEngine.Observer> observers = new CopyOnWriteArrayList<>();
    private boolean connected;
    /** How many connections there are to each server, where there may be several. */
    private final Map<String, Integer> connections = new HashMap<>();

    public void add(LockEngine.Observer observer) {
        observers.add(observer);
    }

    /** All who were added. */
    public List<LockEngine.Observer> observers() {
        return observers;
    }

    /** A batch of turns of a client's only session is over. */
    public void turned(ClientView session, String server) {
        boolean now = session.connected();
        if (now == connected) {
            return;
        }
        connected = now;
        tell(server, now);
    }

    /** Of a client of several connections: one to that server has begun, or ended. */
    public void changed(String server, boolean stands) {
        int now = connections.merge(server, stands ? 1 : -1, Integer::sum);
        if (now == (stands ? 1 : 0)) {
            tell(server, stands);
        }
    }

    private void tell(String server, boolean stands) {
        for (LockEngine.Observer observer : observers) {
            if (stands) {
                observer.connected(server);
            } else {
                observer.disconnected(server, "the connection ended");
            }
        }
    }
}
