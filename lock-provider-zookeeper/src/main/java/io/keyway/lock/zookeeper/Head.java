// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Request;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * What a session knows about a line without asking. The ensemble numbers the nodes of a container in the order of their
 * creation, without gaps: whoever was the first in line with number n, and has deleted that node, is the first again if the
 * next one it creates is n + 1, since nobody has come in between; and whoever is not has number n - 1 before it. Such a
 * request needs no listing.
 *
 * <p>Numbers begin anew when an empty container is deleted and made again. So a client that uses a lock time and again
 * leaves a node of its own there, its pledge: while that is there the container cannot be deleted, and what was learned from
 * a node that was created after it holds. The pledge stands in nobody's way; whoever deletes it by hand is heard in time.
 *
 * <p>All requests of a session for one name share it.
 */
final class Head {
    /** No ticket's name begins so: it would have a mode. */
    private static final String PLEDGE = "pledge-";

    /** How often in a row it would have been right before it is worth a pledge. */
    static final int BEFORE_PLEDGE = 3;

    /** The last number with which anything is granted: at the end of an int the servers give the same one again and again. */
    static final int LAST = Integer.MAX_VALUE - 65_536;

    /** From this number on no pledge keeps the container: it is to be made anew in a quiet moment. */
    private static final int WORN = 1 << 30;

    private static final int MANY = 1_000;

    /** A creation that is sent. */
    enum Entry {
        /** It must be sent with a listing; what is learned from it says nothing about later ones. */
        UNPLEDGED,
        /** It is sent with a listing, since the number has not been enough before. */
        PLEDGED,
        /** Its number is likely to be enough. */
        ALONE
    }

    /**
     * A creation that was sent.
     *
     * @param prefix the node's path, but for the number
     * @param numbered whether all that were named like it are writers, and their names never come back
     */
    record Sent(Head head, CompletableFuture<Node> answer, Entry entry, String prefix, boolean numbered) {}

    private enum Pledge {
        NONE,
        SENT,
        THERE,
        REFUSED
    }

    final Session session;
    final String container;

    /** Of this session, by the numbers of their nodes. */
    private final Map<Integer, Succession> writers = new ConcurrentHashMap<>();

    /** How many requests are in it; guarded by what hands it out. */
    int users;

    private Pledge pledge = Pledge.NONE;
    private @Nullable Node pledged;

    /** The transaction that created the container; while the pledge is there. */
    private long incarnation;

    /** All that had lower numbers have left; only known after a first. */
    private int first;

    private boolean known;

    /** Whether that comes from a node that was created after the pledge. */
    private boolean sure;

    private int hits;
    private boolean worn;

    /** Creations that are decided on and not sent yet: the pledge they rely on is taken back after them. */
    private int sending;

    /** Whether a pledge may be there of which nothing is known, since its answer was lost. */
    private boolean doubtful;

    Head(Session session, String container) {
        this.session = session;
        this.container = container;
    }

    /**
     * Sends the creation of a request's node; if it relies on the pledge, before that is taken back.
     *
     * @param note what the node is to hold
     */
    Sent create(Request request, byte[] note) {
        Entry entry;
        boolean numbered;
        String prefix = container + "/";
        synchronized (this) {
            entry = pledge != Pledge.THERE ? Entry.UNPLEDGED : sure && hits > 0 ? Entry.ALONE : Entry.PLEDGED;
            numbered = entry != Entry.UNPLEDGED && request.mode() == LockMode.EXCLUSIVE;
            prefix += numbered
                    ? Ticket.numbered(incarnation)
                    : Ticket.prefix(Ticket.owner(session.id(), request.id()), request);
            sending++;
        }
        byte[] data = numbered ? Note.naming(note, request.id()) : note;
        try {
            // Not inside the monitor: a handle that is over answers under a lock of its own, and answers ask for the
            // monitor.
            return new Sent(
                    this, session.create(prefix, data, CreateMode.EPHEMERAL_SEQUENTIAL), entry, prefix, numbered);
        } finally {
            delete(sent());
        }
    }

    /** One that was decided on is sent: the pledge that is to be deleted now, if one is. */
    private synchronized @Nullable Node sent() {
        sending--;
        return takenBack();
    }

