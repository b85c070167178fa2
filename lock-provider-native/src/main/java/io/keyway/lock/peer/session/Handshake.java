// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Resume;
import io.keyway.lock.peer.session.SessionFrame.Role;
import io.keyway.lock.peer.session.SessionFrame.Seen;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What both ends prove, and what a member compares. */
final class Handshake {
    private Handshake() {}

    /** The highest wire version that both speak; 0 if there is none. */
    static int wire(Hello hello, SessionSettings settings) {
        int highest = Math.min(hello.wireHigh(), settings.wireHigh());
        return highest >= hello.wireLow() && highest >= settings.wireLow() ? highest : 0;
    }

    /**
     * All of the hello and the challenge, and who proves it: no proof serves for another link, end, cluster or purpose.
     */
    static byte[] transcript(Role prover, Hello hello, int wire, Incarnation member, Nonce nonce) {
        byte[] cluster = hello.cluster().getBytes(StandardCharsets.UTF_8);
        byte[] target = hello.node().getBytes(StandardCharsets.UTF_8);
        List<byte[]> nodes = new ArrayList<>();
        byte[] from = hello.from().getBytes(StandardCharsets.UTF_8);
        int size = 256 + cluster.length + target.length + from.length;
        for (Seen seen : hello.seen()) {
            byte[] node = seen.node().getBytes(StandardCharsets.UTF_8);
            nodes.add(node);
            size += 32 + node.length;
        }
        ByteBuffer out = ByteBuffer.allocate(size);
        out.put("keyway session proof".getBytes(StandardCharsets.US_ASCII));
        out.put((byte) prover.code()).putInt(wire);
        put(out, hello.nonce().high(), hello.nonce().low());
        put(out, nonce.high(), nonce.low());
        put(out, hello.client().high(), hello.client().low());
        put(out, member.high(), member.low());
        out.putInt(cluster.length).put(cluster);
        put(out, hello.settings(), hello.members());
        out.putInt(hello.wireLow()).putInt(hello.wireHigh()).putInt(hello.algorithm());
        out.putInt(from.length).put(from);
        out.putInt(target.length).put(target).putInt(hello.shard());
        out.put((byte) hello.role().code())
                .putLong(hello.attempt())
                .putLong(hello.life())
                .putLong(hello.guard())
                .putLong(hello.tokenFloor());
        out.putInt(nodes.size());
        for (int i = 0; i < nodes.size(); i++) {
            Seen seen = hello.seen().get(i);
            out.putInt(nodes.get(i).length).put(nodes.get(i)).putLong(seen.epoch());
            put(out, seen.incarnation().high(), seen.incarnation().low());
        }
        Resume resume = hello.resume();
        out.put((byte) (resume == null ? 0 : 1));
        if (resume != null) {
            put(out, resume.member().high(), resume.member().low());
            put(out, resume.session(), resume.received());
        }
        byte[] transcript = new byte[out.position()];
        out.flip().get(transcript);
        return transcript;
    }

    private static void put(ByteBuffer out, long first, long second) {
        out.putLong(first).putLong(second);
    }

    /** What of a proven client's configuration differs from the member's; null if nothing does. */
    static @Nullable Refuse difference(
            Hello hello, SessionSettings settings, Membership membership, @Nullable Fellows peers) {
        if (!hello.cluster().equals(settings.cluster())) {
            return new Refuse(RefuseCode.CLUSTER, "cluster", settings.cluster(), hello.cluster());
        }
        if (hello.algorithm() != settings.algorithm()) {
            return new Refuse(
                    RefuseCode.ALGORITHM, "algorithm", settings.algorithmName(), "number " + hello.algorithm());
        }
        if (hello.settings() != settings.settingsHash()) {
            return new Refuse(RefuseCode.SETTINGS, "settings", settings.settingsText(), "others");
        }
        Fellows elastic = peers != null && peers.isElastic() ? peers : null;
        boolean member = hello.role() == Role.MEMBER;
        if (member && elastic != null && !elastic.knows(hello.from())) {
            return notListed(elastic, hello.from());
        }
        if (member && elastic == null && membership.members().size() == 1) {
            return new Refuse(
                    RefuseCode.ROLE, "role", Role.CLIENT.name(), hello.role().name());
        }
        if (member && hello.members() != settings.membersHash()) {
            return new Refuse(RefuseCode.MEMBERS, "members", settings.membersText(), "another list");
        }
        boolean fellow = !hello.from().equals(membership.node())
                && (elastic != null || membership.members().contains(hello.from()));
        if (hello.role() == Role.MEMBER ? !fellow : !hello.from().isEmpty()) {
            return new Refuse(RefuseCode.ROLE, "from", membership.node(), hello.from());
        }
        if (!hello.node().isEmpty() && !hello.node().equals(membership.node())) {
            return new Refuse(RefuseCode.NODE, "node", membership.node(), hello.node());
        }
        if (hello.shard() != membership.shard()) {
            return refuse(RefuseCode.SHARD, "shard", membership.shard(), hello.shard());
        }
        return null;
    }

    /** Whether a member that is refused so is one of the same cluster. */
    static boolean isOfCluster(Refuse refusal) {
        return refusal.code() == RefuseCode.NOT_LISTED
                || refusal.code() == RefuseCode.ALGORITHM
                || refusal.code() == RefuseCode.SETTINGS;
    }

    static Refuse refuse(RefuseCode code, String field, long here, long there) {
        return new Refuse(code, field, Long.toString(here), Long.toString(there));
    }

    /** To a client that has proved nothing: both versions, and nothing of the cluster. */
    static Refuse otherWire(SessionSettings settings, int low, int high) {
        return new Refuse(
                RefuseCode.WIRE,
                "wire version",
                versions(settings.wireLow(), settings.wireHigh()),
                versions(low, high));
    }

    private static String versions(int low, int high) {
        return low == high ? Integer.toString(low) : low + " to " + high;
    }

    /** Whether whoever says that may believe in grants. */
    static boolean believes(Hello hello) {
        return hello.resume() != null || !hello.seen().isEmpty();
    }

    /** To a client that has never met a leader: where there may be one. */
    static Refuse notLeading(@Nullable Fellows peers) {
        return new Refuse(RefuseCode.NOT_LEADING, "", peers == null ? "" : SessionSettings.told(peers.members()), "");
    }

    /** That one is none of the members. */
    static Refuse notListed(Fellows peers, String who) {
        return new Refuse(RefuseCode.NOT_LISTED, "from", SessionSettings.told(peers.members()), who);
    }

    /** To a client that has proved nothing: no facts. */
    static Refuse refuse(RefuseCode code) {
        return new Refuse(code, "", "", "");
    }
}
