// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.NativeOptions;
import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.security.Certificates;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.security.SecuritySettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Members with a secret and with TLS, through the API: what works, and what an application is told when it does not.
 */
@Execution(ExecutionMode.CONCURRENT) // each with members of its own
class SecureClusterTest {
    private static final String SECRET = "a secret for this cluster only";

    @TempDir
    Path directory;

    private final List<DisklessMember> members = new ArrayList<>();
    private final ExecutorService waiting = Executors.newCachedThreadPool();
    private Certificates authority;
    private Certificates.Pair own;
    private Path secret;

    @BeforeEach
    void files() throws Exception {
        authority = new Certificates(directory, "authority");
        own = authority.issue("member", "127.0.0.1");
        secret = Files.writeString(directory.resolve("secret"), SECRET + "\n");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    }

    @AfterEach
    void end() {
        waiting.shutdown();
        members.forEach(DisklessMember::close);
    }

    /** Starts two members; returns where they are. */
    private MemberList serve(@Nullable Path secretFile, Certificates.@Nullable Pair pair, boolean clientCertificates)
            throws Exception {
        Security security = Security.of(new SecuritySettings(
                Optional.empty(),
                Optional.ofNullable(secretFile),
                Optional.empty(),
                Optional.ofNullable(pair).map(Certificates.Pair::certificate),
                Optional.ofNullable(pair).map(Certificates.Pair::key),
                clientCertificates ? Optional.of(authority.authority()) : Optional.empty(),
                clientCertificates,
                false,
                Optional.empty(),
                UnaryOperator.identity()));
        MemberList list = DisklessMember.list(2);
        for (NodeId id : list.members()) {
            members.add(new DisklessMember(id, list, security, 1));
        }
        return list;
    }

    private static String url(MemberList list, String options) {
        return url(list, 60, options);
    }

    private static String url(MemberList list, int connectSeconds, String options) {
        return "lock:native://" + list + "/" + DisklessMember.CLUSTER + "?connect=eager&connectTimeout="
                + connectSeconds + "s&requestTimeout=60s" + options;
    }

    /** A client with these options gets locks of both members. */
    private static void works(LockClient opened) throws Exception {
        try (LockClient client = opened) {
            for (int i = 0; i < 8; i++) {
                try (Lease lease = client.lock("jobs/" + i).acquire()) {
                    assertThat(lease.isHeld()).isTrue();
                }
            }
        }
    }

    /** Looks what an application hears. */
    private CompletableFuture<Void> refused(MemberList list, String options, String... words) {
        return CompletableFuture.runAsync(
                () -> assertThat(Refusal.await(seconds -> url(list, seconds, options), 5, words))
                        .contains("127.0.0.1:")
                        .doesNotContain(SECRET),
                waiting);
    }

    @Test
    void whoeverDoesNotFitIsToldWhatToDo() throws Exception {
        MemberList plain = serve(null, null, false);
        MemberList secrets = serve(secret, null, false);
        MemberList both = serve(secret, own, false);
        MemberList elsewhere = serve(null, authority.issue("elsewhere", "elsewhere.example"), false);
        MemberList mutual = serve(null, own, true);
        Path other = new Certificates(directory, "other").authority();
        String known = "&secretFile=" + secret;
        String trusting = "&tlsCa=" + authority.authority();
        CompletableFuture.allOf(
                        refused(plain, known, "did not prove that it knows the shared secret", "it has none"),
                        refused(plain, trusting, "the other end does not speak TLS"),
                        refused(secrets, "", "has a shared secret and this end has none", "add secretFile"),
                        refused(secrets, "&secret=something-else-of-some-length", "another one than this end"),
                        refused(both, known, "the member speaks TLS and this end does not", "add tls=true"),
                        refused(
                                both,
                                known + "&tls=true",
                                "signed by nobody that the JDK's trust store knows",
                                "tlsCa"),
                        refused(both, known + "&tlsCa=" + other, "signed by nobody that tlsCa " + other + " knows"),
                        refused(both, trusting, "this end has none", "add secretFile"),
                        refused(elsewhere, trusting, "the member's certificate is not for 127.0.0.1"),
                        refused(mutual, trusting, "certificate, or wants one", "give tlsCert and tlsKey"))
                .get();
    }

    @Test
    void whoWaitsIsToldAtOnceWhatOnlyAConfigurationCanMend() throws Exception {
        MemberList plain = serve(null, null, false);
        MemberList both = serve(secret, own, false);
        for (String url : List.of(url(plain, "&tlsCa=" + authority.authority()), url(both, "&secretFile=" + secret))) {
            try (LockClient client = Locks.open(url.replace("connect=eager&", ""))) {
                assertThatThrownBy(() -> client.lock("jobs/1").acquire())
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("TLS")
                        .extracting(e -> ((LockUnavailableException) e).retryable())
                        .isEqualTo(false);
            }
        }
    }

    @Test
    void membersWithASecretServeWhoeverHasIt() throws Exception {
        MemberList list = serve(secret, null, false);
        works(Locks.open(url(list, "&secretFile=" + secret)));
        works(Locks.open(url(list, "&secret=" + SECRET.replace(" ", "%20"))));
    }

    @Test
    void membersWithTlsServeWhoeverTrustsTheirAuthority() throws Exception {
        MemberList list = serve(secret, own, false);
        works(Locks.open(url(list, "&secretFile=" + secret + "&tlsCa=" + authority.authority())));
    }

    @Test
    void membersMayDemandCertificates() throws Exception {
        MemberList list = serve(null, own, true);
        Certificates.Pair client = authority.issue("client", "client");
        String files = "&tlsCert=" + client.certificate() + "&tlsKey=" + client.key();
        works(Locks.open(url(list, "&tlsCa=" + authority.authority() + files)));
    }

    @Test
    void aContextFromCodeServesAsWellAsFiles() throws Exception {
        MemberList list = serve(null, own, false);
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (var in = Files.newInputStream(authority.authority())) {
            store.setCertificateEntry(
                    "ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        works(Locks.open(
                LockUrl.parse(url(list, "")), ClientOptions.defaults().with(NativeOptions.SSL_CONTEXT, context)));
    }

    /** As one that looks certificates up at a server of its own. */
    private static final class FailingTrust implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {
            throw new IllegalStateException("it is a client's");
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {
            throw new IllegalStateException("no list of revoked certificates");
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }

    @Test
    void aTrustManagerThatFailsIsTold() throws Exception {
        MemberList list = serve(null, own, false);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new FailingTrust()}, null);
        ClientOptions options = ClientOptions.defaults().with(NativeOptions.SSL_CONTEXT, context);
        String told = Refusal.await(
                seconds -> url(list, seconds, ""),
                options,
                5,
                "a trust or key manager of this end failed",
                "no list of revoked certificates");
        assertThat(told).contains("cannot connect to 127.0.0.1:");
    }
}
