// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.peer.NativeOptions;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.TimeSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SecurityTest {
    private static final String SECRET = "correct horse battery staple";
    private static final byte[] TRANSCRIPT = {1, 2, 3};
    private static final InetSocketAddress EVERYWHERE = new InetSocketAddress("0.0.0.0", 7400);

    @TempDir
    Path directory;

    private static final TimeSource TIME = new TimeSource() {
        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public Scheduled at(long atNanos, Runnable task) {
            throw new AssertionError("nobody asks for a timer");
        }
    };

    private static OpenRequest request(String options, ClientOptions inCode) {
        LockUrl url = LockUrl.parse("lock:native://a:7400,b:7400/cluster" + options);
        url.check(NativeOptions.ALL);
        return new OpenRequest(url, inCode, SecurityTest.class.getClassLoader(), TIME);
    }

    private static Security security(String options) {
        return Security.of(request(options, ClientOptions.defaults()));
    }

    private Path file(String name, String text, String permissions) throws IOException {
        Path file = Files.writeString(directory.resolve(name), text);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    }

    private static boolean same(Authenticator left, Authenticator right) {
        return left.accepts(TRANSCRIPT, right.prove(TRANSCRIPT));
    }

    private static void refused(ThrowingCallable call, String... words) {
        assertThatThrownBy(call)
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContainingAll(words)
                .hasMessageNotContaining("horse");
    }

    @Test
    void aSecretIsTheSameFromAFileAndFromTheUrl() throws IOException {
        Path file = file("secret", SECRET + "\r\n", "rw-------");
        Security ofFile = security("?secretFile=" + file);
        Security ofUrl = security("?secret=correct%20horse%20battery%20staple");
        assertThat(same(ofFile.authenticator(), ofUrl.authenticator())).isTrue();
        assertThat(same(
                        ofFile.authenticator(),
                        security("?secret=another%20horse").authenticator()))
                .isFalse();
        assertThat(same(ofFile.authenticator(), security("").authenticator())).isFalse();
        assertThat(ofFile).hasToString("secret");
    }

    @Test
    void aSecretThatCannotBeUsedIsAnErrorThatDoesNotShowIt() throws IOException {
        Path good = file("good", SECRET, "rw-------");
        refused(() -> security("?secret=horse&secretFile=" + good), "secret and secretFile are both given");
        refused(() -> security("?secretFile=horse"), "secretFile: there is no such file in ");
        refused(() -> security("?secretFile=" + directory.resolve("none/at/all")), "no such file", "is no directory");
        refused(() -> security("?secretFile=" + file("empty", " \n", "rw-------")), "secretFile is empty", "base64");
        refused(() -> security("?secret="), "secret is empty");
        refused(() -> security("?secretFile=" + directory), "cannot be read");
        refused(() -> security("?secretFile=" + file("long", "x".repeat(5000), "rw-------")), "more than 4096 bytes");
        refused(() -> security("?secretFile=" + file("all", SECRET, "rw-rw-rw-")), "can change", "rw-rw-rw-");
        assertThat(security("?secretFile=" + file("seen", SECRET, "rw-r--r--"))).hasToString("secret");
    }

    @Test
    void certificatesThatCannotBeUsedAreErrorsThatSayWhatToDo() throws IOException {
        Certificates authority = new Certificates(directory, "ca");
        Certificates.Pair one = authority.issue("one", "localhost");
        Certificates.Pair two = authority.issue("two", "localhost");
        Path text = file("text", "no certificate", "rw-------");
        refused(() -> security("?tlsCert=" + one.certificate()), "tlsCert is given without tlsKey");
        refused(() -> security("?tlsKey=" + one.key()), "tlsKey is given without tlsCert");
        refused(() -> security("?tls=false&tlsCa=" + authority.authority()), "tlsCa is given beside tls=false");
        refused(() -> security("?tls=false&tlsClientAuth=true"), "tlsClientAuth is given beside tls=false");
        refused(() -> security("?tlsCa=" + text), "has no certificate in PEM");
        refused(() -> security("?tlsCa=" + directory.resolve("nothing")), "tlsCa: there is no such file");
        refused(
                () -> security("?tlsCert=" + one.certificate() + "&tlsKey=" + two.key()),
                "two.key is not the key of the first certificate",
                "CN=one");
        refused(() -> security("?tlsCert=" + one.certificate() + "&tlsKey=" + text), "has no private key", "openssl");
        Path old = file("old", "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n", "rw-------");
        refused(
                () -> security("?tlsCert=" + one.certificate() + "&tlsKey=" + old),
                "another form (EC PRIVATE KEY)",
                "openssl pkcs8 -topk8");
        Path bad = file("bad", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "rw-------");
        refused(() -> security("?tlsCa=" + bad), "a certificate of", "is damaged");
        Path noKey = file("noKey", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "rw-------");
        refused(() -> security("?tlsCert=" + one.certificate() + "&tlsKey=" + noKey), "is damaged, or none of RSA");
    }

    @Test
    void aMemberIsReachedFromOtherMachinesOnlyWithASecretOrCertificatesOfClientsOrOnPurpose() {
        Certificates authority = new Certificates(directory, "ca");
        Certificates.Pair own = authority.issue("own", "localhost");
        String files = "tlsCert=" + own.certificate() + "&tlsKey=" + own.key();
        assertThatThrownBy(() -> security("").checkListening(EVERYWHERE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("0.0.0.0:7400", "secretFile", "tlsCert", "tlsClientAuth", "insecure");
        assertThatThrownBy(() -> security("?" + files).checkListening(EVERYWHERE))
                .as("everybody may speak TLS")
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("0.0.0.0:7400", "secretFile", "tlsClientAuth", "insecure");
        for (String enough : List.of(
                "?secret=horse",
                "?insecure=true",
                "?tlsClientAuth=true&" + files,
                "?secret=horse&" + files,
                "?insecure=true&" + files)) {
            security(enough).checkListening(EVERYWHERE);
        }
        security("").checkListening(new InetSocketAddress(InetAddress.getLoopbackAddress(), 7400));
        assertThatThrownBy(() -> security("?tls=true").checkListening(EVERYWHERE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("needs a certificate", "tlsCert", "tlsKey");
    }

    @Test
    void whoeverConnectsChecksTheHostAndSaysItsName() {
        Tls tls = security("?tls=true").tls().orElseThrow();
        SSLEngine named = tls.connecting("lock-1.example", 7400);
        assertThat(named.getSSLParameters().getEndpointIdentificationAlgorithm())
                .isEqualTo("HTTPS");
        assertThat(named.getSSLParameters().getServerNames()).containsExactly(new SNIHostName("lock-1.example"));
        assertThat(named.getSSLParameters().getProtocols()).containsExactly("TLSv1.3", "TLSv1.2");
        for (String address : List.of("10.0.0.1", "::1")) {
            SSLEngine engine = tls.connecting(address, 7400);
            assertThat(engine.getSSLParameters().getServerNames()).isNullOrEmpty();
            assertThat(engine.getSSLParameters().getEndpointIdentificationAlgorithm())
                    .isEqualTo("HTTPS");
        }
        assertThat(tls.accepting().getNeedClientAuth()).isFalse();
        Tls mutual = security("?tlsClientAuth=true").tls().orElseThrow();
        assertThat(mutual.accepting().getNeedClientAuth()).isTrue();
        assertThat(security("").tls()).isEmpty();
    }

    @Test
    void aContextFromCodeStandsForTheFiles() throws NoSuchAlgorithmException {
        SSLContext context = SSLContext.getDefault();
        ClientOptions inCode = ClientOptions.defaults().with(NativeOptions.SSL_CONTEXT, context);
        Security security = Security.of(request("", inCode));
        assertThat(security.tls()).isPresent();
        Security.of(request("?tlsClientAuth=true", inCode)).checkListening(EVERYWHERE);
        refused(() -> Security.of(request("?tls=false", inCode)), "sslContext is given beside tls=false");
        Path ca = new Certificates(directory, "ca").authority();
        refused(() -> Security.of(request("?tlsCa=" + ca, inCode)), "tlsCa and an SSLContext set in code");
    }

    @Test
    void theSecretIsMaskedWhereverAUrlIsShown() {
        LockUrl url = LockUrl.parse("lock:native://a:7400/cluster?secret=horse&secretFile=/a/horse");
        assertThat(url.toString()).doesNotContain("horse");
        assertThatThrownBy(() -> LockUrl.parse("lock:native://a:7400/cluster?secret=horse&tls=maybe")
                        .check(NativeOptions.ALL))
                .hasMessageContaining("neither true nor false")
                .hasMessageNotContaining("horse");
    }
}
