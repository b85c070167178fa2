// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.security.Certificates;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.security.SecuritySettings;
import io.keyway.lock.peer.service.LockCodec;
import io.keyway.lock.peer.wire.FrameCodec;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.process.Signals;
import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS between a member and whoever connects: what works, and what both ends say when it does not. */
class TlsTest {
    private static final MemberAcceptor.Limits LIMITS = new MemberAcceptor.Limits(8, 8, Duration.ofSeconds(30));
    private static final Security PLAIN = security(null, null, false);

    @TempDir
    Path directory;

    private Certificates authority;
    private Certificates.Pair good;
    private @Nullable TcpMember member;

    @BeforeEach
    void certificates() {
        authority = new Certificates(directory, "authority");
        good = authority.issue("good", "localhost", "127.0.0.1");
    }

    @AfterEach
    void end() {
        if (member != null) {
            member.close();
        }
    }

    private static Security security(
            @Nullable Path authorities, Certificates.@Nullable Pair own, boolean clientCertificates) {
        return Security.of(new SecuritySettings(
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.ofNullable(own).map(Certificates.Pair::certificate),
                Optional.ofNullable(own).map(Certificates.Pair::key),
                Optional.ofNullable(authorities),
                clientCertificates,
                false,
                Optional.empty(),
                UnaryOperator.identity()));
    }

    private TcpMember member(Security security) throws IOException {
        TcpMember started = new TcpMember(2, security, LIMITS);
        member = started;
        return started;
    }

    private TcpMember member(Certificates.Pair own) throws IOException {
        return member(security(null, own, false));
    }

    /** Why a client of ours does not come through, or another member; "open" if they do. */
    private static String dial(Security security, InetSocketAddress address) throws Exception {
        String client;
        try (Dialling dialling = new Client(security, Duration.ofSeconds(30))) {
            client = dialling.outcome(address);
        }
        try (Dialling dialling = new OtherMember(security, Duration.ofSeconds(30))) {
            assertThat(dialling.outcome(address)).isEqualTo(client);
        }
        return client;
    }

    private InetSocketAddress at(String host) throws IOException {
        TcpMember to = member;
        if (to == null) {
            throw new AssertionError("no member");
        }
        byte[] loopback = {127, 0, 0, 1};
        return new InetSocketAddress(
                InetAddress.getByAddress(host, loopback), to.address().getPort());
    }

    private void logged(String words) {
        TcpMember of = member;
        if (of == null) {
            throw new AssertionError("no member");
        }
        Signals.until(
                "a line about: " + words + " in " + of.log,
                () -> of.log.stream().anyMatch(line -> line.contains(words)));
    }

    @Test
    void framesGoThroughTlsToTheCellThatIsMeant() throws Exception {
        TcpMember member = member(good);
        for (int i = 0; i < 4; i++) {
            SSLSocket socket = (SSLSocket) trusting(authority.authority())
                    .getSocketFactory()
                    .createSocket(
                            InetAddress.getLoopbackAddress(), member.address().getPort());
            try (RawPeer peer = new RawPeer(socket)) {
                member.welcomed(peer, i % 2);
                assertThat(socket.getSession().getProtocol()).isEqualTo("TLSv1.3");
            }
        }
        assertThat(member.log).isEmpty();
    }

