// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.awaitility.Awaitility.await;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.TestInfo;

/**
 * Members in this process, each with a letter for a name, on ports of the loopback address that were free when they
 * were chosen.
 */
final class TestMembers implements AutoCloseable {
    /** How long a start may take on an idle machine. */
    private static final Duration START = Duration.ofSeconds(60);

    /** More than by default: names are divided in these tests. */
    static final int SHARDS = 4;

    /** The tag of tests that say what stays held: nothing of theirs runs out while the machine stands still. */
    static final String LASTING = "lasting";

    private final Path directory;
    private final Map<String, NodeId> ids = new LinkedHashMap<>();
    private final Map<String, ClusterMember> running = new LinkedHashMap<>();
    private final Map<String, Security> secured = new LinkedHashMap<>();
    private final Map<String, Long> floors = new LinkedHashMap<>();
    private final Set<String> ended = ConcurrentHashMap.newKeySet();
    private final Algorithm algorithm;
    private int shards;

    TestMembers(Path directory, String... letters) throws IOException {
        this(directory, Algorithms.standard(), letters);
    }

    TestMembers(Path directory, Algorithm algorithm, String... letters) throws IOException {
        this.directory = directory;
        this.algorithm = algorithm;
        this.shards = algorithm.isElastic() ? 1 : SHARDS;
        for (String letter : letters) {
            ids.put(letter, new NodeId("127.0.0.1", Ports.free()));
        }
    }

    /** Of the same cluster as those, whose letters it knows, with another configuration. */
    TestMembers(Path directory, Algorithm algorithm, TestMembers same) {
        this.directory = directory;
        this.algorithm = algorithm;
        this.shards = algorithm.isElastic() ? 1 : SHARDS;
        ids.putAll(same.ids);
    }

    /** The longest lease in that test: short, so that what is lost is over soon, unless it is {@link #LASTING}. */
    static Duration maxTtl(TestInfo test) {
        return test.getTags().contains(LASTING) ? Duration.ofSeconds(60) : Patience.lease(Duration.ofSeconds(2));
    }

    /** The options of clients in such a test: half the longest lease, and as long for a request. */
    static String limits(Duration maxTtl) {
        long half = maxTtl.toMillis() / 2;
        return "maxTtl=" + maxTtl.toMillis() + "ms&ttl=" + half + "ms&requestTimeout=" + half + "ms";
    }

    private NodeId node(String letter) {
        NodeId node = ids.get(letter);
        if (node == null) {
            throw new IllegalArgumentException("no member " + letter);
        }
        return node;
    }

    /** How that member proves itself when it is started; the others have neither secret nor TLS. */
    void secure(String letter, Security security) {
        secured.put(letter, security);
    }

    /** Above which the tokens of that member are when it is started; the others have no floor. */
    void floor(String letter, long tokenFloor) {
        floors.put(letter, tokenFloor);
    }

    /** How many cells members have that are started from now on. */
    void shards(int cells) {
        shards = cells;
    }

    String id(String letter) {
        return node(letter).toString();
    }

    InetSocketAddress address(String letter) {
        return new InetSocketAddress(node(letter).host(), node(letter).port());
    }

    /** In the order in which members are listed. */
    List<String> ids(String letters) {
        return list(letters).members().stream().map(NodeId::toString).toList();
    }

    private MemberList list(String letters) {
        return new MemberList(letters.chars()
                .mapToObj(letter -> node(String.valueOf((char) letter)))
                .toList());
    }

    Path data(String letter) {
        return directory.resolve(letter);
    }

    List<ClusterMember> startAll(String list, Duration maxTtl, boolean init) throws IOException {
        List<ClusterMember> all = new ArrayList<>();
        for (int i = 0; i < list.length(); i++) {
            all.add(start(list.substring(i, i + 1), list, maxTtl, init));
        }
        return all;
    }

    /** Starts all of them, and waits until each of them grants. */
    void startGranting(String list, Duration maxTtl, boolean init) throws IOException {
        List<ClusterMember> all = startAll(list, maxTtl, init);
        await().atMost(Patience.of(START)).until(() -> all.stream().noneMatch(ClusterMember::quarantined));
    }

    ClusterMember start(String letter, String list, Duration maxTtl, boolean init, String... removed)
            throws IOException {
        return start(letter, list, maxTtl, init, data(letter), Set.of(removed));
    }

    ClusterMember start(String letter, String list, Duration maxTtl, boolean init, Path data, Set<String> removed)
            throws IOException {
        return start(letter, list, address(letter), maxTtl, init, data, removed);
    }

    ClusterMember startAt(String letter, String list, InetSocketAddress listen) throws IOException {
        return start(letter, list, listen, Duration.ofHours(1), true, data(letter), Set.of());
    }

    private ClusterMember start(
            String letter,
            String list,
            InetSocketAddress listen,
            Duration maxTtl,
            boolean init,
            Path data,
            Set<String> removed)
            throws IOException {
        MemberConfig plan = new MemberConfig(
                node(letter),
                listen,
                list(list),
                MemberConfig.CLUSTER,
                data,
                init,
                Set.copyOf(removed.stream().map(this::node).toList()),
                maxTtl,
                shards,
                secured.getOrDefault(letter, Security.insecure()),
                floors.getOrDefault(letter, 0L),
                !list.contains(letter));
        ClusterMember member = ClusterMember.start(plan, algorithm, () -> ended.add(letter));
        running.put(letter, member);
        return member;
    }

    /** The one that leads, if all that run have heard the same, and it runs; empty otherwise. */
    String leader() {
        return leader(0);
    }

    /** The same, of the cells of that number. */
    String leader(int shard) {
        Set<List<String>> heard = new HashSet<>();
        running.forEach((letter, member) -> {
            if (!hasEnded(letter)) {
                heard.add(member.leaders(shard));
            }
        });
        return running.keySet().stream()
                .filter(letter -> heard.equals(Set.of(List.of(id(letter)))))
                .findAny()
                .orElse("");
    }

    /** Ends a member in order. */
    void end(String letter) {
        ClusterMember member = running.remove(letter);
        if (member != null) {
            member.close();
        }
    }

    /** Whether a member has ended by itself. */
    boolean hasEnded(String letter) {
        return ended.contains(letter);
    }

    @Override
    public void close() {
        running.values().forEach(ClusterMember::close);
    }
}
