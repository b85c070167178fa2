// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockMode;
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
    private Head.@Nullable Sent sent;

    /** Null until it is created, or again when somebody has deleted it. */
    private volatile @Nullable Made made;

    private boolean pending;
    private boolean uncertain;

    /** {@code note}: what the node is to hold; not changed any more. */
    Creation(Request request, Session session, String container, byte[] note) {
        this.request = request;
        this.session = session;
        this.container = container;
        this.note = note;
    }

    /**
     * What was created.
     *
     * @param sent how
     * @param number of the node
     * @param succession for a writer of this session that stands right behind it
     */
    record Made(Node node, Head.Sent sent, int number, Succession succession) {

        Head head() {
            return sent.head();
        }

        String name() {
            return Ticket.name(node.path());
        }

        /** Nobody may be granted anything with its number. */
        boolean isBeyondNumbers() {
            return number > Head.LAST || number < 0;
        }

        /** The name that a writer before it has if it is named by its number alone, as this one is. */
        String before() {
            return Ticket.name(Ticket.numbered(sent.prefix(), number - 1));
        }

        /** Whether that writer has the name that it would look for. */
        boolean wouldKnow(Ticket writer) {
            return !sent.numbered() || writer.name().equals(before());
        }
    }

    @Nullable
    Made made() {
        return made;
    }

    @Nullable
    Node node() {
        Made there = made;
        return there == null ? null : there.node;
    }

    /** Whether there may be a node that nobody has heard of. */
    boolean wasSent() {
        return pending || uncertain;
    }

    boolean isPending() {
        return pending;
    }

    Head.Entry send(Head head) {
        Head.Sent creation = head.create(request, note);
        sent = creation;
        pending = true;
        return creation.entry();
    }

    /** Waits for the creation that is on its way, if one is. */
    void settle(Limit limit) throws KeeperException, TimeoutException, InterruptedException {
        Head.Sent creation = sent;
        if (!pending || creation == null) {
            return;
        }
        try {
            made(limit.await(creation.answer()), creation);
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
            Node node = new Search(session, container, request.id()).node(creation, limit);
            if (node != null) {
                made(node, creation);
            }
            uncertain = false;
        }
    }

    private void made(Node node, Head.Sent creation) {
        int number = Ticket.number(node.path(), creation.prefix().length());
        creation.head().created(number);
        Made there = new Made(node, creation, number, new Succession());
        if (request.mode() == LockMode.EXCLUSIVE) {
            creation.head().stands(number, there.succession);
        }
        made = there;
    }

    /** The node is not there any more. */
    void lost() {
        made = null;
    }
}
