// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.TokenFloor;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Gives the ensemble the floor of tokens that its client asks for. Tokens are numbers of transactions, to which each
 * session adds the floor that it has read after it created its own node ({@link BreakMailbox}); so the floor is raised by a
 * transaction that fails if there is any such node, and nobody goes on below it.
 */
final class TokenFloorWriter {
    private record Stored(long floor, Optional<Integer> version) {}

    /**
     * What a step meets of which another client was faster; the steps that are not reached have a code of their own.
     */
    private static final Set<Code> IN_BETWEEN = EnumSet.of(Code.NONODE, Code.NODEEXISTS, Code.BADVERSION);

    private final Optional<TokenFloor> wanted;
    private final Paths paths;
    private final Containers containers;
    private final ReentrantLock giving = new ReentrantLock();
    private volatile boolean given;

    TokenFloorWriter(Optional<TokenFloor> wanted, Paths paths, Containers containers) {
        this.wanted = wanted;
        this.paths = paths;
        this.containers = containers;
        this.given = wanted.isEmpty();
    }

    /** False if somebody else has written there. */
    static boolean isFloor(byte @Nullable [] data) {
        return data != null && new String(data, StandardCharsets.US_ASCII).matches("[0-4]?[0-9]{1,18}");
    }

    static long parse(byte[] data) {
        return Long.parseLong(new String(data, StandardCharsets.US_ASCII));
    }

    /**
     * Returns when the ensemble has it; to be called before anything is asked for in a session.
     *
     * @throws NotExecutedException if others are connected who would go on below it
     * @throws io.keyway.lock.InvalidLockUrlException if the ensemble has a higher one
     */
    void give(Session session, Await limit)
            throws KeeperException, NotExecutedException, TimeoutException, InterruptedException {
        if (given) {
            return;
        }
        if (!giving.tryLock(limit.end().nanos(), TimeUnit.NANOSECONDS)) {
            throw new NotExecutedException("another call was about to give the ensemble its token floor all the time");
        }
        try {
            while (!given) {
                given = isGiven(session, wanted.orElseThrow(), limit);
            }
        } finally {
            giving.unlock();
        }
    }

    /** False if somebody came in between. */
    private boolean isGiven(Session session, TokenFloor asked, Await limit)
            throws KeeperException, NotExecutedException, TimeoutException, InterruptedException {
        Stored before = stored(session, limit);
        if (!asked.isAbove(before.floor)) {
            return true;
        }
        containers.makeUnderBase(session, paths.sessions(), limit);
        String path = paths.tokenFloor();
        byte[] text = Long.toString(asked.wanted()).getBytes(StandardCharsets.US_ASCII);
        List<Op> steps = new ArrayList<>();
        // It cannot be deleted while a session has a node there; the next that begins makes it anew.
        steps.add(Op.delete(paths.sessions(), -1));
        steps.add(
                before.version.isPresent()
                        ? Op.setData(path, text, before.version.get())
                        : Op.create(path, text, session.acl(path), CreateMode.PERSISTENT));
        List<Code> codes = limit.await(session.transact(steps));
        if (codes.get(0) == Code.NOTEMPTY) {
            throw new NotExecutedException("tokenFloor=" + asked.wanted() + " is above what " + asked.url() + " has"
                    + (before.floor == 0 ? "" : ", " + before.floor)
                    + ". An ensemble can be given a higher one only while no other client is connected, and there are some;"
                    + " they would go on with tokens below it. Stop them, or wait until the sessions of those that were killed"
                    + " are over; once this client is connected, start them again.");
        }
        for (int i = 0; i < codes.size(); i++) {
            Code code = codes.get(i);
            if (code != Code.OK && code != Code.RUNTIMEINCONSISTENCY && !IN_BETWEEN.contains(code)) {
                throw KeeperException.create(code, steps.get(i).getPath());
            }
        }
        return codes.stream().allMatch(code -> code == Code.OK);
    }

    private Stored stored(Session session, Await limit) throws KeeperException, TimeoutException, InterruptedException {
        String path = paths.tokenFloor();
        limit.await(session.sync(paths.base()));
        try {
            return limit.await(session.read(
                            path,
                            null,
                            (byte[] data, Stat stat) -> isFloor(data)
                                    ? Optional.of(new Stored(parse(data), Optional.of(stat.getVersion())))
                                    : Optional.<Stored>empty()))
                    .orElseThrow(() -> KeeperException.create(Code.DATAINCONSISTENCY, path));
        } catch (KeeperException.NoNodeException e) {
            return new Stored(0, Optional.empty());
        }
    }
}
