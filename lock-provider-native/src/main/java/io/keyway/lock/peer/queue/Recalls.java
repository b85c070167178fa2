// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.SharedGoal;

/**
 * What the holders of one name's grants are told and asked while others want them. A grant may lie idle in its
 * client's cache, of which its manager knows nothing; a recall fetches it back, or is denied.
 *
 * <p><b>States</b> of a grant that can be cached. <i>Quiet</i>: its holder could keep it cached, and does not know that
 * anybody wants it. <i>Wanted</i>: its holder knows, by the grant itself, a recall or its own denial, and gives it back
 * at its release. <i>Asked</i>: a recall wants an answer, ACCEPTED or DENIED, in any case. <i>Settled</i>: its holder
 * has said since it was wanted that it is in use, so that it will not be cached.
 *
 * <p><b>Invariants.</b> For those who wait each grant is recalled once. Who does not wait has each grant in its way
 * asked by a recall of its own, whatever was denied before: recalls that are to be answered are counted, and so are the
 * denials. With {@code recallAtRenewal} a recall goes out when the holder is next heard.
 */
final class Recalls {
    private final Key key;
    private final LockSettings settings;
    private final Grants grants;

    Recalls(Key key, LockSettings settings, Grants grants) {
        this.key = key;
        this.settings = settings;
        this.grants = grants;
    }

    /** Somebody waits: what is quiet and in its way is wanted from now on. */
    void want(WaitQueue.Wait wait, Turn turn) {
        int recalled = 0;
        for (HeldGrant grant : grants) {
            if (grant.isQuiet() && Admission.standsInTheWay(grant.mode, wait.mode())) {
                grants.setWanted(grant, true);
                recall(grant, false, turn);
                recalled++;
            }
        }
        if (recalled > 1) {
            turn.goal(SharedGoal.SEVERAL_RECALLED);
        }
    }

    /** A soft writer waits: each holder that could cache its grant gives it back, or says that it is in use. */
    void askForSoftWriters(Turn turn) {
        for (HeldGrant grant : grants) {
            // Whoever claims one that is nobody's is told then that it is wanted.
            if (grant.recallable() && !grant.settled && !grant.imported()) {
                grants.setWanted(grant, true);
                ask(grant, turn);
            }
        }
    }

    /** Somebody wants to know at once whether that grant is in use. */
    void ask(HeldGrant grant, Turn turn) {
        grant.recalls++;
        recall(grant, true, turn);
    }

    /**
     * More permits would be out than some see who can take theirs from a cache: these say first that they cannot.
     *
     * @param out how many would be out
     */
    void askTheNarrow(long out, Turn turn) {
        turn.goal(SharedGoal.NARROW_CACHES_ASKED);
        for (HeldGrant grant : grants) {
            if (grant.binds() && grant.ceiling < out && grant.recalls == grant.denials) {
                grants.setWanted(grant, true);
                ask(grant, turn);
            }
        }
    }

    private void recall(HeldGrant grant, boolean asks, Turn turn) {
        if (!settings.recallAtRenewal()) {
            turn.send(grant.peer, new LockMessage.Recall(key, grant.token, asks));
        } else if (!grant.recallLater) {
            grant.recallLater = true;
            turn.member().listen(grant.peer, key);
        }
    }

    /** That client can be told now; only with {@code recallAtRenewal}. */
    void heard(Peer peer, Turn turn) {
        for (HeldGrant grant : grants) {
            if (grant.recallLater && grant.peer.equals(peer)) {
                grant.recallLater = false;
                turn.send(peer, new LockMessage.Recall(key, grant.token, grant.recalls > grant.denials));
            }
        }
    }

    /** The holder of that grant says that it is in use. */
    void denied(HeldGrant grant) {
        grants.setWanted(grant, true);
        grant.denials = settings.recallAtRenewal() ? grant.recalls : grant.denials + 1;
        grants.settle(grant);
    }
}
