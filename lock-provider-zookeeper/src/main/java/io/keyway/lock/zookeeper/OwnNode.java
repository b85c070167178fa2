// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult.CreateResult;
import org.jspecify.annotations.Nullable;

/**
 * The ephemeral sequential node of one request in one session.
 *
 * <p><b>States.</b> <i>None</i>: no creation was sent, or somebody has deleted the node. <i>On its way</i>: a creation
 * was sent and not answered. <i>Uncertain</i>: the answer was lost; before the next creation the node is looked for by
 * its name, behind all that the session has sent. <i>There</i>.
 *
 * <p><b>Invariants.</b> It is created, looked for and replaced by one verb at a time ({@link RequestNode#begin}). No
 * creation is sent by a session that is over for this client alone, nor after the node was left to others: nobody would
 * delete it.
 */
final class OwnNode {
    private final Request request;
    private final Session session;
    private final String containerPath;
    /** No other node has a name that begins so: it has the session and the request. */
    private final String owner;

    private final byte[] data;

    /** Guards {@code closed}, and that no creation is sent after it. */
    private final Object sending = new Object();

    private boolean closed;
    private volatile @Nullable CompletableFuture<CreateResult> creation;
    private volatile @Nullable CreateResult node;

    /** The number of the node in the container; meant only if there is one. */
    private volatile int number;

    private volatile boolean uncertain;

    /** When the first node was created, by the ensemble's clock in milliseconds; 0 if none was. */
    private long askedAt;

    /** {@code data}: what it is to hold; not changed any more. */
    OwnNode(Request request, Session session, String containerPath, byte[] data) {
        this.request = request;
        this.session = session;
        this.containerPath = containerPath;
        this.owner = NodeName.owner(session.owner(), request.id());
        this.data = data;
    }

    /** Null until it is created, or again when somebody has deleted it. */
    @Nullable
    CreateResult get() {
        return node;
    }

    /** Its number in the container; 0 if it is not there. */
    int number() {
        return node == null ? 0 : number;
    }

    /** Whether it is there, and the only one of those children of the container. */
    boolean isAllOf(List<String> names) {
        CreateResult own = node;
        return own != null && names.size() == 1 && own.getPath().equals(containerPath + "/" + names.get(0));
    }

    /** Whether it is neither there nor on its way. */
    boolean isNone() {
        return node == null && creation == null;
    }

    void create() {
        boolean over = session.isOver();
        synchronized (sending) {
            String path = containerPath + "/" + NodeName.prefix(owner, request);
            creation = over || closed
                    ? CompletableFuture.failedFuture(new KeeperException.SessionExpiredException())
                    : session.create(path, data, CreateMode.EPHEMERAL_SEQUENTIAL);
        }
    }

    /** Waits for the creation that is on its way, if one is. */
    void settle(Deadline deadline) throws KeeperException, TimeoutException, InterruptedException {
        CompletableFuture<CreateResult> sent = creation;
        if (sent == null) {
            return;
        }
        try {
            isThere(EnsembleCalls.await(sent, deadline));
            creation = null;
        } catch (KeeperException e) {
            uncertain = e instanceof KeeperException.ConnectionLossException
                    || e instanceof KeeperException.OperationTimeoutException;
            creation = null;
            throw e;
        }
    }

    private void isThere(@Nullable CreateResult found) {
        number = found == null ? 0 : NodeName.number(found.getPath());
        if (found != null && askedAt == 0) {
            askedAt = found.getStat().getCtime();
        }
        node = found;
    }

    /** If the answer was lost: finds out whether the node is there, behind everything that the session has sent. */
    void resolve(Deadline deadline) throws KeeperException, TimeoutException, InterruptedException {
        if (uncertain) {
            CompletableFuture<Boolean> synced = session.sync(containerPath);
            CompletableFuture<List<String>> listing = session.children(containerPath, null);
            boolean unused = EnsembleCalls.await(synced, deadline);
            isThere(found(listing, deadline));
            uncertain = false;
        }
    }

    private @Nullable CreateResult found(CompletableFuture<List<String>> listing, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        try {
            for (String each : EnsembleCalls.await(listing, deadline)) {
                if (each.startsWith(owner)) {
                    String path = containerPath + "/" + each;
                    return new CreateResult(path, EnsembleCalls.await(session.stat(path), deadline));
                }
            }
        } catch (KeeperException.NoNodeException e) {
            // Without a container there is no node; or it was deleted meanwhile.
        }
        return null;
    }

    /**
     * Sends a transaction that puts a node which says that it holds in the place of this one. Until its answer this one
     * is uncertain.
     *
     * @param old this one
     * @param from as of {@link RequestQueue.Promotion}
     * @param conditions what the transaction does before
     */
    CompletableFuture<Optional<String>> promote(CreateResult old, int from, List<Op> conditions)
            throws KeeperException.SessionExpiredException {
        List<Op> steps = new ArrayList<>(conditions);
        steps.add(Op.delete(old.getPath(), -1));
        String path = containerPath + "/" + NodeName.promoted(owner, request, from);
        byte[] content =
                request.isSoft() ? NodeData.of(request.owner()).since(askedAt).bytes() : data;
        steps.add(Op.create(path, content, session.acl(path), CreateMode.EPHEMERAL_SEQUENTIAL));
        synchronized (sending) {
            if (closed || session.isOver()) {
                throw new KeeperException.SessionExpiredException();
            }
            node = null;
            uncertain = true;
            return session.transactAndCreate(steps);
        }
    }

    /** Takes the answer to {@link #promote}; false if nothing was changed. */
    boolean promoted(CreateResult old, CompletableFuture<Optional<String>> sent, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        Optional<String> created = EnsembleCalls.await(sent, deadline);
        isThere(
                created.isPresent()
                        ? new CreateResult(created.get(), EnsembleCalls.await(session.stat(created.get()), deadline))
                        : old);
        uncertain = false;
        return created.isPresent();
    }

    /** Somebody has deleted it. */
    void lost() {
        node = null;
    }

    /** The session goes on without this client, for which others delete what there is of the node. */
    void leaveTo(LeftoverNodes leftovers) {
        boolean sent;
        synchronized (sending) {
            closed = true;
            sent = creation != null || uncertain;
        }
        CreateResult own = node;
        if (own != null) {
            leftovers.delete(own.getPath());
        } else if (sent) {
            leftovers.deleteAll(containerPath, owner);
        }
    }
}
