// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.kernel.ClientView.Unreachable;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.session.WelcomeInfo;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a member closed until its list is confirmed, and tells the log how the other members are. On one thread; {@link
 * #waits} and what it needs may be asked from any.
 */
final class MembershipGate implements PeerWatch.Watcher {
    private static final Logger LOG = LoggerFactory.getLogger(MembershipGate.class);

    private final String self;
    private final List<String> members;
    private final ListConfirmation confirmation;
    private final Opening opening;
    private final MemberIncarnations<Incarnation> lives = new MemberIncarnations<>();
    private final PeerTroubleLog troubles = new PeerTroubleLog();
    private volatile String waits = "";

    /**
     * Told once, when a list that needed it is confirmed: from when on this member may grant, and with which epoch at
     * least.
     */
    interface Opening {
        void at(long time, long epoch);
    }

    MembershipGate(String self, List<String> members, ListConfirmation confirmation, Opening opening) {
        this.self = self;
        this.members = members;
        this.confirmation = confirmation;
        this.opening = opening;
    }

    /** Starts to wait. */
    void begin() {
        if (confirmation.changed()) {
            settle("");
        }
    }

    /** Who has not confirmed the list, each with what is wrong with it; empty if nobody is missing. */
    String waits() {
        return waits;
    }

    @Override
    public void welcomed(NodeId peer, WelcomeInfo greeting) {
        String node = peer.toString();
        boolean anew = lives.startedAnew(node, greeting.incarnation());
        if (lives.returned(node, greeting.incarnation())) {
            LOG.error(
                    "two processes run as member {}, and both answer in turn: end one of them at once; no lock of {} "
                            + "is safe until then",
                    node,
                    node);
        }
        troubles.over(node);
        LOG.info("member {} {} with epoch {}", node, anew ? "has started anew" : "joined", greeting.epoch());
        if (!greeting.members().equals(members)) {
            LOG.error("member {} runs with the list {}, and {} with {}", node, greeting.members(), self, members);
            return;
        }
        if (confirmation.awaited().contains(node)) {
            long quarantine = SessionSettings.quarantine(greeting.longestTtl());
            confirmation.confirmed(node, greeting.fresh(), greeting.epoch(), quarantine, System.nanoTime());
            settle(node);
        }
    }

    private void settle(String node) {
        remember();
        if (!node.isEmpty()) {
            LOG.info(
                    "the member list is confirmed by {}{}",
                    node,
                    waits.isEmpty() ? ", and so by all" : "; missing: " + waits);
        }
        if (confirmation.openAt() != Turn.NEVER) {
            opening.at(confirmation.openAt(), confirmation.epoch());
        }
    }

    @Override
    public void left(NodeId peer) {
        LOG.info("member {} left: the connection to it has ended", peer);
    }

    @Override
    public void unreachable(NodeId peer, Unreachable why) {
        String node = peer.toString();
        boolean say = troubles.add(node, why, System.nanoTime());
        remember();
        if (say && why.final_()) {
            LOG.error("member {} cannot be talked to: {}", node, why.why());
        } else if (say) {
            LOG.info("member {} does not answer: {}", node, why.why());
        }
    }

    private void remember() {
        StringBuilder text = new StringBuilder();
        for (String node : confirmation.awaited()) {
            Unreachable why = troubles.of(node);
            text.append(text.length() == 0 ? "" : "; ").append(node).append(why == null ? "" : " (" + why.why() + ")");
        }
        waits = text.toString();
    }
}
