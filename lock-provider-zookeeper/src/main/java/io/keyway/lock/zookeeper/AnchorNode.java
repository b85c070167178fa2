// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.jspecify.annotations.Nullable;

/**
 * The ensemble numbers the nodes of a container in the order of their creation, without gaps: whoever was the first in
 * line with number n, and has deleted that node, is the first again if the next one it creates is n + 1, since nobody
 * has come in between.
 *
 * <p>Numbers begin anew when an empty container is deleted and made again. So a session that is the first time and
 * again leaves a node of its own there, its pledge: while that is there the container cannot be deleted, and what was
 * learned from a node that was created after it holds. The pledge stands in nobody's way. What happens to it is told
 * before the answer to any creation that the ensemble carries out later, since both come by one connection and one
 * thread.
 */
final class AnchorNode implements FirstInLine {
    /** No ticket's name begins so: it would have a mode. */
    private static final String NAME = "pledge-";

    /** How often in a row it would have been right before it is worth a node. */
    static final int BEFORE = 3;

    private static final int MANY = 1_000;

    private enum State {
        NONE,
        SENT,
        THERE,
        REFUSED
    }

    private final Session session;
    private final String container;
    private State state = State.NONE;
    private @Nullable CreatedNode node;

    /** All that had lower numbers have left; only known after a first. */
    private int first;

    private boolean known;

    /** Whether that comes from a node that was created after the pledge. */
    private boolean sure;

    private int hits;

    /** Creations that are decided on and not sent yet: the pledge they rely on is taken back after them. */
    private int sending;

    /** Whether a pledge may be there of which nothing is known, since its answer was lost. */
    private boolean doubtful;

    AnchorNode(Session session, String container) {
        this.session = session;
        this.container = container;
    }

    @Override
    public Entry send(Runnable creation) {
        Entry entry;
        synchronized (this) {
            entry = state != State.THERE ? Entry.UNPLEDGED : sure && hits > 0 ? Entry.ALONE : Entry.PLEDGED;
            sending++;
        }
        try {
            // Not inside the monitor: a handle that is over answers at once, and answers ask for the monitor.
            creation.run();
        } finally {
            delete(sent());
        }
        return entry;
    }

    /** One that was decided on is sent: the pledge that is to be deleted now, if one is. */
    private synchronized @Nullable CreatedNode sent() {
        sending--;
        return takenBack();
    }

    private @Nullable CreatedNode takenBack() {
        if (sending > 0 || state != State.REFUSED) {
            return null;
        }
        CreatedNode there = node;
        node = null;
        return there;
    }

    @Override
    public synchronized boolean knowsFirst(int number) {
        boolean knows = sure && number == first;
        hits = knows ? Math.min(MANY, hits + 1) : 0;
        return knows;
    }

    @Override
    public void listed(int number, Entry entry, boolean stands) {
        boolean begin;
        boolean search;
        synchronized (this) {
            boolean would = known && number == first;
            hits = would && stands ? Math.min(MANY, hits + 1) : 0;
            if (stands) {
                isFirst(number, entry);
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

    @Override
    public synchronized void isFirst(int number, Entry entry) {
        boolean certain = entry != Entry.UNPLEDGED && state == State.THERE;
        if (sure && (!certain || number - first < 0)) {
            // Somebody knew better.
            return;
        }
        first = number;
        known = true;
        sure = certain;
    }

    @Override
    public synchronized void deleted(int number) {
        if (known && number == first) {
            first = number + 1;
        }
    }

    private void begin(boolean search) {
        String name = NAME + session.owner() + "-";
        CompletableFuture<CreatedNode> made = search
                ? session.children(container, null)
                        .thenCompose(names -> names.stream()
                                .filter(each -> each.startsWith(name))
                                .findFirst()
                                .map(each ->
                                        CompletableFuture.completedFuture(CreatedNode.of(container + "/" + each, 0)))
                                .orElseGet(() -> make(name)))
                : make(name);
        CompletableFuture<CreatedNode> unused = made.whenComplete((there, failure) -> watch(there));
    }

    private CompletableFuture<CreatedNode> make(String name) {
        return session.create(container + "/" + name, new byte[0], CreateMode.EPHEMERAL_SEQUENTIAL);
    }

    private void watch(@Nullable CreatedNode made) {
        if (made == null) {
            pledged(null);
            return;
        }
        CompletableFuture<Boolean> unused = session.watches()
                .data(made.path(), event -> forget(), (data, stat) -> true)
                .whenComplete((there, failure) -> pledged(failure == null ? made : null));
    }

    /** {@code made}: null if it is not known whether there is one; then it is tried again after a while. */
    private void pledged(@Nullable CreatedNode made) {
        CreatedNode late;
        synchronized (this) {
            if (state == State.SENT) {
                state = made == null ? State.NONE : State.THERE;
                doubtful = made == null;
                hits = made == null ? 0 : hits;
            }
            node = made;
            late = takenBack();
        }
        delete(late);
    }

    /** Takes the pledge back. */
    @Override
    public void forget() {
        CreatedNode there;
        synchronized (this) {
            state = State.REFUSED;
            known = false;
            sure = false;
            there = takenBack();
        }
        delete(there);
    }

    private void delete(@Nullable CreatedNode there) {
        if (there != null) {
            CompletableFuture<Boolean> unused = session.delete(there.path());
        }
    }
}
