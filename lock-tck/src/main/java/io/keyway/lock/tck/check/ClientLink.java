// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LockClient;
import io.keyway.lock.tck.TckSubject;
import java.util.Locale;
import java.util.concurrent.Callable;

/** A client and the link between it and the store, which can be broken without anybody being told. */
public final class ClientLink {
    /** A fault of which nobody is told. */
    public enum Silence {
        /** Nothing moves, either way. */
        CUT,
        /** What the client asks is carried out, and no answer arrives. */
        UNANSWERED;

        /** A client's role in a check, by what befalls it. */
        public String role() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private interface Fault {
        void set(boolean on) throws Exception;
    }

    private interface LateFault {
        boolean set(int answers) throws Exception;
    }

    private final LockClient client;
    private final Fault cut;
    private final Fault lost;
    private final LateFault lostAfter;
    private final Callable<Boolean> reset;

    private ClientLink(LockClient client, Fault cut, Fault lost, LateFault lostAfter, Callable<Boolean> reset) {
        this.client = client;
        this.cut = cut;
        this.lost = lost;
        this.lostAfter = lostAfter;
        this.reset = reset;
    }

    static ClientLink of(TckSubject.Links links, LockClient client) {
        return new ClientLink(
                client,
                on -> links.cut(client, on),
                on -> links.loseReplies(client, on),
                answers -> links.loseRepliesAfter(client, answers),
                () -> links.reset(client));
    }

    static ClientLink of(BackendLink link, LockClient client) {
        return new ClientLink(client, link::cut, link::loseReplies, answers -> false, () -> false);
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
                },
                answers -> {
                    network.loseRepliesAfter(answers);
                    return true;
                },
                () -> {
                    network.reset();
                    return true;
                });
    }

    public LockClient client() {
        return client;
    }

    /** Begins that fault. */
    public void begin(Silence silence) throws Exception {
        (silence == Silence.CUT ? cut : lost).set(true);
    }

    /** Ends that fault. */
    public void end(Silence silence) throws Exception {
        (silence == Silence.CUT ? cut : lost).set(false);
    }

    /** From now on nothing moves, either way. */
    public void cut() throws Exception {
        cut.set(true);
    }

    /** Ends {@link #cut()}. */
    public void heal() throws Exception {
        cut.set(false);
    }

    /**
     * The connection breaks, both sides notice, and a new one can be made; returns false if the subject cannot do that.
     */
    public boolean reset() throws Exception {
        return reset.call();
    }

    /** From now on what the client asks is carried out, and no answer arrives. */
    public void loseReplies() throws Exception {
        lost.set(true);
    }

    /** As {@link #loseReplies()}, when so many answers have arrived; false if the subject cannot do that. */
    public boolean loseRepliesAfter(int answers) throws Exception {
        if (answers > 0) {
            return lostAfter.set(answers);
        }
        loseReplies();
        return true;
    }

    /** Ends {@link #loseReplies()}. */
    public void keepReplies() throws Exception {
        lost.set(false);
    }
}
