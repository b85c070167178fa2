// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.engine.Cells;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.net.RawPeer;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.Mac;
import io.keyway.lock.peer.session.Nonce;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three members that are attacked in every way that we know, while two clients work: these feel nothing. */
class HostileClusterTest {
    private static final int HALF_OPEN = 1_000;
    private static final int GRANTS = 100_000;
    private static final int BATCH = 500;
    private static final int PAIRS = 200;
    private static final Duration MAX_TTL = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private TestMembers members;
    private final List<AutoCloseable> attackers = new ArrayList<>();
    private MemberList list;

    @BeforeEach
    void serve() throws Exception {
        members = new TestMembers(directory, "a", "b", "c");
        list = MemberList.parse(String.join(",", members.ids("abc")));
        List<ClusterMember> started = members.startAll("abc", MAX_TTL, true);
        await().atMost(Patience.of(MAX_TTL)).until(() -> started.stream().noneMatch(ClusterMember::quarantined));
    }

    @AfterEach
    void end() throws Exception {
        for (AutoCloseable each : attackers) {
            each.close();
        }
        members.close();
    }

    private RawPeer attacker(NodeId member) throws IOException {
        RawPeer peer = new RawPeer(new InetSocketAddress(member.host(), member.port()));
        attackers.add(peer);
        return peer;
    }

    private LockClient client(String name) {
        return Locks.open("lock:native://" + list + "/" + MemberConfig.CLUSTER + "?ttl=20s&maxTtl=60s&name=" + name);
    }

    private SessionFrame.Hello hello(long client, int shard) {
        Cells cells = new Cells(MemberConfig.CLUSTER, MAX_TTL, Algorithms.standard(), Authenticator.none());
        return new SessionFrame.Hello(
                1,
                1,
                MemberConfig.CLUSTER,
                cells.settingsHash(),
                0,
                LeaseKeys.ALGORITHM,
                SessionFrame.Role.CLIENT,
                "",
                "",
                shard,
                new Incarnation(666, client),
                new Nonce(3, client),
                1,
                0,
                0,
                List.of(),
                null);
    }

    private static SessionFrame.Data data(long session, long seq, List<Message> messages) {
        return new SessionFrame.Data(session, seq, 0, true, seq, 0, messages);
    }

    /**
     * Bytes that no peer sends, and frames that no peer sends then; each on a connection of its own, which the member
     * closes.
     */
    private void nonsense(NodeId member, long number) throws Exception {
        byte[] garbage = new byte[5000];
        new SplittableRandom(number).nextBytes(garbage);
        byte[] hello = RawPeer.bytes(hello(number, 0));
        byte[] longer = Arrays.copyOf(hello, hello.length + 9);
        SessionFrame proof = new SessionFrame.Proof(new Mac(new byte[32]));
        List<byte[]> all = List.of(
                garbage,
                "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII),
                new byte[] {0x16, 3, 1, 2, 0, 1, 0},
                new byte[] {0, 0, (byte) 0xff, (byte) 0xff},
                longer,
                RawPeer.bytes(proof),
                RawPeer.bytes(data(1, 1, List.of())));
        for (byte[] each : all) {
            try (RawPeer peer = new RawPeer(new InetSocketAddress(member.host(), member.port()))) {
                peer.trySend(each);
                peer.readToEnd();
            }
        }
        for (SessionFrame second : List.of(proof, data(1, 1, List.of()))) {
            try (RawPeer peer = attacker(member)) {
                peer.send(hello(number, 0));
                peer.read();
                peer.send(second);
                peer.readToEnd();
            }
        }
    }

    /** Takes locks in a session of its own, and names grants of others. Nothing is read. */
    private void greedy(NodeId member, String prefix, int shard) throws Exception {
        RawPeer peer = attacker(member);
        long session = ((SessionFrame.Welcome) peer.introduce(hello(1_000_000 + shard, shard), Authenticator.none()))
                .session();
        Owner owner = new Owner("greedy", Map.of());
        for (int done = 0; done < GRANTS; done += BATCH) {
            List<Message> batch = new ArrayList<>();
            for (int i = done; i < done + BATCH; i++) {
                batch.add(new LockMessage.Acquire(
                        LeaseKeys.lock(prefix + i),
                        i + 1,
                        LockMode.EXCLUSIVE,
                        1,
                        1,
                        1_000_000_000L,
                        true,
                        false,
                        false,
                        0,
                        0,
                        owner));
            }
            peer.trySend(RawPeer.bytes(data(session, done + 1, batch)));
        }
        // What is not one's own: tokens are easy to guess.
        List<Message> foreign = new ArrayList<>();
        for (long token = 0; token < 2_000; token++) {
            foreign.add(new LockMessage.Release(LeaseKeys.lock("held"), (1L << 31) + token, (1L << 31) + token));
            foreign.add(new LockMessage.Accepted(LeaseKeys.lock("held"), (1L << 31) + token, (1L << 31) + token));
        }
        peer.trySend(RawPeer.bytes(data(session, GRANTS + 1, foreign)));
    }

    @Test
    void clientsFeelNothing() throws Exception {
        NodeId owner = list.owner("held");
        try (LockClient one = client("one");
                LockClient two = client("two")) {
            Lease held = one.lock("held").acquire();
            CompletableFuture<Void> attack = CompletableFuture.runAsync(() -> attack(owner));
            int pairs = 0;
            while (!attack.isDone() || pairs < PAIRS) {
                LockClient client = pairs % 2 == 0 ? one : two;
                try (Lease lease = client.lock("work/" + pairs % 9).acquire()) {
                    assertThat(lease.isHeld()).isTrue();
                }
                pairs++;
            }
            attack.join();
            assertThat(held.isHeld()).isTrue();
            assertThat(held.lost().toCompletableFuture()).isNotDone();
            assertThat(two.lock("held").tryAcquire())
                    .as("a lock that nobody released")
                    .isEmpty();
            try (LockClient late = client("late")) {
                assertThat(late.lock("late").tryAcquire(Duration.ofSeconds(20))).isPresent();
            }
        }
    }

    private void attack(NodeId owner) {
        try {
            for (NodeId member : list.members()) {
                for (int i = 0; i < HALF_OPEN / 3 + 1; i++) {
                    attacker(member);
                }
                for (int number = 0; number < 5; number++) {
                    nonsense(member, number);
                }
            }
            greedy(owner, "greedy/", MemberList.shard("held", TestMembers.SHARDS));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
