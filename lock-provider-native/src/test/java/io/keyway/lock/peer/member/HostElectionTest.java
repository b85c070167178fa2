// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.keyway.lock.peer.member.HostElection.Hosting;
import io.keyway.lock.peer.member.HostElection.Taken;
import io.keyway.lock.peer.os.OsLockStatus;
import io.keyway.lock.peer.os.PeerUser;
import io.keyway.lock.tck.process.ChildJvm;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostElectionTest {
    @TempDir
    Path directory;

    HostElection arbiter;

    @BeforeEach
    void make() {
        arbiter = new HostElection(directory);
    }

    private Hosting host() {
        return (Hosting) arbiter.tryHost();
    }

    @Test
    void oneHostAtATime() {
        try (Hosting hosting = host()) {
            assertThat(hosting.status()).isEqualTo(OsLockStatus.HELD);
            assertThat(arbiter.tryHost())
                    .isInstanceOfSatisfying(
                            Taken.class, t -> assertThat(t.thisJvm()).isTrue());
        }
        host().close();
    }

    @Test
    void closingTwiceDoesNotTakeTheLockFromTheNextHost() {
        Hosting first = host();
        first.close();
        try (Hosting second = host()) {
            first.close();
            assertThat(first.status()).isEqualTo(OsLockStatus.RELEASED);
            assertThat(second.status()).isEqualTo(OsLockStatus.HELD);
        }
    }

    @Test
    void hostInfoIsReplacedInOneStepAndForItsOwnerAlone() throws Exception {
        try (Hosting hosting = host()) {
            assertThat(arbiter.info()).isEmpty();
            HostInfo first = HostInfo.onPort(4711, HostInfo.newSecret());
            hosting.publish(first);
            assertThat(arbiter.info()).contains(first);
            HostInfo second = HostInfo.onSocket(directory.resolve("host.sock"));
            hosting.publish(second);
            assertThat(arbiter.info()).contains(second);
            assertThat(second.secret()).hasSize(64).isNotEqualTo(first.secret());
            assertThat(second.toString()).doesNotContain(second.secret());
            assertThat(Files.getPosixFilePermissions(directory.resolve(HostElection.INFO)))
                    .hasSize(2);
            assertThat(Files.size(directory.resolve(HostElection.LOCK)))
                    .as("host.lock holds nothing")
                    .isZero();
        }
        assertThat(arbiter.info()).as("removed by a host that ends in order").isEmpty();
    }

    @Test
    void aBrokenHostInfoIsNone() throws Exception {
        for (String text : new String[] {
            "",
            "garbage",
            "format=2\npid=1\nport=1\nsecret=\nend=\n",
            "format=1\npid=x\nport=1\nend=\n",
            "format=1\npid=1\nend=\n",
            "format=1\npid=1\nport=1\nsecret=ab",
            "format=1\npid=1\nport=99999999999\nend=\n"
        }) {
            Files.writeString(directory.resolve(HostElection.INFO), text);
            assertThat(arbiter.info()).as(text).isEmpty();
        }
        Files.writeString(
                directory.resolve(HostElection.INFO), "format=1\npid=7\nport=4711\nsecret=ab\nlater=1\nend=\n");
        assertThat(arbiter.info()).hasValueSatisfying(i -> assertThat(i.port()).isEqualTo(OptionalInt.of(4711)));
    }

    @Test
    void aStaleSocketIsRemovedByTheHost() throws Exception {
        Path stale = directory.resolve("host.sock");
        ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                .bind(UnixDomainSocketAddress.of(stale))
                .close();
        assertThat(stale).exists();
        try (Hosting hosting = host()) {
            Path path = hosting.socket().orElseThrow();
            assertThat(path).isEqualTo(stale).doesNotExist();
            try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
                server.bind(UnixDomainSocketAddress.of(path));
                assertThat(path).exists();
            }
        }
        assertThat(stale).as("removed by a host that ends in order").doesNotExist();
    }

    @Test
    void aSocketPathIsShortEnoughOrThereIsNone() {
        int room = SocketPath.MAX_BYTES - "/tmp/".length();
        Path base = Path.of("/tmp");
        assertThat(SocketPath.in(base.resolve("d".repeat(room - 10))))
                .hasValueSatisfying(p ->
                        assertThat(p.toString()).hasSize(SocketPath.MAX_BYTES).endsWith("/host.sock"));
        assertThat(SocketPath.in(base.resolve("d".repeat(room - 9))))
                .hasValueSatisfying(p -> assertThat(p.toString()).endsWith("/s"));
        assertThat(SocketPath.in(base.resolve("d".repeat(room - 2)))).isPresent();
        assertThat(SocketPath.in(base.resolve("d".repeat(room - 1)))).isEmpty();
        assertThat(SocketPath.in(base.resolve("\u00e9".repeat(room / 2))))
                .as("bytes, not characters")
                .isEmpty();
    }

    @Test
    void theLongestSocketPathCanBeBound() throws Exception {
        int others = directory.toString().length() + "//host.sock".length();
        Path deep = Files.createDirectory(directory.resolve("d".repeat(SocketPath.MAX_BYTES - others)));
        Path path = SocketPath.in(deep).orElseThrow();
        assertThat(path.toString()).hasSize(SocketPath.MAX_BYTES);
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(path));
            assertThat(path).exists();
        }
    }

    @Test
    void aReplacedLockFileIsNoticedByTheHost() throws Exception {
        try (Hosting hosting = host()) {
            hosting.publish(HostInfo.onPort(1, HostInfo.newSecret()));
            Files.delete(directory.resolve(HostElection.LOCK));
            assertThat(hosting.status()).isEqualTo(OsLockStatus.REPLACED);
            try (Hosting second = host()) {
                second.publish(HostInfo.onPort(2, HostInfo.newSecret()));
                assertThat(second.status()).isEqualTo(OsLockStatus.HELD);
                assertThat(hosting.status()).isEqualTo(OsLockStatus.REPLACED);
                hosting.close();
                assertThat(arbiter.info())
                        .as("the second host's word stays")
                        .hasValueSatisfying(i -> assertThat(i.port()).hasValue(2));
            }
        }
    }

    @Test
    void aHostLockThatVanishedIsNoticedByTheHost() throws Exception {
        try (Hosting hosting = host()) {
            assumeTrue(hosting.checkable(), "needs /proc");
            Files.readAllBytes(directory.resolve(HostElection.LOCK));
            assertThat(hosting.status()).isEqualTo(OsLockStatus.VANISHED);
        }
    }

    @Test
    void aKilledHostIsFollowedAtOnceAndAStoppedOneIsNot() throws Exception {
        try (ChildJvm child = ChildJvm.start(HostProcess.class, directory.toString())) {
            child.await("hosting");
            assertThat(arbiter.tryHost()).isInstanceOfSatisfying(Taken.class, t -> {
                assertThat(t.thisJvm()).isFalse();
                assertThat(t.info()).hasValueSatisfying(i -> assertThat(i.pid()).isEqualTo(child.pid()));
            });
            child.stop();
            assertThat(arbiter.tryHost()).as("stopped is alive").isInstanceOf(Taken.class);
            Path socket = directory.resolve("host.sock");
            try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
                assertThat(channel.isConnected())
                        .as("connecting to a stopped host succeeds, so it proves nothing")
                        .isTrue();
            }
            child.cont();
            child.kill9();
            try (Hosting hosting = host()) {
                assertThat(arbiter.info()).as("the dead host's word").isPresent();
                assertThat(socket).exists();
                assertThat(hosting.socket()).contains(socket);
                assertThat(socket).doesNotExist();
            }
        }
    }

    @Test
    void aPeerOfTheSameUserIsAccepted() throws Exception {
        PeerUser user = PeerUser.ownerOf(directory);
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            UnixDomainSocketAddress address = UnixDomainSocketAddress.of(directory.resolve("peer.sock"));
            server.bind(address);
            try (SocketChannel client = SocketChannel.open(address);
                    SocketChannel accepted = server.accept()) {
                assertThat(user.refusal(accepted)).isEmpty();
                assertThat(user.refusal(client)).isEmpty();
            }
        }
    }

    @Test
    void aPeerOfAnotherUserIsRefused() throws Exception {
        var users = directory.getFileSystem().getUserPrincipalLookupService();
        var nobody = users.lookupPrincipalByName("64999");
        var group = users.lookupPrincipalByGroupName("64999");
        PeerUser user = PeerUser.ownerOf(directory);
        assertThat(user.refusal(new jdk.net.UnixDomainPrincipal(nobody, group)))
                .hasValueSatisfying(why -> assertThat(why).contains("64999"));
        assertThat(user.refusal(new jdk.net.UnixDomainPrincipal(Files.getOwner(directory), group)))
                .isEmpty();
    }
}