    private static SSLContext trusting(Path authority) throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (var in = java.nio.file.Files.newInputStream(authority)) {
            store.setCertificateEntry(
                    "ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    @Test
    void aClientThatTrustsTheAuthorityComesThroughByNameAndByAddress() throws Exception {
        member(good);
        Security client = security(authority.authority(), null, false);
        assertThat(dial(client, at("localhost"))).isEqualTo("open");
        assertThat(dial(client, at("127.0.0.1"))).isEqualTo("open");
    }

    @Test
    void aCertificateForAnotherHostIsNotAccepted() throws Exception {
        member(good);
        assertThat(dial(security(authority.authority(), null, false), at("elsewhere")))
                .contains("cannot connect to elsewhere:")
                .contains("the member's certificate is not for elsewhere");
        logged("it does not accept this member's certificate");
    }

    @Test
    void aCertificateOfAnUnknownAuthorityIsNotAccepted() throws Exception {
        member(good);
        Path other = new Certificates(directory, "other").authority();
        assertThat(dial(security(other, null, false), at("localhost")))
                .contains("signed by nobody that tlsCa " + other + " knows", "name its authority's certificate");
    }

    @Test
    void anExpiredCertificateIsNotAccepted() throws Exception {
        member(authority.expired("old", "localhost"));
        assertThat(dial(security(authority.authority(), null, false), at("localhost")))
                .contains("is not valid today", "renew it");
    }

    @Test
    void aMemberMayDemandACertificate() throws Exception {
        member(security(authority.authority(), good, true));
        Certificates.Pair own = authority.issue("client", "client");
        assertThat(dial(security(authority.authority(), own, false), at("localhost")))
                .isEqualTo("open");
        Certificates.Pair foreign = new Certificates(directory, "other").issue("foreign", "client");
        assertThat(dial(security(authority.authority(), null, false), at("localhost")))
                .contains("give tlsCert and tlsKey");
        logged("it has no certificate (tlsClientAuth)");
        assertThat(dial(security(authority.authority(), foreign, false), at("localhost")))
                .contains("give tlsCert and tlsKey");
    }

    @Test
    void aPlainClientLearnsThatTheMemberSpeaksTls() throws Exception {
        member(good);
        assertThat(dial(PLAIN, at("localhost"))).contains("the member speaks TLS and this end does not: add tls=true");
        logged("it speaks without TLS to a port with TLS");
    }

    @Test
    void aTlsClientLearnsThatTheMemberDoesNot() throws Exception {
        member(PLAIN);
        assertThat(dial(security(authority.authority(), null, false), at("localhost")))
                .contains("the other end does not speak TLS");
        logged("it speaks TLS and this member does not");
    }

    @Test
    void httpToATlsPortIsRefused() throws Exception {
        TcpMember member = member(good);
        try (RawPeer peer = member.connect()) {
            peer.send("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(peer.readToEnd()).startsWith("\u0015\u0003").hasSize(7);
        }
        logged("it speaks HTTP to a port with TLS");
    }

    @Test
    void aPortWhereNobodyAnswersIsNamed() throws Exception {
        int free = Ports.free();
        InetSocketAddress nobody = new InetSocketAddress(InetAddress.getLoopbackAddress(), free);
        for (Security each : new Security[] {PLAIN, security(authority.authority(), null, false)}) {
            assertThat(dial(each, nobody)).startsWith("cannot connect to localhost:" + free + ": Connection refused");
        }
    }

    @Test
    void silenceDuringTheHandshakeHasATimeLimit() throws Exception {
        Security trusting = security(authority.authority(), null, false);
        try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
                Dialling client = new Client(trusting, Duration.ofSeconds(1));
                Dialling member = new OtherMember(trusting, Duration.ofSeconds(1))) {
            for (Dialling each : new Dialling[] {client, member}) {
                assertThat(each.outcome((InetSocketAddress) silent.getLocalSocketAddress()))
                        .contains("the TLS handshake was not over in time");
                try (Socket accepted = silent.accept()) {
                    assertThat(accepted.getInputStream().read()).as("its hello").isEqualTo(0x16);
                }
            }
        }
    }

    /** A cell that dials what it is told to and keeps what it hears. */
    private abstract static class Dialling implements CellLoop.Surroundings, AutoCloseable {
        private final BlockingQueue<String> outcomes = new ArrayBlockingQueue<>(100);

        Cell cell(Security security) {
            return new Listening(TcpMember.hello(security), outcomes).cell();
        }

        static FrameCodec codec() {
            return new FrameCodec(new LockCodec(LeaseKeys.ALGORITHM));
        }

        abstract void connect(InetSocketAddress address, Consumer<String> failed);

        String outcome(InetSocketAddress address) throws InterruptedException {
            connect(address, outcomes::add);
            String outcome = outcomes.poll(Patience.seconds(50), TimeUnit.SECONDS);
            return outcome == null ? "nothing" : outcome;
        }

        @Override
        public void dial(long link) {
            throw new AssertionError("nobody asks");
        }

        @Override
        public void persist(DurableRecord record, long ticket) {
            throw new AssertionError("who dials keeps nothing");
        }

        @Override
        public Optional<Input> failed(Throwable why) {
            throw new AssertionError(why);
        }

        @Override
        public void heard(Notice notice) {
            // Nobody asks.
        }

        @Override
        public abstract void close();
    }

    private static final class Client extends Dialling {
        private final ClientLoop thread = new ClientLoop("dialling", new SuspendAwareClock(System::nanoTime, () -> 0));
        private final CellLoop loop;
        private final ClientDialer dialer;

        Client(Security security, Duration patience) {
            thread.start();
            loop = new CellLoop(thread, cell(security), this, System::nanoTime);
            dialer = new ClientDialer(thread, loop, codec(), patience, security.tls(), "the connection to m");
        }

        @Override
        void connect(InetSocketAddress address, Consumer<String> failed) {
            dialer.connect(1, address, failed);
        }

        @Override
        public void close() {
            thread.run(loop::shut);
            thread.close();
        }
    }

    private static final class OtherMember extends Dialling {
        private final LoopThread thread = new LoopThread("dialling");
        private final CellLoop loop;
        private final Connector connector;

        OtherMember(Security security, Duration patience) {
            loop = new CellLoop(thread.loop(), cell(security), this, Long.MAX_VALUE);
            connector = new Connector(loop, codec(), patience, security.tls(), "the connection to m");
        }

        @Override
        void connect(InetSocketAddress address, Consumer<String> failed) {
            connector.connect(1, address, failed);
        }

        @Override
        public void close() {
            thread.run(loop::shut);
            thread.close();
        }
    }
}
