// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.TokenFloor;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;

/**
 * Gives the ensemble the floor of tokens that its client asks for. Tokens are numbers of transactions, to which each
 * session adds the floor that it has read after it created its mailbox ({@link BreakMailbox}); so the floor is raised
 * by a transaction that fails if there is any mailbox, and nobody goes on below it.
 */
final class TokenFloorWriter {

    /** What a step meets if another client was faster; the steps that are not reached have a code of their own. */
    private static final Set<Code> IN_BETWEEN = EnumSet.of(Code.NONODE, Code.NODEEXISTS, Code.BADVERSION);

    private final TokenFloor wanted;
    private final Paths paths;
    private final Containers containers;
    private final ReentrantLock giving = new ReentrantLock();
    private volatile boolean given;

    TokenFloorWriter(TokenFloor wanted, Paths paths, Containers containers) {
        this.wanted = wanted;
        this.paths = paths;
        this.containers = containers;
    }

    /**
     * Returns when the ensemble has the floor; to be called before anything is asked for in a session.
     *
     * @throws NotExecutedException if other clients are connected, which would go on below it
     * @throws io.keyway.lock.InvalidLockUrlException if the ensemble has a higher one
     */
    void give(Session session, Deadline deadline)
            throws KeeperException, NotExecutedException, TimeoutException, InterruptedException {
        if (given) {
            return;
        }
        if (!giving.tryLock(deadline.nanos(), TimeUnit.NANOSECONDS)) {
            throw new NotExecutedException("another call was about to give the ensemble its token floor all the time");
        }
        try {
            while (!given) {
                given = isGiven(session, deadline);
            }
        } finally {
            giving.unlock();
        }
    }

    /** False if another client was faster. */
    private boolean isGiven(Session session, Deadline deadline)
            throws KeeperException, NotExecutedException, TimeoutException, InterruptedException {
        boolean unused = EnsembleCalls.await(session.sync(paths.base()), deadline);
        StoredFloor before = EnsembleCalls.await(StoredFloor.read(session, paths.tokenFloor()), deadline);
        if (!wanted.isAbove(before.floor())) {
            return true;
        }
        containers.makeForMailboxes(session, deadline);
        String path = paths.tokenFloor();
        byte[] text = StoredFloor.bytes(wanted.wanted());
        List<Op> steps = new ArrayList<>();
        // The parent cannot be deleted while a session has its mailbox there; the next that begins makes it anew.
        steps.add(Op.delete(paths.sessions(), -1));
        steps.add(
                before.version().isPresent()
                        ? Op.setData(path, text, before.version().getAsInt())
                        : Op.create(path, text, session.acl(path), CreateMode.PERSISTENT));
        List<Code> codes = EnsembleCalls.await(session.transact(steps), deadline);
        if (codes.get(0) == Code.NOTEMPTY) {
            throw new NotExecutedException("tokenFloor=" + wanted.wanted() + " is above what " + wanted.url() + " has"
                    + (before.floor() == 0 ? "" : ", " + before.floor())
                    + ". An ensemble can be given a higher one only while no other client is connected, and there are"
                    + " some; they would go on with tokens below it. Stop them, or wait until the sessions of those "
                    + "that"
                    + " were killed are over; once this client is connected, start them again.");
        }
        for (int i = 0; i < codes.size(); i++) {
            Code code = codes.get(i);
            if (code != Code.OK && code != Code.RUNTIMEINCONSISTENCY && !IN_BETWEEN.contains(code)) {
                throw KeeperException.create(code, steps.get(i).getPath());
            }
        }
        return codes.stream().allMatch(code -> code == Code.OK);
    }
}
