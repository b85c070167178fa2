// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LockClient;
import io.keyway.lock.tck.TckSubject;

/** A client and the link between it and the store, which can be broken without anybody being told. */
public final class ClientLink {
    private interface Fault {
        void set(boolean on) throws Exception;
    }

    private final LockClient client;
    private final Fault cut;
    private final Fault lost;

    private ClientLink(LockClient client, Fault cut, Fault lost) {
        this.client = client;
        this.cut = cut;
        this.lost = lost;
    }

    static ClientLink of(TckSubject.Links links, LockClient client) {
        return new ClientLink(client, on -> links.cut(client, on), on -> links.loseReplies(client, on));
    }

    static ClientLink through(Network network, String role, ClientOptions options) {
        return new ClientLink(
                network.client(role, options),
                on -> {
                    if (on) {
                        network.blackHole();
                    } else {
                        network.heal();
                    }
                },
                on -> {
                    if (on) {
                        network.loseReplies();
                    } else {
                        // What was lost stays lost: the connection cannot go on.
                        network.reset();
                        network.heal();
                    }
                });
    }

    public LockClient client() {
        return client;
    }

    /** From now on nothing moves, either way. */
    public void cut() throws Exception {
        cut.set(true);
    }

    /** Ends {@link #cut()}. */
    public void heal() throws Exception {
        cut.set(false);
    }

    /** From now on what the client asks is carried out, and no answer arrives. */
    public void loseReplies() throws Exception {
        lost.set(true);
    }

    /** Ends {@link #loseReplies()}. */
    public void keepReplies() throws Exception {
        lost.set(false);
    }
}
