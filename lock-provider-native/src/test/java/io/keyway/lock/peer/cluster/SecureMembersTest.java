// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.security.Certificates;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.security.SecuritySettings;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members that prove themselves to each other as their clients do to them. */
class SecureMembersTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration MAX_TTL = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private TestMembers members;
    private Certificates authority;

    @BeforeEach
    void prepare() throws IOException {
        members = new TestMembers(directory, "a", "b");
        authority = new Certificates(directory, "authority");
    }

    @AfterEach
    void end() {
        members.close();
    }

    private static Security secret(String secret) {
        return security(secret, Optional.empty(), Optional.empty());
    }

    private static Security security(String secret, Optional<Certificates.Pair> own, Optional<Path> authorities) {
        return Security.of(new SecuritySettings(
                Optional.of(secret),
                Optional.empty(),
                Optional.empty(),
                own.map(Certificates.Pair::certificate),
                own.map(Certificates.Pair::key),
                authorities,
                own.isPresent(),
                false,
                Optional.empty(),
                UnaryOperator.identity()));
    }

    @Test
    void membersWithCertificatesConfirmEachOtherAndServeWhoeverHasOne() throws Exception {
        Optional<Path> trusted = Optional.of(authority.authority());
        Certificates.Pair ofA = authority.issue("a", "127.0.0.1");
        members.secure("a", security("the secret of this cluster", Optional.of(ofA), trusted));
        members.secure(
                "b", security("the secret of this cluster", Optional.of(authority.issue("b", "127.0.0.1")), trusted));
        ClusterMember a = members.start("a", "ab", MAX_TTL, true);
        ClusterMember b = members.start("b", "ab", MAX_TTL, true);
        await().atMost(Patience.of(PATIENCE)).until(() -> !a.quarantined() && !b.quarantined());
        Certificates.Pair client = authority.issue("client", "client");
        String url = "lock:native://" + members.id("b") + "/" + MemberConfig.CLUSTER
                + "?secret=the%20secret%20of%20this%20cluster&tlsCa=" + authority.authority() + "&tlsCert="
                + client.certificate() + "&tlsKey=" + client.key();
        try (LockClient opened = Locks.open(url)) {
            for (int i = 0; i < 8; i++) {
                try (Lease lease = opened.lock("jobs/" + i).acquire()) {
                    assertThat(lease.isHeld()).isTrue();
                }
            }
        }
    }

    @Test
    void aMemberWithAnotherSecretIsNotWaitedForInSilence() throws Exception {
        members.secure("a", secret("the secret of this cluster"));
        members.secure("b", secret("the secret of another one"));
        ClusterMember a = members.start("a", "ab", MAX_TTL, true);
        ClusterMember b = members.start("b", "ab", MAX_TTL, true);
        String why = "did not prove that it knows the shared secret: it has another one than this end";
        await().atMost(Patience.of(PATIENCE))
                .until(() -> a.waits().contains(why) && b.waits().contains(why));
        assertThat(a.quarantined()).isTrue();
        assertThat(b.quarantined()).isTrue();
    }

    @Test
    @Tag("soak")
    void handshakesOfStrangersTakeNoTimeOfThoseWhoHold() throws Exception {
        Certificates.Pair own = authority.issue("a", "127.0.0.1");
        members.secure(
                "a",
                Security.of(new SecuritySettings(
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.of(own.certificate()),
                        Optional.of(own.key()),
                        Optional.empty(),
                        false,
                        false,
                        Optional.empty(),
                        UnaryOperator.identity())));
        ClusterMember a = members.start("a", "a", MAX_TTL, true);
        await().atMost(Patience.of(PATIENCE)).until(() -> !a.quarantined());
        String url = "lock:native://" + members.id("a") + "/" + MemberConfig.CLUSTER
                + "?ttl=60s&requestTimeout=60s&tlsCa=" + authority.authority();
        LockKey key = LockKey.lock(LockName.of("a"));
        try (LockClient client = Locks.open(url);
                Lease lease = client.lock("a").acquire()) {
            long cells = cpuNanos("-io-");
            long accepting = cpuNanos("-accept");
            List<Thread> strangers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                strangers.add(new Thread(() -> knock(50), "stranger-" + i));
            }
            strangers.forEach(Thread::start);
            long longest = 0;
            // So few that what these cost is little beside the handshakes.
            for (int i = 0; i < 100; i++) {
                long asked = System.nanoTime();
                assertThat(client.admin().show(key)).isPresent();
                longest = Math.max(longest, System.nanoTime() - asked);
            }
            for (Thread stranger : strangers) {
                stranger.join();
            }
            assertThat(lease.isHeld()).isTrue();
            assertThat(longest).isLessThan(Patience.of(Duration.ofSeconds(20)).toNanos());
            assertThat(cpuNanos("-io-") - cells).isLessThan(cpuNanos("-accept") - accepting);
        }
    }

    /** Shakes hands with a member that it does not trust, again and again. */
    private void knock(int times) {
        for (int i = 0; i < times; i++) {
            InetSocketAddress at = members.address("a");
            try (Socket stranger =
                    SSLContext.getDefault().getSocketFactory().createSocket(at.getAddress(), at.getPort())) {
                assertThatThrownBy(((SSLSocket) stranger)::startHandshake).isInstanceOf(SSLException.class);
            } catch (IOException | NoSuchAlgorithmException e) {
                throw new AssertionError(e);
            }
        }
    }

    private long cpuNanos(String part) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        return Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
                .filter(each -> each != null && each.getThreadName().contains(members.id("a") + part))
                .mapToLong(each -> threads.getThreadCpuTime(each.getThreadId()))
                .sum();
    }
}
