// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.peer.member.HostInfo;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.Mac;

/** The proof of a client whose host changes: what the host says now in host.info. */
final class HostSecret implements Authenticator {
    private volatile Authenticator now = Authenticator.none();

    /** Before each connection. */
    void of(HostInfo info) {
        now = info.authenticator();
    }

    @Override
    public Mac prove(byte[] transcript) {
        return now.prove(transcript);
    }

    @Override
    public boolean secret() {
        return now.secret();
    }

    @Override
    public String toString() {
        return now.toString();
    }
}
