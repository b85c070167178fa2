// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.Mac;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.SessionSettings;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** What all models over the session machines share. */
final class Sessions {
    private static final long CELL = 1000;
    private static final long MEMBERS = 500;

    private Sessions() {}

    static SessionSettings settings(int algorithm, long maxTtl) {
        return SessionSettings.of("sim", maxTtl, 1, algorithm, maxTtl, new CheapAuthenticator());
    }

    /** Which cell of which node, and which life of it. */
    static Incarnation incarnation(int node, int life, int cell) {
        return new Incarnation(cell * CELL + MEMBERS + node, life);
    }

    static Incarnation incarnation(SimNode node, int cell) {
        return incarnation(node.index(), node.incarnation(), cell);
    }

    /** The node behind an incarnation. */
    static int node(Incarnation incarnation) {
        return (int) (incarnation.high() % CELL - MEMBERS);
    }

    static int life(Incarnation incarnation) {
        return (int) incarnation.low();
    }

    /**
     * The session that ends when that client is proved dead: only one that the living member knows as that client's.
     */
    static long provable(SimWorld world, SimNode client) {
        long session = ((ClientView) client.cell().sessions()).session().session();
        SimNode member = world.node(0);
        if (session == 0 || !member.alive()) {
            return 0;
        }
        Incarnation known = ((MemberSessions) member.cell().sessions()).client(session);
        return incarnation(client, 0).equals(known) ? session : 0;
    }

    /** Not a secret to anybody, but different for every transcript, and quick. */
    private static final class CheapAuthenticator implements Authenticator {
        @Override
        public Mac prove(byte[] transcript) {
            return new Mac(ByteBuffer.allocate(8)
                    .putLong(StateEncoder.mix(Arrays.hashCode(transcript)))
                    .array());
        }
    }
}
