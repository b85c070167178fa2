// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.DrainGoal;
import io.keyway.lock.peer.service.LockMessage;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * The soft writers of one name: requests that stand beside its queue and keep nobody waiting. From the plan of snaplock
 * ("Semaphore Support"), which never had it; rules LK-1207 to LK-1211.
 *
 * <p><b>States</b> of one. <i>Waiting for a time without readers</i>, that it has asked for: so long since it came and
 * since a reader was last granted. <i>Ready</i>: that time is over, and it is granted when nobody holds and nobody
 * queues.
 *
 * <p><b>Invariants.</b> No grant to anybody else depends on what is here; only, while one waits, no grant goes to a
 * cache, so that its manager hears of each reader. A reader whose grant lay in a cache when the soft writer came may
 * have been served from it until its client has answered the recall: if so, the time runs from that answer.
 */
final class SoftWriters {
    private final WaitQueue waits;
    /** When a reader was last granted while one waits here; of no meaning before that. */
    private long lastReader;

    private boolean read;

    SoftWriters() {
        this(new WaitQueue());
    }

    private SoftWriters(WaitQueue waits) {
        this.waits = waits;
    }

    boolean isEmpty() {
        return waits.isEmpty();
    }

    int size() {
        return waits.size();
    }

    Collection<WaitQueue.Wait> all() {
        return waits.all();
    }

    void add(Peer peer, LockMessage.Acquire request, long now) {
        waits.add(peer, request, now);
    }

    WaitQueue.@Nullable Wait find(Peer peer, long request) {
        return waits.find(peer, request);
    }

    void remove(WaitQueue.Wait wait) {
        waits.remove(wait);
    }

    /** That session is over. */
    void ended(Peer peer) {
        waits.of(peer).forEach(waits::remove);
    }

    /** That client is heard again. */
    void heard(Peer peer, Turn turn) {
        waits.heard(peer, turn);
    }

    /** A reader was granted just now, or may have been. */
    void readerGranted(Turn turn) {
        turn.goal(DrainGoal.TIME_BEGUN_ANEW);
        lastReader = turn.now();
        read = true;
    }

    /**
     * The grant ends.
     *
     * @param used the last of its tokens that anybody had
     */
    void ended(HeldGrant grant, long used, Turn turn) {
        if (mayHaveBeenCached(grant) && used >= grant.token) {
            turn.goal(DrainGoal.READ_FROM_THE_CACHE);
            readerGranted(turn);
        }
    }

    /** The holder of that grant says that it is in use, and that it will not be cached any more. */
    void denied(HeldGrant grant, Turn turn) {
        if (mayHaveBeenCached(grant)) {
            readerGranted(turn);
        }
    }

    private static boolean mayHaveBeenCached(HeldGrant grant) {
        return grant.mode == LockMode.SHARED && grant.recallable() && !grant.settled;
    }

    /** The first of those whose time is over and whose client was heard lately; null if there is none. */
    WaitQueue.@Nullable Wait ready(Turn turn) {
        for (WaitQueue.Wait wait : waits.all()) {
            if (turn.now() - readyAt(wait) >= 0) {
                if (wait.isHeard(turn)) {
                    return wait;
                }
                wait.passOver(turn);
            }
        }
        return null;
    }

    private long readyAt(WaitQueue.Wait wait) {
        long since = read && lastReader - wait.came > 0 ? lastReader : wait.came;
        return since + wait.request.quiet();
    }

    /** When the next of them has waited for its time; {@link Turn#NEVER} if all have. */
    long nextReady(Turn turn) {
        long next = Turn.NEVER;
        for (WaitQueue.Wait wait : waits.all()) {
            long at = readyAt(wait);
            next = at - turn.now() > 0 ? Turn.earlier(next, at) : next;
        }
        return next;
    }

    SoftWriters copy() {
        SoftWriters copy = new SoftWriters(waits.copy());
        copy.lastReader = lastReader;
        copy.read = read;
        return copy;
    }

    void encode(StateEncoder out) {
        waits.encode(out);
        out.put(read);
        if (read) {
            out.time(lastReader);
        }
    }
}
