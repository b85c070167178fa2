// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage;
import java.util.ArrayList;
import java.util.List;

/**
 * Who waits for a change of one name: questions that stay open until its version is not the one that they name, or
 * until their limit. The version is made of what is there, so that nothing of it has to be remembered, not even over a
 * start of the member: tokens and the requests of sessions are never used twice, and a grant or request that has gone
 * does not come back.
 */
final class Watches {
    /** The longest that a question stays open, in nanoseconds. */
    private static final long LIMIT = 60_000_000_000L;

    private record Watch(Peer peer, LockMessage.Watch question, long until) {}

    private final Key key;
    private final int slot;
    private final int most;
    private final List<Watch> open = new ArrayList<>(1);

    /**
     * Nobody watches.
     *
     * @param slot of the manager's timers
     * @param most so many questions stay open; whoever asks then is answered at once
     */
    Watches(Key key, int slot, int most) {
        this.key = key;
        this.slot = slot;
        this.most = most;
    }

    boolean isEmpty() {
        return open.isEmpty();
    }

    void begin(Peer from, LockMessage.Watch question, Turn turn) {
        long limit = open.size() < most ? Math.max(0, Math.min(question.limit(), LIMIT)) : 0;
        open.add(new Watch(from, question, turn.now() + limit));
    }

    /** After each event: answers who need not wait any more. */
    void look(Grants grants, Waiters waiters, Turn turn) {
        if (open.isEmpty()) {
            return;
        }
        long version = version(grants, waiters);
        long first = Turn.NEVER;
        List<Watch> left = new ArrayList<>(open.size());
        for (Watch each : open) {
            if (each.question.known() != version || turn.now() - each.until >= 0) {
                turn.send(each.peer, new LockMessage.Changed(key, each.question.request(), version));
            } else {
                left.add(each);
                first = Turn.earlier(first, each.until);
            }
        }
        open.clear();
        open.addAll(left);
        turn.timer(slot, first);
    }

    private static long version(Grants grants, Waiters waiters) {
        long version = 1;
        for (HeldGrant grant : grants) {
            version = StateEncoder.mix(version ^ grant.token);
            version = StateEncoder.mix(version ^ (grant.peer.session() * 2 + (grant.kept ? 1 : 0)));
        }
        version = version(version, waiters.queued());
        version = version(version, waiters.yielding());
        return Math.max(1, version & Long.MAX_VALUE);
    }

    private static long version(long before, Iterable<WaitQueue.Wait> waiters) {
        long version = before;
        for (WaitQueue.Wait wait : waiters) {
            version = StateEncoder.mix(version ^ wait.peer.session());
            version = StateEncoder.mix(version ^ wait.request.request());
        }
        return version;
    }

    /** That session is over. */
    void ended(Peer peer) {
        open.removeIf(watch -> watch.peer.equals(peer));
    }

    Watches copy() {
        Watches copy = new Watches(key, slot, most);
        copy.open.addAll(open);
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(open.size());
        for (Watch watch : open) {
            out.put(watch.peer).value(watch.question).time(watch.until);
        }
    }
}
