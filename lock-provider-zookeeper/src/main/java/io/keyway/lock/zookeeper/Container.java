// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.OpResult;
import org.jspecify.annotations.Nullable;

/**
 * The parent of the request nodes of one lock or semaphore, as one session uses it, and what the session knows of the
 * queue in it without listing it. The recipe does without that knowledge; it saves a free lock one of three requests.
 *
 * <p><b>What is known.</b> The servers number the nodes of a container in the order of their creation, without gaps.
 * Whoever was the first in the queue with number n, and has deleted that node, is the first again if the next node that
 * it creates has number n + 1: nobody has come in between. So {@code first} is the number below which all nodes have
 * left. Soft writers may stand among them: they are in nobody's way, and the one that gets to hold does so by a new
 * node, with a number of its own. While one of them waits for a time without readers ({@link #wantsQuiet}) the number
 * alone is not enough, since a reader has to say that it was granted.
 *
 * <p><b>The anchor.</b> Numbers begin anew when an empty container is deleted and made again. So a session that is the
 * first time and again creates a node of its own there, the anchor: while that exists the container cannot be deleted,
 * and what was learned from a node that was created after the anchor is sure. The anchor is in nobody's way. What
 * happens to it is told before the answer to any creation that the ensemble carries out later, since both come by one
 * connection and one thread.
 *
 * <p><b>States of the anchor.</b>
 *
 * <ul>
 *   <li>NONE: none is wanted yet. After {@value #BEFORE} requests in a row of which the number alone would have been
 *       enough, it is created: SENT.
 *   <li>SENT: its creation, or its watch, is not answered. With both it is THERE; if one fails it is NONE again, and
 *       {@code doubtful}: the next try looks first whether there is one.
 *   <li>THERE: a creation goes alone, without a listing, if what is known is sure and was right the last time.
 *   <li>REFUSED: somebody deleted it, the container is missing or worn, or this client leaves. Nothing is known any
 *       more, and for good; a container that is needed again is a new object. The anchor is deleted as soon as no
 *       creation is about to be sent that relies on it.
 * </ul>
 *
 * <p>At the end of an int the servers would give the same number again and again: a container is worn before that, and
 * is to be made anew in a quiet moment.
 */
final class Container {

    /** How a request's node was created. */
    enum Creation {
        /** With a listing, and without an anchor: what is learned from it holds for this moment only. */
        UNANCHORED,
        /** With a listing, since the number was not enough before. */
        ANCHORED,
        /** Alone: its number is likely to be enough. */
        ALONE
    }

    /** The last number with which anything is granted. */
    static final int LAST = Integer.MAX_VALUE - 65_536;

    /** How often in a row the number would have been enough before it is worth an anchor. */
    static final int BEFORE = 3;

    /** No request's node has a name that begins so: it would have a mode. */
    private static final String ANCHOR = "pledge-";

    /** From this number on the container is to be made anew in a quiet moment. */
    private static final int WORN = 1 << 30;

    private static final int MANY = 1_000;

    private enum State {
        NONE,
        SENT,
        THERE,
        REFUSED
    }

    final Session session;
    final String path;

    /** How many requests are in it; guarded by {@link Containers}. */
    int users;

    private volatile boolean worn;

    /** Whether the last listing showed a soft writer that waits for a time without readers. */
    private boolean wantsQuiet;

    private State state = State.NONE;
    /** The path of the anchor, if there is one. */
    private @Nullable String anchor;

    /** All nodes with lower numbers have left; only meant if {@code known}. */
    private int first;

    private boolean known;

    /** Whether {@code first} comes from a node that was created after the anchor. */
    private boolean sure;

    /** How often in a row the number was enough, or would have been. */
    private int hits;

    /** Creations that are decided on and not sent yet: the anchor that they rely on is deleted after them. */
    private int sending;

    /** Whether an anchor may exist of which nothing is known, since its answer was lost. */
    private boolean doubtful;

    Container(Session session, String path) {
        this.session = session;
        this.path = path;
    }

