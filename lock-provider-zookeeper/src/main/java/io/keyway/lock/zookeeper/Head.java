// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

/**
 * What a session knows about the head of a line without asking. The ensemble numbers the nodes of a container in the order
 * of their creation, without gaps: whoever was the first in line with number n, and has deleted that node, is the first
 * again if the next one it creates is n + 1, since nobody has come in between. Such a request needs no listing.
 *
 * <p>Numbers begin anew when an empty container is deleted and made again. So a client that uses a lock time and again
 * leaves a node of its own there, its pledge: while that is there the container cannot be deleted, and what was learned from
 * a node that was created after it holds. The pledge stands in nobody's way; whoever deletes it by hand is heard in time.
 */
final class Head {
    /** No ticket's name begins so: it would have a third hyphen. */
    private static final String PLEDGE = "/pledge-";

    /** How often in a row it would have been right before it is worth a pledge. */
    static final int BEFORE_PLEDGE = 3;

    /** A creation that is about to be sent. */
    enum Entry {
        /** It must be sent with a listing; what is learned from it says nothing about later ones. */
        UNPLEDGED,
        /** It is sent with a listing, since others have come in between before. */
        PLEDGED,
        /** Its number is likely to be enough. */
        ALONE
    }

    private enum Pledge {
        NONE,
        SENT,
        THERE,
        REFUSED
    }

    final Session session;
    final String container;
    private Pledge pledge = Pledge.NONE;
    private @Nullable Node pledged;

    /** All that had lower numbers have left; only known after a first. */
    private int first;

    private boolean known;

    /** Whether that comes from a node that was created after the pledge. */
    private boolean sure;

    private int hits;

    Head(Session session, String container) {
        this.session = session;
        this.container = container;
    }

    synchronized Entry entry() {
        if (pledge != Pledge.THERE) {
            return Entry.UNPLEDGED;
        }
        return known && sure && hits > 0 ? Entry.ALONE : Entry.PLEDGED;
    }

    /** Whether the node of that number, which was just created, is the first; to be asked before {@link #isFirst}. */
    synchronized boolean knowsFirst(int number) {
        boolean right = pledge == Pledge.THERE && known && sure && number == first;
        if (!right) {
            hits = 0;
        }
        return right;
    }

    /** A node of that number stands first in line. */
    void isFirst(int number, Entry entry) {
        synchronized (this) {
            hits = known && number == first ? hits + 1 : 0;
            first = number;
            known = true;
            sure = entry != Entry.UNPLEDGED && pledge == Pledge.THERE;
            if (pledge != Pledge.NONE || hits < BEFORE_PLEDGE) {
                return;
            }
            pledge = Pledge.SENT;
        }
        CompletableFuture<Node> unused = session.create(
                        container + PLEDGE + session.id() + "-", new byte[0], CreateMode.EPHEMERAL_SEQUENTIAL)
                .whenComplete((node, failure) -> watch(node));
    }

    /**
     * What is heard of the pledge is heard before the answer to any creation that comes after it, since both come by one
     * connection to one thread.
     */
    private void watch(@Nullable Node node) {
        if (node == null) {
            pledged(null);
            return;
        }
        CompletableFuture<Content> unused = session.content(node.path(), event -> {
                    if (event.getType() != Watcher.Event.EventType.None) {
                        forget();
                    }
                })
                .whenComplete((content, failure) -> {
                    pledged(failure == null ? node : null);
                    if (failure != null) {
                        delete(node);
                    }
                });
    }

    private void pledged(@Nullable Node node) {
        synchronized (this) {
            if (pledge == Pledge.SENT) {
                pledge = node == null ? Pledge.REFUSED : Pledge.THERE;
                pledged = node;
                return;
            }
        }
        delete(node);
    }

    /** The node of that number, which this session had created, is not there any more. */
    synchronized void deleted(int number) {
        if (known && number == first) {
            first = number + 1;
        }
    }

    /** Takes the pledge back: nothing is known any more. */
    void forget() {
        Node there;
        synchronized (this) {
            there = pledged;
            pledged = null;
            pledge = Pledge.REFUSED;
            known = false;
        }
        delete(there);
    }

    private void delete(@Nullable Node node) {
        if (node != null) {
            CompletableFuture<Boolean> unused = session.delete(node.path());
        }
    }

    synchronized boolean isPledged() {
        return pledge == Pledge.THERE;
    }
}
