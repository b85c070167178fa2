// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import io.keyway.lock.peer.NativeOptions;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.session.SessionTarget;
import io.keyway.lock.peer.wire.FrameCodec;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/** Makes the cells of one algorithm, with the settings of one cluster. */
public final class Cells {
    private static final SecureRandom INCARNATIONS = new SecureRandom();

    private final SessionSettings session;
    private final Algorithm algorithm;

    public Cells(String cluster, Duration maxTtl, Algorithm algorithm, Authenticator authenticator) {
        this.session = SessionSettings.of(
                        cluster,
                        hash(settingsText(maxTtl)),
                        hash(cluster),
                        algorithm.id(),
                        maxTtl.toNanos(),
                        authenticator)
                .saying("maxTtl=" + NativeOptions.MAX_TTL.format(maxTtl), cluster)
                .serving(algorithm.name());
        this.algorithm = algorithm;
    }

    /** The same cells, for a client that gives its member a floor of tokens; 0 for none. */
    public Cells giving(long tokenFloor) {
        return new Cells(session.giving(tokenFloor), algorithm);
    }

    private Cells(SessionSettings session, Algorithm algorithm) {
        this.session = session;
        this.algorithm = algorithm;
    }

    /** The same cells, with another way to prove oneself. */
    public Cells proving(Authenticator authenticator) {
        return new Cells(session.with(authenticator), algorithm);
    }

    /**
     * The same cells, of a cluster with these members, each in that many cells: what its members must agree on, and its
     * clients learn.
     */
    public Cells among(List<String> members, int shards) {
        String text = agreed(members, shards);
        return new Cells(session.among(hash(text), text), algorithm);
    }

    private String agreed(List<String> members, int shards) {
        String agreement = algorithm.agreement();
        String list = algorithm.isElastic() ? "members that come and go" : String.join(",", members);
        return list
                + (shards == 1 ? "" : ", each in " + shards + " shards")
                + (agreement.isEmpty() ? "" : ", " + agreement);
    }

    /**
     * Whether that is the {@link #membersHash} of these members with another number of shards, where each cell elects
     * on its own: each name may be in another group then.
     */
    public boolean isRegrouped(long otherHash, List<String> members) {
        boolean found = false;
        for (int shards = 1; algorithm.electsInEachCell() && shards <= Membership.MAX_SHARDS; shards++) {
            found |= hash(agreed(members, shards)) == otherHash;
        }
        return found && otherHash != membersHash();
    }

    private static String settingsText(Duration maxTtl) {
        return "maxTtl=" + maxTtl.toMillis() + "ms";
    }

    private static long hash(String text) {
        return new StateEncoder(0).put(text).fingerprint();
    }

    /** Of the settings that all clients and members share. */
    public long settingsHash() {
        return session.settingsHash();
    }

    /** Of the member list. */
    public long membersHash() {
        return session.membersHash();
    }

    /** How long a member that cannot know what it granted is silent, in nanoseconds. */
    public long quarantine() {
        return session.quarantine();
    }

    /** The only member of a cluster that starts; {@code quarantineUntil} is on the cell's clock. */
    public Cell member(String node, long epoch, long quarantineUntil, Horizon horizon) {
        return member(Membership.single(node), name -> true, epoch, quarantineUntil, horizon);
    }

    /**
     * A cell of a member that starts.
     *
     * @param owned on what it decides, by {@link #route}; always the same answer
     * @param quarantineUntil on the cell's clock
     */
    public Cell member(
            Membership membership, Predicate<String> owned, long epoch, long quarantineUntil, Horizon horizon) {
        MemberSessions sessions =
                new MemberSessions(session, membership, incarnation(), epoch, quarantineUntil, horizon);
        if (algorithm.talksToMembers()) {
            sessions.withPeers(algorithm.isElastic());
        }
        if (algorithm.serving() == Algorithm.Serving.BY_LEADER) {
            sessions.underLeader();
        }
        return new Cell(algorithm.memberMachines(owned), sessions);
    }

    /** Writes and reads the frames of these cells; a new one for each event loop. */
    public FrameCodec frameCodec() {
        return new FrameCodec(algorithm.codec());
    }

    /** Which algorithm they run. */
    public Algorithm algorithm() {
        return algorithm;
    }

    /** As {@link Algorithm#route}. */
    public String route(Key key) {
        return algorithm.route(key);
    }

    /** {@link #route}, for whoever asks it often. */
    public Function<Key, String> routes() {
        return algorithm::route;
    }

    /** The machine of that lock. */
    public Key lock(String name) {
        return LockKeys.lock(algorithm.id(), name);
    }

    /** A client that starts. */
    public Cell client() {
        return client(SessionTarget.ONLY_MEMBER, 0, 0);
    }

    /**
     * A client of {@code aim} that keeps the byte {@code life} locked, and whose {@code guard}, if not 0, has to be
     * dead too; both are 0 where there are no such bytes.
     */
    public Cell client(SessionTarget aim, long life, long guard) {
        return new Cell(
                algorithm.clientMachines(), new ClientSession(session, incarnation(), aim, List.of(), life, guard));
    }

    private static Incarnation incarnation() {
        return new Incarnation(INCARNATIONS.nextLong(), INCARNATIONS.nextLong());
    }
}
