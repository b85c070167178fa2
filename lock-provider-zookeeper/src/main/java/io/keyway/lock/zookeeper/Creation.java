// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.spi.Request;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/**
 * The node of a request: how its creation was sent, and what came of it. One thread at a time sends and waits; what is known
 * can be asked by any.
 */
final class Creation {
    private final Request request;
    private final Session session;
    private final String container;
    private final byte[] note;
    private volatile Head.@Nullable Sent sent;

    /** Null until it is created, or again when somebody has deleted it. */
    private volatile @Nullable Node node;

    private boolean pending;
    private boolean uncertain;

    /** {@code note}: what the node is to hold; not changed any more. */
    Creation(Request request, Session session, String container, byte[] note) {
        this.request = request;
        this.session = session;
        this.container = container;
        this.note = note;
    }

    @Nullable
    Node node() {
        return node;
    }

    /** Null before it was sent. */
    Head.@Nullable Sent sent() {
        return sent;
    }

    boolean isPending() {
        return pending;
    }

    Head.Sent send(Head head) {
        Head.Sent creation = head.create(request, note);
        sent = creation;
        pending = true;
        return creation;
    }

    /** Waits for the creation that is on its way, if one is. */
    void settle(Limit limit) throws KeeperException, TimeoutException, InterruptedException {
        Head.Sent creation = sent;
        if (!pending || creation == null) {
            return;
        }
        try {
            node = limit.await(creation.answer());
            pending = false;
        } catch (KeeperException e) {
            pending = false;
            uncertain = e instanceof KeeperException.ConnectionLossException
                    || e instanceof KeeperException.OperationTimeoutException;
            throw e;
        }
    }

    /** If the answer was lost: finds out whether the node is there. */
    void resolve(Limit limit) throws KeeperException, TimeoutException, InterruptedException {
        Head.Sent creation = sent;
        if (uncertain && creation != null) {
            node = new Search(session, container, request.id()).node(creation, limit);
            uncertain = false;
        }
    }

    /** The node is not there any more. */
    void lost() {
        node = null;
    }

    /** The number of the node, which is there. */
    int number() {
        Node own = node;
        Head.Sent creation = sent;
        if (own == null || creation == null) {
            throw new IllegalStateException("not created");
        }
        return Ticket.number(own.path(), creation.prefix().length());
    }

    /** The name that a writer before it has if it is named by its number alone, as this one is. */
    String before() {
        Head.Sent creation = sent;
        if (creation == null) {
            throw new IllegalStateException("not created");
        }
        return name(Ticket.numbered(creation.prefix(), number() - 1));
    }

    /** Whether the writer before it has the name that it would look for. */
    boolean wouldKnow(Ticket writer) {
        Head.Sent creation = sent;
        return creation != null && (!creation.numbered() || writer.name().equals(before()));
    }

    /** The name of the node at that path. */
    String name(String path) {
        return path.substring(container.length() + 1);
    }
}
