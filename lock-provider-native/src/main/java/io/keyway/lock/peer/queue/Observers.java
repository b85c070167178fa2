// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Those who ask what there is of one name, and change none of it.
 *
 * <p><b>Messages.</b> SHOW is answered with a STATUS when the clients have said by USE what is in use there
 * ({@link StatusQueries}). WATCH is answered with CHANGED when the version is not the one that it names, at once if it
 * is another one already ({@link Watches}). SEEK goes on, as SOUGHT, to the holders that keep its request from being
 * granted, or if there is none to the requests before it that do.
 *
 * <p><b>Invariants.</b> No grant, no request and no token depends on what is here: without it the manager grants the
 * same in the same order. A question is answered once, or ends with the session of whoever asked; a probe is nowhere
 * kept.
 */
final class Observers {
    /** What can be seen of a name, as its manager knows it. */
    record Seen(Grants grants, Waiters waiters, int perResource) {}

    private final Key key;
    private final int slot;
    private final int watchSlot;
    private final int mostWatches;
    private @Nullable StatusQueries questions;
    private @Nullable Watches watches;

    /**
     * Nobody asks.
     *
     * @param slot of the manager's timers, for {@link #due}
     * @param watchSlot another one of them, after which nothing needs to be called but {@link #settle}
     * @param mostWatches so many stay open; whoever watches then is answered at once
     */
    Observers(Key key, int slot, int watchSlot, int mostWatches) {
        this.key = key;
        this.slot = slot;
        this.watchSlot = watchSlot;
        this.mostWatches = mostWatches;
    }

    boolean isEmpty() {
        return questions == null && watches == null;
    }

    void received(Peer from, Message message, Seen seen, Turn turn) {
        if (message instanceof LockMessage.Seek seek) {
            passOn(from, seek, seen, turn);
        } else if (message instanceof LockMessage.Show show) {
            questions = questions == null ? new StatusQueries(key, slot) : questions;
            questions.begin(from, show, seen, turn);
        } else if (message instanceof LockMessage.Watch watch) {
            watches = watches == null ? new Watches(key, watchSlot, mostWatches) : watches;
            watches.begin(from, watch, turn);
        } else if (message instanceof LockMessage.Use use && questions != null) {
            questions.answered(from, use, seen, turn);
        }
    }

    /** A probe goes on along the edges that are there now: to whoever keeps that request from being granted. */
    private void passOn(Peer from, LockMessage.Seek seek, Seen seen, Turn turn) {
        WaitQueue waiters = seen.waiters().queue();
        WaitQueue.Wait wait = waiters == null ? null : waiters.find(from, seek.request());
        if (waiters == null || wait == null) {
            return;
        }
        HeldGrant own = wait.converts() ? seen.grants().current(from, wait.request.converts()) : null;
        boolean held = false;
        for (HeldGrant grant : seen.grants()) {
            if (!grant.equals(own) && Admission.standsInTheWay(grant.mode, wait.mode())) {
                held = true;
                if (!grant.peer.equals(HeldGrant.NOBODY)) {
                    turn.send(grant.peer, new LockMessage.Sought(key, grant.token, 0, seek.probe()));
                }
            }
        }
        for (WaitQueue.Wait ahead : held ? List.<WaitQueue.Wait>of() : waiters.all()) {
            if (ahead.equals(wait)) {
                return;
            }
            if (Admission.standsInTheWay(ahead.mode(), wait.mode())) {
                turn.send(ahead.peer, new LockMessage.Sought(key, 0, ahead.request.request(), seek.probe()));
            }
        }
    }

    /** The first of those slots is due. */
    void due(Seen seen, Turn turn) {
        if (questions != null) {
            questions.due(seen, turn);
        }
    }

    /** That session is over. */
    void ended(Peer peer, Seen seen, Turn turn) {
        if (questions != null) {
            questions.ended(peer, seen, turn);
        }
        if (watches != null) {
            watches.ended(peer);
        }
    }

    /** After each event: who need not wait any more is answered, and what is empty is not kept. */
    void settle(Seen seen, Turn turn) {
        if (watches != null) {
            watches.look(seen.grants(), seen.waiters(), turn);
            watches = watches.isEmpty() ? null : watches;
        }
        questions = questions == null || questions.isEmpty() ? null : questions;
    }

    Observers copy() {
        Observers copy = new Observers(key, slot, watchSlot, mostWatches);
        copy.questions = questions == null ? null : questions.copy();
        copy.watches = watches == null ? null : watches.copy();
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(questions != null);
        if (questions != null) {
            questions.encode(out);
        }
        out.put(watches != null);
        if (watches != null) {
            watches.encode(out);
        }
    }
}
