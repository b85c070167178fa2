// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException;

/** Deletes the nodes of requests that are over. */
final class NodeRemoval {
    /** Longer remembered than any call can be under way. */
    private static final int WITHDRAWN = 4096;

    private final Sessions sessions;
    private final RequestNodes places;
    private final Containers containers;
    private final Set<Long> withdrawn = Collections.newSetFromMap(Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
            return size() > WITHDRAWN;
        }
    }));

    NodeRemoval(Sessions sessions, RequestNodes places, Containers containers) {
        this.sessions = sessions;
        this.places = places;
        this.containers = containers;
    }

    boolean isWithdrawn(long id) {
        return withdrawn.contains(id);
    }

    Answer release(Grant grant, Await limit)
            throws KeeperException, NotExecutedException, TimeoutException, InterruptedException {
        RequestNode place = places.get(grant.id());
        if (place == null) {
            return Answer.NOT_HELD;
        }
        place.held = false;
        boolean done = end(place, grant.cookie(), place.isFollowed(), limit);
        boolean broken = done && wasBroken(place, place.czxid(grant), limit);
        gone(place);
        return done && !broken ? Answer.DONE : Answer.NOT_HELD;
    }

    /** After the deletion was answered, so that each break before it has been heard. */
    private static boolean wasBroken(RequestNode place, long czxid, Await limit)
            throws KeeperException, TimeoutException, InterruptedException {
        if (place.session.isOver()) {
            return place.broken;
        }
        boolean broken = place.session.breaks().heard(limit).reasons().containsKey(czxid);
        if (broken) {
            place.session.breaks().forget(czxid);
        }
        return broken;
    }

    void withdraw(Request request, Await limit)
            throws KeeperException, NotExecutedException, TimeoutException, InterruptedException {
        withdrawn.add(request.id());
        RequestNode place = places.get(request.id());
        if (place != null) {
            withdraw(place, limit);
        }
    }

    /** Deletes whatever stands of it and forgets it; waits until no other call for it is under way. */
    void withdraw(RequestNode place, Await limit)
            throws KeeperException, NotExecutedException, TimeoutException, InterruptedException {
        place.held = false;
        place.begin(limit);
        try {
            CreatedNode node = place.node();
            if (!place.session.isOver()) {
                place.session.awaitConnected(limit, false);
                leave(place, limit);
            } else if (node != null) {
                boolean unused = end(place, node.path(), false, limit);
            }
            gone(place);
        } finally {
            place.end();
        }
    }

    /** Deletes whatever stands of it. */
    void leave(RequestNode place, Await limit) throws KeeperException, TimeoutException, InterruptedException {
        try {
            place.find(limit);
            CreatedNode node = place.node();
            if (node != null) {
                limit.await(place.session.delete(node.path()));
                place.deleted();
            }
        } catch (KeeperException.NoNodeException | KeeperException.SessionExpiredException e) {
            // Gone already, perhaps with its session.
        }
    }

    /** Nobody calls for that request any more: what may still stand of it must not. */
    void forgotten(long id) {
        RequestNode place = places.get(id);
        if (place != null) {
            CreatedNode node = place.node();
            if (node != null && !place.session.isOver()) {
                CompletableFuture<Boolean> unused = place.session.delete(node.path());
            }
            gone(place);
        }
    }

    /** Its request is over, or its node is not there any more. */
    void gone(RequestNode place) {
        boolean known = places.remove(place);
        Container container = place.parent();
        if (known && container != null) {
            containers.left(container);
        }
    }

    /**
     * Deletes a node; false if it was gone.
     *
     * @param saying whether those behind it are told that it held
     */
    private boolean end(RequestNode place, String path, boolean saying, Await limit)
            throws KeeperException, NotExecutedException, TimeoutException, InterruptedException {
        // After a session that is over another one deletes what the ensemble may still keep of it.
        Session session = place.session.isOver()
                ? sessions.connected(place.request.key(), place.request.ttl(), limit, false)
                : place.session;
        session.awaitConnected(limit, false);
        try {
            boolean done = limit.await(saying ? session.changeAndDelete(path) : session.delete(path));
            place.deleted();
            return done;
        } catch (KeeperException.NoNodeException | KeeperException.SessionExpiredException e) {
            return false;
        }
    }
}