    /** Sends the creation of a request's node; with {@link Creation#ALONE} no listing is to follow yet. */
    Creation send(Runnable creation) {
        Creation how;
        synchronized (this) {
            how = state != State.THERE
                    ? Creation.UNANCHORED
                    : sure && hits > 0 && !wantsQuiet ? Creation.ALONE : Creation.ANCHORED;
            sending++;
        }
        try {
            // Not inside the monitor: a handle that is over answers at once, and answers ask for the monitor.
            creation.run();
        } finally {
            delete(sent());
        }
        return how;
    }

    /** A creation that was decided on is sent; returns the anchor if it is to be deleted now. */
    private synchronized @Nullable String sent() {
        sending--;
        return takenBack();
    }

    private @Nullable String takenBack() {
        if (sending > 0 || state != State.REFUSED) {
            return null;
        }
        String there = anchor;
        anchor = null;
        return there;
    }

    /** A request's node of that number was created here. */
    void created(int number) {
        if (number >= WORN || number < 0) {
            worn = true;
            forget();
        }
    }

    /** Whether it has been used so often that it had better be made anew. */
    boolean isWorn() {
        return worn;
    }

    /** Whether the node of that number, which was just created, is surely the first. */
    synchronized boolean knowsFirst(int number) {
        boolean knows = sure && number == first && !wantsQuiet;
        hits = knows ? Math.min(MANY, hits + 1) : 0;
        return knows;
    }

    /** A listing has said whether a soft writer waits for a time without readers. */
    synchronized void wantsQuiet(boolean listed) {
        wantsQuiet = listed;
    }

    /** A listing has said whether the node of that number, which was created so, is the first. */
    void listed(int number, Creation how, boolean isFirst) {
        boolean begin;
        boolean search;
        synchronized (this) {
            boolean would = known && number == first;
            hits = would && isFirst ? Math.min(MANY, hits + 1) : 0;
            if (isFirst) {
                becameFirst(number, how);
            }
            begin = state == State.NONE && hits >= BEFORE;
            search = doubtful;
            if (begin) {
                state = State.SENT;
            }
        }
        if (begin) {
            begin(search);
        }
    }

    /** All nodes before the one of that number, which was created so, have left. */
    synchronized void becameFirst(int number, Creation how) {
        boolean certain = how != Creation.UNANCHORED && state == State.THERE;
        if (sure && (!certain || number - first < 0)) {
            // What is known already is better.
            return;
        }
        first = number;
        known = true;
        sure = certain;
    }

    /** This session has deleted the node of that number, which it had created. */
    synchronized void deleted(int number) {
        if (known && number == first) {
            first = number + 1;
        }
    }

    private void begin(boolean search) {
        String name = ANCHOR + session.owner() + "-";
        CompletableFuture<String> made = search
                ? session.children(path, null)
                        .thenCompose(names -> names.stream()
                                .filter(each -> each.startsWith(name))
                                .findFirst()
                                .map(each -> CompletableFuture.completedFuture(path + "/" + each))
                                .orElseGet(() -> make(name)))
                : make(name);
        CompletableFuture<String> unused = made.whenComplete((there, failure) -> watch(there));
    }

    private CompletableFuture<String> make(String name) {
        return session.create(path + "/" + name, new byte[0], CreateMode.EPHEMERAL_SEQUENTIAL)
                .thenApply(OpResult.CreateResult::getPath);
    }

    private void watch(@Nullable String made) {
        if (made == null) {
            anchored(null);
            return;
        }
        CompletableFuture<Boolean> unused = session.watches()
                .data(made, event -> forget(), (data, stat) -> true)
                .whenComplete((there, failure) -> anchored(failure == null ? made : null));
    }

    /** {@code made}: null if it is not known whether there is one; then it is tried again after a while. */
    private void anchored(@Nullable String made) {
        String late;
        synchronized (this) {
            if (state == State.SENT) {
                state = made == null ? State.NONE : State.THERE;
                doubtful = made == null;
                hits = made == null ? 0 : hits;
            }
            anchor = made;
            late = takenBack();
        }
        delete(late);
    }

    /** Numbers may begin anew: nothing is known any more, and the anchor is taken back. */
    void forget() {
        String there;
        synchronized (this) {
            state = State.REFUSED;
            known = false;
            sure = false;
            there = takenBack();
        }
        delete(there);
    }

    private void delete(@Nullable String there) {
        if (there != null) {
            CompletableFuture<Boolean> unused = session.delete(there);
        }
    }
}
