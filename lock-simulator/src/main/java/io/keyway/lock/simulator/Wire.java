// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.session.SessionFrame;
import java.util.Arrays;

/**
 * Reads along on all links of a member's clients: which stamps came to it and when, and which came back to their
 * clients. What oracles know of hearing, they know from here and not from the sessions.
 */
final class Wire implements ExpiryBounds.Hearing {
    private static final int KEPT = 64;
    private static final long NEVER = Long.MIN_VALUE;

    private static final class Client {
        final long[] stamps = new long[KEPT];
        final long[] cameAt = new long[KEPT];
        int next;
        int kept;
        long echoed;
        long arrived;
        long stalledThen;
        long highestBack = NEVER;
    }

    private final SimWorld world;
    private final SimNode member;
    /** By node, and by its incarnation. */
    private final Client[][] clients;

    Wire(SimWorld world, SimNode member) {
        this.world = world;
        this.member = member;
        this.clients = new Client[world.clients() + 1][0];
    }

    private Client client(int node, int life) {
        Client[] lives = clients[node];
        if (life >= lives.length) {
            lives = Arrays.copyOf(lives, life + 1);
            for (int i = clients[node].length; i <= life; i++) {
                lives[i] = new Client();
            }
            clients[node] = lives;
        }
        return lives[life];
    }

    /** A member starts: what its former life heard counts no more. */
    void forget() {
        for (Client[] lives : clients) {
            for (Client client : lives) {
                client.kept = 0;
            }
        }
    }

    void arrived(SimLink link, int direction, Object frame) {
        Client client = client(link.client.node().index(), link.clientIncarnation);
        if (direction == SimLink.TO_CLIENT) {
            if (frame instanceof SessionFrame.Data data && data.stamped()) {
                client.highestBack =
                        client.highestBack == NEVER ? data.stamp() : Math.max(client.highestBack, data.stamp());
            }
            return;
        }
        client.arrived = clock();
        client.stalledThen = member.stalled();
        if (frame instanceof SessionFrame.Data data && data.stamped()) {
            for (int i = 0; i < client.kept; i++) {
                if (client.stamps[i] == data.stamp()) {
                    return;
                }
            }
            client.stamps[client.next] = data.stamp();
            client.cameAt[client.next] = clock();
            client.next = (client.next + 1) % KEPT;
            client.kept = Math.min(KEPT, client.kept + 1);
        }
    }

    void sent(SimLink link, int direction, Object frame) {
        if (direction != SimLink.TO_CLIENT || !(frame instanceof SessionFrame.Data data) || !data.stamped()) {
            return;
        }
        Client client = client(link.client.node().index(), link.clientIncarnation);
        for (int i = 0; i < client.kept; i++) {
            if (client.stamps[i] == data.stamp()) {
                client.echoed = Math.max(client.echoed, client.cameAt[i]);
                return;
            }
        }
    }

    @Override
    public long clock() {
        return member.clock();
    }

    @Override
    public long echoed(int client, int life) {
        return client(client, life).echoed;
    }

    @Override
    public long arrived(int client, int life) {
        Client of = client(client, life);
        return of.arrived + member.stalled() - of.stalledThen;
    }

    /** The highest stamp that came back to the user's process, as {@link LostDeadline.Echoes} wants it. */
    long highest(Use use) {
        return client(use.client, world.node(use.client).incarnation()).highestBack;
    }

    /** Timers may be late, and short pauses of the member add up before it counts them as stalls. */
    @Override
    public long lateness() {
        return world.options().lateness() + world.options().maxTtl() / 8 + 10 * Nanos.MILLI;
    }
}
