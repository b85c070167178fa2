// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.session.SessionFrame.Challenge;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Proof;
import io.keyway.lock.peer.session.SessionFrame.Role;

/** Proofs for peers that tests write by hand. */
public final class Proofs {
    private Proofs() {}

    /** What a client answers to that challenge. */
    public static Proof of(Authenticator authenticator, Hello hello, Challenge challenge) {
        return new Proof(authenticator.prove(
                Handshake.transcript(Role.CLIENT, hello, challenge.wire(), challenge.member(), challenge.nonce())));
    }
}
