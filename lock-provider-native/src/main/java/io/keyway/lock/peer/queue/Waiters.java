// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.RefusalCause;
import io.keyway.lock.spi.NodeParts;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All requests for one name that are not granted: the {@link WaitQueue} and the {@link SoftWriters} beside it, each
 * there only while there is somebody in it.
 */
class Waiters {
    private final Key key;
    private @Nullable WaitQueue queue;
    private @Nullable SoftWriters softWriters;

    /** Nobody waits. */
    Waiters(Key key) {
        this.key = key;
    }

    /** Null if nobody queues. */
    @Nullable
    WaitQueue queue() {
        return queue;
    }

    /** Null if no soft writer waits. */
    @Nullable
    SoftWriters softWriters() {
        return softWriters;
    }

    /** In the order of the queue. */
    Iterable<WaitQueue.Wait> queued() {
        return queue == null ? List.of() : queue.all();
    }

    /** The soft writers, in no order that counts. */
    Iterable<WaitQueue.Wait> yielding() {
        return softWriters == null ? List.of() : softWriters.all();
    }

    boolean isEmpty() {
        return queue == null && softWriters == null;
    }

    int size() {
        return (queue == null ? 0 : queue.size()) + (softWriters == null ? 0 : softWriters.size());
    }

    /** Whether somebody queues who waits for a holder. */
    boolean areQueued() {
        return queue != null && queue.waiting() > 0;
    }

    /** Whether nobody queues, not even one that does not wait. */
    boolean areNoneQueued() {
        return queue == null || queue.isEmpty();
    }

    /** Whether anybody waits for a holder, in the queue or beside it. */
    boolean areThere() {
        return (softWriters != null && !softWriters.isEmpty()) || areQueued();
    }

    /** Whether a client other than that one queues for what it holds. */
    boolean areQueuedBeside(Peer holder) {
        return queue != null && queue.isWantedByOthersThan(holder);
    }

    /** Why this cannot be asked for beside what stands or waits: of the other kind, or of another set of nodes. */
    @Nullable
    RefusalCause unlike(LockMessage.Acquire asked, Grants grants) {
        LockMode known = !grants.isEmpty() ? grants.get(0).mode : firstMode();
        if (known != null && known.isTree() != asked.mode().isTree()) {
            return RefusalCause.MIXED;
        }
        boolean other = NodeParts.isOther(asked.owner(), grants, grant -> grant.owner)
                || NodeParts.isOther(asked.owner(), queued(), wait -> wait.request.owner());
        return other ? RefusalCause.NODES : null;
    }

    /** What the first of the queue wants; null if nobody queues. */
    @Nullable
    LockMode firstMode() {
        return queue == null ? null : queue.firstMode();
    }

    /** The first of the queue that changes the mode of a grant; null if there is none. */
    WaitQueue.@Nullable Wait conversion() {
        return queue == null ? null : queue.conversion();
    }

    List<WaitQueue.Wait> conversions() {
        return queue == null ? List.of() : queue.conversions();
    }

    /** The request waits in the queue, which is returned. */
    WaitQueue enqueue(Peer peer, LockMessage.Acquire request, Turn turn) {
        queue = queue == null ? new WaitQueue() : queue;
        queue.add(peer, request, turn.now());
        await(peer, request, turn);
        return queue;
    }

    /** The request waits beside the queue. */
    SoftWriters yields(Peer peer, LockMessage.Acquire request, Turn turn) {
        softWriters = softWriters == null ? new SoftWriters() : softWriters;
        softWriters.add(peer, request, turn.now());
        await(peer, request, turn);
        return softWriters;
    }

    private void await(Peer peer, LockMessage.Acquire request, Turn turn) {
        turn.member().await(peer, key, request.ttl());
        if (turn.member().quarantined()) {
            turn.member().awaitOpening(key);
        }
    }

    WaitQueue.@Nullable Wait find(Peer peer, long request) {
        WaitQueue.Wait wait = queue == null ? null : queue.find(peer, request);
        return wait != null || softWriters == null ? wait : softWriters.find(peer, request);
    }

    /** That one waits no more. */
    void leave(WaitQueue.Wait wait, Turn turn) {
        if (wait.request.isSoft() && softWriters != null) {
            softWriters.remove(wait);
        } else if (queue != null) {
            queue.remove(wait);
        }
        turn.member().unawait(wait.peer, key, wait.request.ttl());
    }

    /** That session is over. */
    void ended(Peer peer) {
        if (queue != null) {
            queue.of(peer).forEach(queue::remove);
        }
        if (softWriters != null) {
            softWriters.ended(peer);
        }
    }

    /** That client is heard again. */
    void heard(Peer peer, Turn turn) {
        if (queue != null) {
            queue.heard(peer, turn);
        }
        if (softWriters != null) {
            softWriters.heard(peer, turn);
        }
    }

    /** The requests that do not wait. They may leave while they are looked at. */
    List<WaitQueue.Wait> noWaits() {
        return queue == null ? List.of() : queue.noWaits().all();
    }

    /** As {@link NoWaits#patience}. */
    long patience() {
        return queue == null ? Turn.NEVER : queue.noWaits().patience();
    }

    /** As {@link NoWaits#isHopeless}. */
    boolean isHopeless(
            WaitQueue.Wait wait, Admission.Claims granted, Admission admission, boolean mayGrant, Turn turn) {
        return queue != null && queue.noWaits().isHopeless(wait, granted, admission, mayGrant, turn);
    }

    /** Whoever does not wait knows of that grant, up to its recall of that number, that it is in use, or over. */
    void settle(HeldGrant grant, long recall) {
        if (queue != null) {
            queue.noWaits().settle(grant, recall);
        }
    }

    /** The grant ends; see {@link SoftWriters}. */
    void ended(HeldGrant grant, long used, Turn turn) {
        if (softWriters != null) {
            softWriters.ended(grant, used, turn);
        }
    }

    /** The holder of that grant says that it is in use; see {@link SoftWriters}. */
    void denied(HeldGrant grant, Turn turn) {
        if (softWriters != null) {
            softWriters.denied(grant, turn);
        }
    }

    /** In that mode somebody holds from now on; see {@link SoftWriters}. */
    void granted(LockMode mode, Turn turn) {
        if (softWriters != null && mode == LockMode.SHARED) {
            softWriters.readerGranted(turn);
        }
    }

    /** What is empty is not kept. */
    void settle() {
        queue = queue == null || queue.isEmpty() ? null : queue;
        softWriters = softWriters == null || softWriters.isEmpty() ? null : softWriters;
    }

    void copyInto(Waiters copy) {
        copy.queue = queue == null ? null : queue.copy();
        copy.softWriters = softWriters == null ? null : softWriters.copy();
    }

    void encode(StateEncoder out) {
        out.optional(queue, WaitQueue::encode).optional(softWriters, SoftWriters::encode);
    }
}
