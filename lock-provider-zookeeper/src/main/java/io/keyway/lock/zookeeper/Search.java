// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** Looks for the node of a request in a session, behind everything that the session has sent. */
record Search(Session session, String container, long request) {

    /**
     * The node whose creation was not answered; null if there is none.
     *
     * @param sent how it was created
     */
    @Nullable
    Node node(Head.Sent sent, Limit limit) throws KeeperException, TimeoutException, InterruptedException {
        CompletableFuture<Boolean> synced = session.sync(container);
        CompletableFuture<List<String>> listing = session.children(container, null);
        limit.await(synced);
        try {
            List<CompletableFuture<@Nullable Node>> candidates = limit.await(listing).stream()
                    .map(name -> container + "/" + name)
                    .filter(path -> path.startsWith(sent.prefix()))
                    .map(path -> candidate(path, sent.numbered()))
                    .toList();
            for (CompletableFuture<@Nullable Node> each : candidates) {
                Node found = own(each, limit);
                if (found != null) {
                    return found;
                }
            }
        } catch (KeeperException.NoNodeException e) {
            // Without a container there is no node.
        }
        return null;
    }

    private static @Nullable Node own(CompletableFuture<@Nullable Node> candidate, Limit limit)
            throws KeeperException, TimeoutException, InterruptedException {
        try {
            return limit.await(candidate);
        } catch (KeeperException.NoNodeException e) {
            return null;
        }
    }

    private CompletableFuture<@Nullable Node> candidate(String path, boolean numbered) {
        return session.read(
                path, null, (data, stat) -> !numbered || isOwn(data, stat) ? new Node(path, stat.getCzxid()) : null);
    }

    private boolean isOwn(byte[] data, Stat stat) {
        return Session.id(stat.getEphemeralOwner()).equals(session.id()) && Note.names(data, request);
    }
}
