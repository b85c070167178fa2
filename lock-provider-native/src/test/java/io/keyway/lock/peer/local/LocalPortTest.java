// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.member.HostElection;
import io.keyway.lock.peer.member.HostInfo;
import io.keyway.lock.peer.net.RawPeer;
import io.keyway.lock.peer.session.Mac;
import io.keyway.lock.peer.session.RefuseCode;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.process.Patience;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A directory whose name is too long for a socket: a port of this machine, and a secret that both ends prove to know.
 */
class LocalPortTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private Path locks;
    private String url;

    @BeforeEach
    void name() {
        locks = directory.resolve("long-".repeat(24)).resolve("locks");
        url = "lock:native:local://" + locks + "?maxTtl=10s&ttl=10s";
    }

    private HostInfo info() {
        return new HostElection(locks).info().orElseThrow();
    }

    @Test
    void processesExcludeEachOtherOverThePortAndOutliveTheHost() throws Exception {
        try (ChildJvm host = ChildJvm.start(LeaseHolder.class, url, "a");
                LockClient client = Locks.open(url)) {
            long token = Long.parseLong(host.await("held").trim());
            assertThat(info().socket()).isEmpty();
            assertThat(info().pid()).isEqualTo(host.pid());
            assertThat(client.lock("a").tryAcquire()).isEmpty();
            Lease mine = client.lock("mine").acquire();
            host.kill9();
            Lease next = client.lock("a").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            assertThat(next.token()).isGreaterThan(token);
            assertThat(mine.isHeld()).isTrue();
            assertThat(info().pid()).isEqualTo(ProcessHandle.current().pid());
        }
    }

    @Test
    void aPortThatAnotherProgramHasByNowIsNotTakenForAHost() throws Exception {
        try (LockClient first = Locks.open(url)) {
            first.lock("a").acquire().close();
        }
        try (ServerSocket other = new ServerSocket()) {
            other.bind(HostInfo.onLoopback(0));
            HostInfo.onPort(other.getLocalPort(), HostInfo.newSecret()).write(locks.resolve(HostElection.INFO));
            try (LockClient client = Locks.open(url)) {
                assertThat(client.lock("a").tryAcquire(Patience.of(PATIENCE))).isPresent();
            }
        }
    }

    @Test
    void aClientWithAnotherSecretFindsThatTheHostCannotProveItself() throws Exception {
        try (LockClient host = Locks.open(url)) {
            host.lock("a").acquire().close();
            HostInfo right = info();
            String wrong = HostInfo.newSecret();
            new HostInfo(right.pid(), Optional.empty(), right.port(), wrong).write(locks.resolve(HostElection.INFO));
            try (LockClient client = Locks.open(url)) {
                assertThatThrownBy(() -> client.lock("a").tryAcquire(Patience.of(PATIENCE)))
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("did not prove that it knows the shared secret")
                        .hasMessageNotContaining(wrong);
            }
            assertThat(host.lock("a").tryAcquire()).isPresent();
        }
    }

    @Test
    void aClientThatCannotProveTheSecretIsRefusedAndNeverSeesIt() throws Exception {
        try (LockClient host = Locks.open(url)) {
            host.lock("a").acquire().close();
            LocalConfig place =
                    LocalConfig.of(locks, Duration.ofSeconds(10), Algorithms.standard(), Duration.ofSeconds(5));
            try (RawPeer peer = new RawPeer(info().address())) {
                peer.send(LocalHello.of(place, 1, 1));
                assertThat(peer.read()).isInstanceOf(SessionFrame.Challenge.class);
                peer.send(new SessionFrame.Proof(new Mac(new byte[32])));
                assertThat(peer.read()).isEqualTo(new SessionFrame.Refuse(RefuseCode.NOT_AUTHENTICATED, "", "", ""));
                assertThat(peer.read()).isNull();
                String secret = info().secret();
                assertThat(new String(peer.seen(), StandardCharsets.ISO_8859_1)).doesNotContain(secret);
                assertThat(HexFormat.of().formatHex(peer.seen())).doesNotContain(secret);
            }
        }
    }

    @Test
    void aPortNeedsASecret() {
        assertThatThrownBy(() -> new HostInfo(1, Optional.empty(), OptionalInt.of(1), ""))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
