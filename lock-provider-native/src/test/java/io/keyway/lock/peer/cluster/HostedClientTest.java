// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import io.keyway.lock.kit.SystemTime;
import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.engine.NativeEngine;
import io.keyway.lock.peer.lamport.LamportAlgorithm;
import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Ports;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients of a member in their own process, at whose id nobody listens: whatever they hear of it comes without a
 * socket.
 */
class HostedClientTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Algorithm LEASE =
            new LeaseAlgorithm(LockSettings.defaults().withoutCache());

    @TempDir
    Path directory;

    private final SystemTime time = new SystemTime("hosted");
    private final List<LockClient> clients = new ArrayList<>();
    private NodeId id = new NodeId("127.0.0.1", 1);
    private ClusterMember member;

    private void start(Algorithm algorithm, int shards, boolean init) throws Exception {
        if (init) {
            id = new NodeId("127.0.0.1", Ports.free());
        }
        member = ClusterMember.start(
                new MemberConfig(
                        id,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        new MemberList(List.of(id)),
                        MemberConfig.CLUSTER,
                        directory,
                        init,
                        Set.of(),
                        TTL,
                        shards,
                        Security.insecure(),
                        0,
                        false),
                algorithm,
                () -> {});
    }

    private LockClient open(Algorithm algorithm) {
        return open(algorithm, "10s");
    }

    private LockClient open(Algorithm algorithm, String ttl) {
        OpenRequest request = new OpenRequest(
                LockUrl.parse("lock:native://" + id + "/keyway?maxTtl=10s&requestTimeout=2s&ttl=" + ttl),
                ClientOptions.defaults(),
                HostedClientTest.class.getClassLoader(),
                time);
        NativeEngine engine = new NativeEngine(
                request.clientName(),
                algorithm,
                Duration.ofSeconds(2),
                EnumSet.of(Feature.LIST),
                algorithm.guarantees(Scope.NETWORK, TTL),
                listener -> ClusterMode.open(request, algorithm, Optional.of(member), listener, () -> {}));
        LockClient client = request.over(engine);
        clients.add(client);
        return client;
    }

    @AfterEach
    void end() {
        clients.forEach(LockClient::close);
        member.close();
        time.close();
    }

    @Test
    void locksOfAllCellsAreTakenAndHandedOverWithoutASocket() throws Exception {
        start(LEASE, 4, true);
        takeTurns(LEASE, "a", "b", "c", "d", "e");
    }

    @Test
    void soAreThoseOfLamportsQueue() throws Exception {
        start(new LamportAlgorithm(), 1, true);
        takeTurns(new LamportAlgorithm(), "a", "b");
    }

    /** Eight threads of two clients want the same locks: each has them alone, with rising tokens; all are served. */
    private void takeTurns(Algorithm algorithm, String... names) throws Exception {
        List<LockClient> two = List.of(open(algorithm), open(algorithm));
        List<CompletableFuture<Integer>> users = new ArrayList<>();
        List<AtomicLong> last = new ArrayList<>();
        for (int i = 0; i < names.length; i++) {
            last.add(new AtomicLong());
        }
        for (int i = 0; i < 8; i++) {
            LockClient client = two.get(i % 2);
            CompletableFuture<Integer> served = new CompletableFuture<>();
            users.add(served);
            Thread user = new Thread(() -> {
                try {
                    for (int turn = 0; turn < 100; turn++) {
                        int which = turn % names.length;
                        try (Lease lease = client.lock(names[which])
                                .tryAcquire(Patience.of(PATIENCE))
                                .orElseThrow()) {
                            // Not atomic: two of one name at a time would lose one of both.
                            long before = last.get(which).get();
                            assertThat(lease.token()).isGreaterThan(before);
                            assertThat(last.get(which).compareAndSet(before, lease.token()))
                                    .isTrue();
                        }
                    }
                    served.complete(100);
                } catch (Throwable e) {
                    served.completeExceptionally(e);
                }
            });
            user.setDaemon(true);
            user.start();
        }
        for (CompletableFuture<Integer> served : users) {
            assertThat(served.get(Patience.seconds(100), TimeUnit.SECONDS)).isEqualTo(100);
        }
    }

    @Test
    void aClientThatClosesSaysGoodbyeAndItsLocksAreFreeAtOnce() throws Exception {
        start(LEASE, 1, true);
        LockClient leaving = open(LEASE);
        LockClient other = open(LEASE);
        Lease held = leaving.lock("job").acquire();
        CompletableFuture<Lease> waiting = other.lock("job").acquireAsync();
        assertThat(waiting).isNotDone();
        long before = System.nanoTime();
        leaving.close();
        assertThat(waiting.get(Patience.seconds(30), TimeUnit.SECONDS).token()).isGreaterThan(held.token());
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(TTL);
    }

    @Test
    void aMemberThatHasEndedIsLookedForAtItsIdAndLeasesEndInTime() throws Exception {
        start(LEASE, 1, true);
        LockClient client = open(LEASE, "1s");
        Lease held = client.lock("job").acquire();
        member.close();
        assertThatThrownBy(() -> client.lock("other").tryAcquire())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(id.toString());
        assertThat(held.lost()
                        .toCompletableFuture()
                        .get(Patience.seconds(60), TimeUnit.SECONDS)
                        .cause())
                .isEqualTo(LeaseLoss.Cause.EXPIRED);
    }
}
