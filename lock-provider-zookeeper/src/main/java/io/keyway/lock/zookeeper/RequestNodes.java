// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The places of a client's requests, by id. */
final class RequestNodes {
    private final Map<Long, RequestNode> places = new ConcurrentHashMap<>();

    /** The last note that was written: most requests of a client say the same. */
    private volatile Map.@Nullable Entry<Owner, byte[]> written;

    /** The request's place in that session; one in an earlier session is forgotten, since it ended with that. */
    RequestNode of(Request request, Session session, String container, Consumer<RequestNode> turn) {
        RequestNode known = places.get(request.id());
        if (known != null && known.session == session) {
            return known;
        }
        CreatedNode old = known == null ? null : known.node();
        if (old != null) {
            // Of a session that was given up: whoever it stands for stands somewhere else now.
            CompletableFuture<Boolean> unused = session.delete(old.path());
        }
        RequestNode place = new RequestNode(request, session, container, note(request.owner()), turn);
        places.put(request.id(), place);
        return place;
    }

    private byte[] note(Owner owner) {
        Map.Entry<Owner, byte[]> last = written;
        if (last == null || !last.getKey().equals(owner)) {
            last = Map.entry(owner, NodeData.of(owner).bytes());
            written = last;
        }
        return last.getValue();
    }

    @Nullable
    RequestNode get(long id) {
        return places.get(id);
    }

    /** That whose node was created by that transaction. */
    Optional<RequestNode> find(Session session, long czxid) {
        for (RequestNode place : places.values()) {
            CreatedNode node = place.node();
            if (place.session == session && node != null && node.czxid() == czxid) {
                return Optional.of(place);
            }
        }
        return Optional.empty();
    }

    /** False if it was taken out before. */
    boolean remove(RequestNode place) {
        return places.remove(place.request.id(), place);
    }

    /** Takes out all of that session. */
    List<RequestNode> removeAll(Session session) {
        List<RequestNode> all = places.values().stream()
                .filter(place -> place.session == session)
                .toList();
        all.forEach(this::remove);
        return all;
    }
}
