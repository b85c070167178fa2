// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import io.keyway.lock.peer.kernel.Canon;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.lease.LeaseClients;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.lease.LeaseMembers;
import io.keyway.lock.peer.lease.LeaseSettings;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.SessionSettings;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;

/** Makes the cells of the lease service. */
public final class Cells {
    private static final SecureRandom INCARNATIONS = new SecureRandom();

    private final SessionSettings session;
    private final LeaseSettings lease;

    public Cells(String cluster, Duration maxTtl, LeaseSettings lease, Authenticator authenticator) {
        this.session = SessionSettings.of(
                cluster,
                hash(maxTtl),
                new Canon(0).put(cluster).fingerprint(),
                LeaseKeys.ALGORITHM,
                maxTtl.toNanos(),
                authenticator);
        this.lease = lease;
    }

    private Cells(SessionSettings session, LeaseSettings lease) {
        this.session = session;
        this.lease = lease;
    }

    /** The same cells, with another way to prove oneself. */
    public Cells proving(Authenticator authenticator) {
        return new Cells(session.with(authenticator), lease);
    }

    private static long hash(Duration maxTtl) {
        return new Canon(0).put("lease").put(maxTtl.toNanos()).fingerprint();
    }

    /** Of the settings that all clients and members share. */
    public long settingsHash() {
        return session.settingsHash();
    }

    /** Of the member list: one member a cluster so far. */
    public long membersHash() {
        return session.membersHash();
    }

    /** How long a member that cannot know what it granted is silent, in nanoseconds. */
    public long quarantine() {
        return session.quarantine();
    }

    /** A member that starts; {@code quarantineUntil} is on the cell's clock. */
    public Cell member(String node, long epoch, long quarantineUntil, Horizon horizon) {
        return new Cell(
                new LeaseMembers(lease),
                new MemberSessions(session, node, incarnation(), epoch, quarantineUntil, horizon));
    }

    /** A client that starts. */
    public Cell client() {
        return client(0, 0);
    }

    /**
     * A client that keeps the byte {@code life} locked, and whose {@code guard}, if not 0, has to be dead too. What a guard watches over has to be stopped before a broken lock is somebody else's.
     */
    public Cell client(long life, long guard) {
        LeaseSettings settings = guard == 0 ? lease : lease.withStopBeforeRevoked();
        return new Cell(new LeaseClients(settings), new ClientSession(session, incarnation(), List.of(), life, guard));
    }

    private static Incarnation incarnation() {
        return new Incarnation(INCARNATIONS.nextLong(), INCARNATIONS.nextLong());
    }
}
