// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * The breaks of one name's grants that are not answered yet. A break goes by a token: the holder is sent REVOKE, and
 * whoever asked gets its ANSWER when the holder knows, or can no longer believe.
 *
 * <p>The answer is yes if the grant ended as broken; no if its holder says (REVOKED) that it has moved past the token,
 * or if somebody else's break of that token came before. A grant whose mode is changed stays under its breaks. An
 * administrator whose session is over is not answered.
 */
final class Breaks {
    /**
     * @param asked the token that is to be broken
     * @param grant the first token of the grant that it is one of
     */
    private record Open(Peer peer, long request, long asked, String reason, long grant) {
        Open of(HeldGrant other) {
            return new Open(peer, request, asked, reason, other.token);
        }
    }

    private final Key key;
    private final List<Open> all = new ArrayList<>(1);

    Breaks(Key key) {
        this.key = key;
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    /** Whether somebody breaks that grant. */
    boolean has(HeldGrant grant) {
        for (Open each : all) {
            if (each.grant == grant.token) {
                return true;
            }
        }
        return false;
    }

    /** Asks the holder of that grant to stop. */
    void begin(Peer from, LockMessage.Break request, HeldGrant grant, Turn turn) {
        Open open = new Open(from, request.request(), request.token(), request.reason(), grant.token);
        all.add(open);
        revoke(open, grant, turn);
    }

    /** Nobody had that grant, and whoever has claimed it hears of its breaks now. */
    void claimed(HeldGrant grant, Turn turn) {
        for (Open each : all) {
            if (each.grant == grant.token) {
                revoke(each, grant, turn);
            }
        }
    }

    private void revoke(Open open, HeldGrant grant, Turn turn) {
        turn.send(grant.peer, new LockMessage.Revoke(key, open.asked, LeaseLoss.Cause.BROKEN, open.reason));
    }

    /** The grant is another one now, in the same hands. */
    void moved(HeldGrant old, HeldGrant next) {
        all.replaceAll(each -> each.grant == old.token ? each.of(next) : each);
    }

    /** The grant is over: of those who broke one token the first is told whether that ended it. */
    void ended(HeldGrant grant, boolean broken, Turn turn) {
        Set<Long> told = new TreeSet<>();
        answer(each -> each.grant == grant.token, each -> told.add(each.asked) && broken, turn);
    }

    /** The holder of that token says that it has another one. */
    void movedPast(Peer holder, long token, Grants grants, Turn turn) {
        answer(
                each -> {
                    HeldGrant grant = grants.named(each.grant);
                    return each.asked == token && grant != null && grant.peer.equals(holder);
                },
                each -> false,
                turn);
    }

    private void answer(Predicate<Open> which, Predicate<Open> done, Turn turn) {
        all.removeIf(each -> {
            boolean its = which.test(each);
            if (its) {
                turn.send(each.peer, new LockMessage.Answer(key, each.request, done.test(each)));
            }
            return its;
        });
    }

    /** Nobody waits for answers at the other end of that session. */
    void sessionEnded(Peer peer) {
        all.removeIf(each -> each.peer.equals(peer));
    }

    Breaks copy() {
        Breaks copy = new Breaks(key);
        copy.all.addAll(all);
        return copy;
    }

    void encode(StateEncoder out) {
        out.value(all);
    }
}
