// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.Participant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Has each of the users of one client who queue for a lock hear once that it waits: by the place that the manager tells
 * of the first, by who of the client holds the lock, or because the member has the request and did not grant it. While
 * the manager grants nobody anything each hears that instead.
 */
final class PlaceNews {
    private final Key key;
    /** What the manager last said of a waiter's place; null while nothing is known. */
    private LockMessage.@Nullable Place place;
    /** Why the manager grants nobody anything, as it last said; null if it has said a place since. */
    private @Nullable String closed;

    /** The message whose receipt by the member tells all who wait behind it that they wait; 0 if none is asked for. */
    private long receipt;

    PlaceNews(Key key) {
        this.key = key;
    }

    /**
     * A user joined the queue.
     *
     * @param local the user of this client who holds the lock; null if none does
     */
    void joined(Waiter waiter, WaiterList queue, @Nullable List<Participant> local, Turn turn) {
        List<Participant> holders = local != null || place == null ? local : place.holders();
        if (closed != null && local == null) {
            tellClosed(waiter, closed, turn);
        } else if (holders == null) {
            askForReceipt(queue, turn);
        } else if (!waiter.told) {
            tellWaiting(waiter, -1, holders, turn);
        }
    }

    /** That waiter learns its place; those behind it learn that they wait. */
    void placed(Waiter asked, LockMessage.Place now, WaiterList queue, Turn turn) {
        place = now;
        closed = null;
        tellWaiting(asked, now.ahead(), now.holders(), turn);
        tellAll(queue, now.holders(), turn);
    }

    /** Nobody is granted anything now: that waiter learns it, and those of the queue who have not asked. */
    void closed(Waiter asked, WaiterList queue, String why, Turn turn) {
        place = null;
        closed = why;
        tellClosed(asked, why, turn);
        for (Waiter each = queue.last(); each != null && !each.isSent(); each = each.before) {
            tellClosed(each, why, turn);
        }
    }

    private void tellClosed(Waiter waiter, String why, Turn turn) {
        waiter.told = false;
        turn.tell(new LockNotice.Trouble(key, waiter.call.request(), why, true, waiter.call.user()));
    }

    /** Those who know nothing learn that they wait. They came last; the first of all hears from the manager itself. */
    void tellAll(WaiterList queue, List<Participant> holders, Turn turn) {
        for (Waiter each = queue.last(); each != null && !each.told; each = each.before) {
            if (!each.isSent()) {
                tellWaiting(each, -1, holders, turn);
            }
        }
    }

    /**
     * Some do not know that they wait, and no place will tell, since whoever's request is at the manager knows and did
     * not ask for it: they wait as soon as the manager has it.
     */
    void askForReceipt(WaiterList queue, Turn turn) {
        Waiter first = queue.first();
        boolean told = first != null && first.told && first.isSent() && receipt != first.sent;
        if (first != null && told && queue.someKnowNothing() && turn.client().exists()) {
            receipt = first.sent;
            turn.client().receipt(key, receipt);
        }
    }

    /**
     * The member has that message, and has not granted what it asked for.
     *
     * @param ungranted whether no grant is about to be accepted either
     */
    void received(long number, WaiterList queue, boolean ungranted, Turn turn) {
        if (number == receipt) {
            receipt = 0;
            Waiter first = queue.first();
            if (first != null && first.sent == number && ungranted) {
                tellAll(queue, List.of(), turn);
            }
        }
    }

    /** That waiter, who has no place in any queue, learns that it waits. */
    void told(Waiter waiter, List<Participant> holders, Turn turn) {
        tellWaiting(waiter, -1, holders, turn);
    }

    private void tellWaiting(Waiter waiter, int ahead, List<Participant> holders, Turn turn) {
        waiter.told = true;
        turn.tell(new LockNotice.Waiting(key, waiter.call.request(), ahead, holders, waiter.call.user()));
    }

    /** The lock is this client's: what was said of places is of no use any more. */
    void forgetPlace() {
        place = null;
        closed = null;
    }

    PlaceNews copy() {
        PlaceNews copy = new PlaceNews(key);
        copy.place = place;
        copy.receipt = receipt;
        copy.closed = closed;
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(receipt).value(String.valueOf(place)).value(String.valueOf(closed));
    }
}
