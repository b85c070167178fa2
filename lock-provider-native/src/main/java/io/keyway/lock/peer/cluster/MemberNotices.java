// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.LockEvent;
import io.keyway.lock.peer.election.Forgotten;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.DuplicateMember;
import io.keyway.lock.peer.session.EpochAdopted;
import io.keyway.lock.peer.session.LeadersElected;
import io.keyway.lock.peer.session.ListChanged;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/** What the cells of a member tell that its operator has to know, as lines of the log. */
final class MemberNotices {
    private MemberNotices() {}

    /**
     * Says it in the log, if it concerns the operator.
     *
     * @param shard of whose group it is, as " shard 3 of 6"; empty if there is but one group
     */
    static void log(Logger log, String node, String shard, Notice notice) {
        if (notice instanceof EpochAdopted adopted) {
            log.warn(
                    "somebody has seen a later life of member {} than this one knows of; it goes on with epoch {} after"
                            + " a quarantine. Was its data directory lost or restored, or does another process run as "
                            + "{}?",
                    node,
                    adopted.epoch(),
                    node);
        } else if (notice instanceof LeadersElected elected) {
            String who = String.join(", ", elected.leaders());
            String lead = elected.leaders().size() == 1 ? "member {} leads{}" : "members {} lead{}";
            log.info(lead + ", as member {} has heard", who, shard, node);
        } else if (notice instanceof ListChanged list) {
            String members = String.join(",", list.members());
            log.info("the members{} are {}, as member {} has heard", of(shard), members, node);
            if (list.removed() && shard.isEmpty()) {
                log.info("member {} was removed from the list, and ends", node);
            } else if (list.removed()) {
                log.info("member {} was removed from the list{}, and ends when it is from all", node, of(shard));
            } else if (!list.members().contains(node)) {
                log.info("member {} is not in the list yet: add it, with keyway member add {}", node, node);
            }
        } else if (notice instanceof LockNotice.ClusterChanged changed) {
            log.atLevel(changed.type() == LockEvent.Type.CLUSTER_DOWN ? Level.WARN : Level.INFO)
                    .log("{}{} at member {}{}", changed.type(), of(shard), node, silent(changed.silent()));
        } else if (notice instanceof Forgotten forgotten) {
            log.warn(
                    "member {} has lost what it promised to the others{}, and takes no part before most of them, or"
                            + " all, have said what they know of it; missing: {}",
                    node,
                    shard.isEmpty() ? "" : " in" + shard,
                    String.join(", ", forgotten.missing()));
        } else if (notice instanceof DuplicateMember doubled) {
            log.error(
                    "two processes run as member {}, and both talk to this one, from {} and from {}: the later one, {},"
                            + " is refused; end it at once, and remove its copy of the data directory",
                    doubled.node(),
                    doubled.there(),
                    doubled.refused(),
                    doubled.refused());
        }
    }

    private static String of(String shard) {
        return shard.isEmpty() ? "" : " of" + shard;
    }

    /** For people: never less than it is. */
    static long seconds(long nanos) {
        return Duration.ofNanos(nanos).plusMillis(999).toSeconds();
    }

    /** Half a sentence on why no lock can be granted through that member; empty if locks can. */
    static String whyNotReady(LockNotice.ClusterChanged changed) {
        return switch (changed.type()) {
            case LOCK_READY -> "";
            case CLUSTER_DOWN -> "too few members answer" + silent(changed.silent());
            default -> "the members that decide are not known, or may not decide yet" + silent(changed.silent());
        };
    }

    private static String silent(List<String> members) {
        return members.isEmpty() ? "" : "; no answer from " + String.join(", ", members);
    }
}
