// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/** The requests of a client, by id, each in the session that it is in; they hear here what befalls their sessions. */
final class RequestNodes implements Session.Listener {
    /** Longer remembered than any call can be under way. */
    private static final int WITHDRAWN = 4096;

    private final Paths paths;
    private final Containers containers;
    private final Map<Long, RequestNode> nodes = new ConcurrentHashMap<>();
    private final Set<Long> withdrawn = Collections.newSetFromMap(Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
            return size() > WITHDRAWN;
        }
    }));

    /** The data that were written last: most requests of a client say the same. */
    private volatile Map.@Nullable Entry<Owner, byte[]> written;

    private LockBackend.@Nullable Signals signals;
    private @Nullable Sessions sessions;

    RequestNodes(Paths paths, Containers containers) {
        this.paths = paths;
        this.containers = containers;
    }

    /** To be called before any verb. */
    void start(LockBackend.Signals signals, Sessions sessions) {
        this.signals = signals;
        this.sessions = sessions;
    }

    private LockBackend.Signals signals() {
        return started(signals);
    }

    private static <T> T started(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("not started");
        }
        return part;
    }

    boolean isWithdrawn(long id) {
        return withdrawn.contains(id);
    }

    /**
     * The request in that session, to be attempted. What there was of it in an earlier session is forgotten, since it
     * ended with that; with another capacity it begins anew, since its node says by which capacity everybody is to
     * judge it, and a node's name does not change.
     */
    RequestNode of(Request request, Session session, Deadline deadline)
            throws KeeperException, NotExecutedException, TimeoutException, InterruptedException {
        RequestNode node = in(session, request);
        if (node.request.capacity() != request.capacity()) {
            withdraw(node, deadline);
            node = in(session, request);
        }
        return node;
    }

    private RequestNode in(Session session, Request request) {
        RequestNode known = nodes.get(request.id());
        if (known != null && known.session == session) {
            return known;
        }
        if (known != null) {
            known.replacedIn(session);
        }
        String container = paths.container(request.key());
        RequestNode node = new RequestNode(request, session, container, data(request.owner()), containers, signals());
        nodes.put(request.id(), node);
        return node;
    }

    private byte[] data(Owner owner) {
        Map.Entry<Owner, byte[]> last = written;
        if (last == null || !last.getKey().equals(owner)) {
            last = Map.entry(owner, NodeData.of(owner).bytes());
            written = last;
        }
        return last.getValue();
    }

    @Nullable
    RequestNode get(long id) {
        return nodes.get(id);
    }

    Answer release(Grant grant, Deadline deadline)
            throws KeeperException, NotExecutedException, TimeoutException, InterruptedException {
        RequestNode node = nodes.get(grant.id());
        if (node == null) {
            return Answer.NOT_HELD;
        }
        Answer answer = node.release(grant, started(sessions), deadline);
        gone(node);
        return answer;
    }

    /** Deletes whatever there is of the request and forgets it; no later attempt of it succeeds. */
    void withdraw(Request request, Deadline deadline)
            throws KeeperException, NotExecutedException, TimeoutException, InterruptedException {
        withdrawn.add(request.id());
        RequestNode node = nodes.get(request.id());
        if (node != null) {
            withdraw(node, deadline);
        }
    }

    private void withdraw(RequestNode node, Deadline deadline)
            throws KeeperException, NotExecutedException, TimeoutException, InterruptedException {
        node.giveUp();
        node.begin(deadline);
        try {
            node.withdraw(started(sessions), deadline);
            gone(node);
        } finally {
            node.end();
        }
    }

    /** Nobody calls for that request any more: what may still be there of it must not. */
    void forgotten(long id) {
        RequestNode node = nodes.get(id);
        if (node != null) {
            node.forgotten();
            gone(node);
        }
    }

    /** The request is over, or its node is not there any more. */
    void gone(RequestNode node) {
        boolean known = nodes.remove(node.request.id(), node);
        Container container = node.container();
        if (known && container != null) {
            containers.left(container);
        }
    }

    /** Takes out all that are in that session. */
    List<RequestNode> removeAll(Session session) {
        List<RequestNode> all =
                nodes.values().stream().filter(node -> node.session == session).toList();
        all.forEach(node -> nodes.remove(node.request.id(), node));
        return all;
    }

    @Override
    public void connected(Session session) {
        signals().connected(session.servers());
    }

    @Override
    public void suspended(Session session) {
        String why = "the connection to the ensemble was lost";
        signals().disconnected(session.servers(), why);
        signals().doubt(why);
    }

    @Override
    public void broken(Session session, long czxid, String reason) {
        nodes.values().stream()
                .filter(node -> node.session == session && node.isCreatedBy(czxid))
                .findFirst()
                .ifPresent(node -> node.breakGrant(reason));
    }

    @Override
    public void ended(Session session, String why) {
        removeAll(session).forEach(node -> node.ended(why));
    }
}