    private @Nullable Node takenBack() {
        if (sending > 0 || pledge != Pledge.REFUSED) {
            return null;
        }
        Node there = pledged;
        pledged = null;
        return there;
    }

    /** The container has been used so often that it had better be made anew. */
    synchronized boolean isWorn() {
        return worn;
    }

    /** The node of that number, which was just created, is that writer's. */
    void stands(int number, Succession writer) {
        writers.put(number, writer);
    }

    /** That writer's node is not there any more. */
    void leaves(int number, Succession writer) {
        writers.remove(number, writer);
    }

    /** Who has the node of that number, if it is a writer of this session; perhaps it has just left. */
    @Nullable
    Succession writer(int number) {
        return writers.get(number);
    }

    /** Whether the node of that number, which was just created, is the first. */
    synchronized boolean knowsFirst(int number) {
        return sure && number == first;
    }

    /** A node of that number stands first in line. */
    synchronized void isFirst(int number, Entry entry) {
        boolean certain = entry != Entry.UNPLEDGED && pledge == Pledge.THERE;
        if (sure && (!certain || number - first < 0)) {
            // Somebody knew better.
            return;
        }
        first = number;
        known = true;
        sure = certain;
    }

    /** Whether that number would have told that its node is the first. */
    synchronized boolean wouldBeFirst(int number) {
        return known && number == first;
    }

    /** Whether the number of a node has told, or would have told without a listing, who stands before it. */
    void told(boolean enough) {
        boolean search;
        synchronized (this) {
            hits = enough ? Math.min(MANY, hits + 1) : 0;
            if (pledge != Pledge.NONE || hits < BEFORE_PLEDGE) {
                return;
            }
            pledge = Pledge.SENT;
            search = doubtful;
        }
        String name = PLEDGE + session.id() + "-";
        CompletableFuture<Node> made = search
                ? session.children(container, null)
                        .thenCompose(names -> names.stream()
                                .filter(each -> each.startsWith(name))
                                .findFirst()
                                .map(each -> CompletableFuture.completedFuture(new Node(container + "/" + each, 0)))
                                .orElseGet(() -> make(name)))
                : make(name);
        CompletableFuture<Node> unused = made.whenComplete((node, failure) -> watch(node));
    }

    private CompletableFuture<Node> make(String name) {
        return session.create(container + "/" + name, new byte[0], CreateMode.EPHEMERAL_SEQUENTIAL);
    }

    /**
     * What happens to the pledge is told before the answer to any creation that comes after it, since both come by one
     * connection and one thread.
     */
    private void watch(@Nullable Node node) {
        if (node == null) {
            pledged(null, 0);
            return;
        }
        CompletableFuture<Boolean> there = session.watches().data(node.path(), event -> forget(), (data, stat) -> true);
        CompletableFuture<Stat> unused = session.stat(container).whenComplete((stat, failure) -> {
            boolean both = failure == null && !there.isCompletedExceptionally();
            pledged(both ? node : null, both ? stat.getCzxid() : 0);
        });
    }

    /** {@code node}: null if it is not known whether there is one; then it is tried again after a while. */
    private void pledged(@Nullable Node node, long container) {
        Node late;
        synchronized (this) {
            if (pledge == Pledge.SENT) {
                pledge = node == null ? Pledge.NONE : Pledge.THERE;
                doubtful = node == null;
                hits = node == null ? 0 : hits;
                incarnation = container;
            }
            pledged = node;
            late = takenBack();
        }
        delete(late);
    }

    /** The node of that number, which this session had created, is not there any more. */
    synchronized void deleted(int number) {
        if (known && number == first) {
            first = number + 1;
        }
    }

    /** A node of that number was created here. */
    void created(int number) {
        if (number >= WORN || number < 0) {
            synchronized (this) {
                worn = true;
            }
            forget();
        }
    }

    /** Takes the pledge back: nothing is known any more. */
    void forget() {
        Node there;
        synchronized (this) {
            pledge = Pledge.REFUSED;
            known = false;
            sure = false;
            there = takenBack();
        }
        delete(there);
    }

    private void delete(@Nullable Node node) {
        if (node != null) {
            CompletableFuture<Boolean> unused = session.delete(node.path());
        }
    }
}
