// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.kernel.ClientView.Unreachable;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.member.Member;
import io.keyway.lock.peer.member.MemberFile;
import io.keyway.lock.peer.member.RecordFiles;
import io.keyway.lock.peer.member.StartState;
import io.keyway.lock.peer.os.MachineFacts;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.session.WelcomeInfo;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a member closed until its list is confirmed, and tells the log how the other members are: what runs a {@link
 * ListConfirmation} for a member.
 *
 * <p>Its states: <em>confirmed</em> from the start, if the member's file says that it has opened under this very list;
 * else <em>waiting</em> for each other member, and then confirmed, which {@link Opening} is told once. A welcome with
 * this list confirms for its member; one with another list is an error for the log and confirms nothing.
 *
 * <p>The log hears of each other member when it joins, starts anew, leaves or does not answer, and how long the list
 * has to wait for whom. A run of a member that was over and answers again means that two processes run under one id:
 * the one error here that no time cures.
 *
 * <p>On one thread; {@link #waits} and {@link #belowFloor} may be asked from any.
 */
final class MembershipGate implements PeerWatch.Watcher {
    private static final Logger LOG = LoggerFactory.getLogger(MembershipGate.class);

    private final String self;
    private final List<String> members;
    private final long leastEpoch;
    private final ListConfirmation confirmation;
    private final boolean elastic;
    private final Opening opening;
    private final MemberIncarnations<Incarnation> incarnations = new MemberIncarnations<>();
    private final PeerTroubleLog troubles = new PeerTroubleLog();
    private final Set<String> belowFloor = ConcurrentHashMap.newKeySet();
    private volatile String waits = "";

    /**
     * Told once, when a list that needed it is confirmed: from when on this member may grant, with which epoch at
     * least, and whether all say that nothing was ever granted.
     */
    interface Opening {
        void at(long time, long epoch, boolean firstUse);
    }

    /**
     * @param leastEpoch of a member that has the token floor of this one
     * @param elastic whether the list changes while members work, as they know themselves
     */
    MembershipGate(
            String self,
            List<String> members,
            long leastEpoch,
            ListConfirmation confirmation,
            boolean elastic,
            Opening opening) {
        this.elastic = elastic;
        this.self = self;
        this.leastEpoch = leastEpoch;
        this.members = members;
        this.confirmation = confirmation;
        this.opening = opening;
    }

    /**
     * Before anything of the member is touched.
     *
     * @throws IllegalArgumentException if members of that algorithm cannot start so, with what to do
     */
    static void checkFit(MemberConfig config, Algorithm algorithm) {
        if (algorithm.isElastic() && !algorithm.electsInEachCell() && config.shards() > 1) {
            throw new IllegalArgumentException("shards: members of " + algorithm.name()
                    + " decide on all names in one; say 1, or leave it out, instead of " + config.shards());
        } else if (config.joins() && !algorithm.isElastic()) {
            throw new IllegalArgumentException(
                    "the list of " + algorithm.name() + " changes by a restart of all members, not by --join");
        } else if (config.joins() && config.init()) {
            throw new IllegalArgumentException(
                    "--init is for a cluster that never ran, and --join for one that works: say one of them");
        }
    }

    /**
     * Whether the list of a member that starts is to be confirmed, and by whom.
     *
     * @throws IllegalArgumentException if it does not allow a start, with what is wrong and what to do
     */
    static ListConfirmation confirmation(MemberConfig config, Algorithm algorithm, MemberFile file) {
        // Of a member that served another algorithm, others may serve that one still.
        boolean asks = isFirstUse(file) || ((file.moved() || file.waited()) && !config.joins());
        if (algorithm.isElastic() && !asks) {
            return ListConfirmation.unneeded(System.nanoTime());
        }
        return ListConfirmation.start(
                config.node().toString(),
                config.ids(),
                file.list(),
                isFirstUse(file),
                config.removedIds(),
                SessionSettings.quarantine(Member.longestTtl(file, config.maxTtl())),
                System.nanoTime());
    }

    /**
     * With another number of shards members do not know any more which list counts, and all of them have to confirm the
     * one that they are given. So that has to have all members of those by which this one has counted: a member that
     * has proposed the step to the next list is in the former one, and has recorded it.
     *
     * @throws IllegalArgumentException if it is not, with what to do
     * @throws IOException if the records of the member cannot be read
     */
    static void checkRegrouped(MemberConfig config, Algorithm algorithm, MemberFile file, MachineFacts facts)
            throws IOException {
        if (!file.isRegrouped()) {
            return;
        } else if (config.joins()) {
            throw new IllegalArgumentException("this member has run with another number of shards than "
                    + config.shards() + ": to change it, start all members with --members, not with --join");
        }
        for (Set<String> list : RecordFiles.lists(algorithm, file, facts)) {
            if (!config.ids().containsAll(list)) {
                throw new IllegalArgumentException("this member has run with another number of shards than "
                        + config.shards() + ", and its list was " + String.join(",", list)
                        + ": to change the number, start all members of the latest list with it, these among them");
            }
        }
    }

    /** Whether that life of a member is the first use of its cluster. */
    static boolean isFirstUse(MemberFile file) {
        return file.start() instanceof StartState.FirstUse;
    }

    /** For the log: what it starts with, and what an operator may want to do about it. */
    static String start(MemberConfig config, MemberFile file, String previousRun) {
        if (isFirstUse(file)) {
            return "; first use, by --init";
        }
        boolean mayBeFirst = file.start() instanceof StartState.Missing
                && config.ids().contains(config.node().toString());
        return previousRun + (mayBeFirst ? "; a cluster that has never run before is started with --init" : "");
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

    /** Who was seen to run without the token floor of this member. */
    Set<String> belowFloor() {
        return Set.copyOf(belowFloor);
    }

    @Override
    public void welcomed(NodeId peer, WelcomeInfo welcome) {
        String node = peer.toString();
        boolean anew = incarnations.startedAnew(node, welcome.incarnation());
        if (incarnations.returned(node, welcome.incarnation())) {
            LOG.error(
                    "two processes run as member {}, and both answer in turn: end one of them at once; no lock of {} "
                            + "is safe until then",
                    node,
                    node);
        }
        troubles.over(node);
        LOG.info("member {} {} with epoch {}", node, anew ? "has started anew" : "joined", welcome.epoch());
        boolean knowsList = elastic && confirmation.awaited().isEmpty();
        boolean isSame = elastic
                ? Set.copyOf(welcome.members()).equals(Set.copyOf(members))
                : welcome.members().equals(members);
        if (!knowsList && !isSame) {
            LOG.error("member {} runs with the list {}, and {} with {}", node, welcome.members(), self, members);
            return;
        }
        if (welcome.epoch() >= leastEpoch) {
            belowFloor.remove(node);
        } else if (belowFloor.add(node)) {
            LOG.warn(
                    "member {} runs without the token floor of {}, and may give tokens below it: end all members, and"
                            + " start them with the same floor",
                    node,
                    self);
        }
        if (confirmation.awaited().contains(node)) {
            long quarantine = SessionSettings.quarantine(welcome.longestTtl());
            confirmation.confirmed(node, welcome.fresh(), welcome.leastEpoch(), quarantine, System.nanoTime());
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
            opening.at(confirmation.openAt(), confirmation.epoch(), confirmation.firstUse());
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
            boolean yet = confirmation.awaited().contains(node);
            LOG.info("member {} {}: {}", node, yet ? "has not answered yet" : "does not answer", why.why());
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
