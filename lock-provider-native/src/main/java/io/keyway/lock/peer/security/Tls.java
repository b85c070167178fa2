// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.security;

import io.keyway.lock.Option;
import io.keyway.lock.peer.NativeOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS 1.3 or 1.2 by the JDK. Whoever connects checks the certificate of the member against the host that it dialled; a
 * member demands a certificate in turn if it is told to. Members connect to each other with the certificate that they
 * listen with.
 */
public final class Tls {
    private static final Logger LOG = LoggerFactory.getLogger(Tls.class);
    private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};
    private static final char[] NO_PASSWORD = {};

    private final SSLContext context;
    private final boolean certificate;
    private final boolean clientCertificates;
    private final String trust;

    private Tls(SSLContext context, boolean certificate, boolean clientCertificates, String trust) {
        this.context = context;
        this.certificate = certificate;
        this.clientCertificates = clientCertificates;
        this.trust = trust;
    }

    /** @throws IllegalArgumentException if what the settings name cannot be used */
    static Optional<Tls> read(SecuritySettings settings) {
        Optional<Option<?>> file = firstFile(settings);
        boolean meant = file.isPresent() || settings.context().isPresent() || settings.clientCertificates();
        if (!settings.tls().orElse(meant)) {
            if (meant) {
                String option = settings.spelled(file.orElse(
                        settings.context().isPresent() ? NativeOptions.SSL_CONTEXT : NativeOptions.TLS_CLIENT_AUTH));
                throw new IllegalArgumentException(option + " is given beside " + settings.spelled(NativeOptions.TLS)
                        + "=false; leave one of them away");
            }
            return Optional.empty();
        }
        if (settings.context().isPresent()) {
            if (file.isPresent()) {
                throw new IllegalArgumentException(settings.spelled(file.get())
                        + " and an SSLContext set in code are both given; the context says all of it");
            }
            return Optional.of(
                    new Tls(settings.context().get(), true, settings.clientCertificates(), "its SSLContext"));
        }
        return Optional.of(ofFiles(settings));
    }

    private static Optional<Option<?>> firstFile(SecuritySettings settings) {
        if (settings.certificates().isPresent()) {
            return Optional.of(NativeOptions.TLS_CERT);
        }
        if (settings.key().isPresent()) {
            return Optional.of(NativeOptions.TLS_KEY);
        }
        return settings.authorities().isPresent() ? Optional.of(NativeOptions.TLS_CA) : Optional.empty();
    }

    private static Tls ofFiles(SecuritySettings settings) {
        if (settings.certificates().isPresent() != settings.key().isPresent()) {
            boolean given = settings.certificates().isPresent();
            Option<?> has = given ? NativeOptions.TLS_CERT : NativeOptions.TLS_KEY;
            Option<?> lacks = given ? NativeOptions.TLS_KEY : NativeOptions.TLS_CERT;
            throw new IllegalArgumentException(settings.spelled(has) + " is given without " + settings.spelled(lacks)
                    + "; a certificate and its key belong together");
        }
        String trust = settings.authorities()
                .map(file -> settings.spelled(NativeOptions.TLS_CA) + " " + file)
                .orElse("the JDK's trust store");
        try {
            KeyManager @Nullable [] keys = null;
            if (settings.certificates().isPresent() && settings.key().isPresent()) {
                keys = keys(
                        settings, settings.certificates().get(), settings.key().get());
            }
            TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trusted.init(authorities(settings));
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys, trusted.getTrustManagers(), null);
            return new Tls(context, keys != null, settings.clientCertificates(), trust);
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalArgumentException("TLS cannot be set up: " + e.getMessage(), e);
        }
    }

    private static KeyManager[] keys(SecuritySettings settings, Path certificates, Path key)
            throws GeneralSecurityException, IOException {
        String certificateOption = settings.spelled(NativeOptions.TLS_CERT);
        List<X509Certificate> chain = Pem.certificates(certificateOption, certificates);
        PrivateKey own = Pem.key(settings.spelled(NativeOptions.TLS_KEY), key);
        X509Certificate first = chain.get(0);
        if (!belongTogether(own, first)) {
            throw new IllegalArgumentException(settings.spelled(NativeOptions.TLS_KEY) + ": " + key
                    + " is not the key of the first certificate in " + certificates + " ("
                    + first.getSubjectX500Principal() + ")");
        }
        if (Instant.now().isAfter(first.getNotAfter().toInstant())) {
            LOG.warn(
                    "{}: the certificate in {} expired on {}; nobody will accept it",
                    certificateOption,
                    certificates,
                    first.getNotAfter().toInstant());
        }
        KeyStore store = emptyStore();
        store.setKeyEntry("own", own, NO_PASSWORD, chain.toArray(X509Certificate[]::new));
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, NO_PASSWORD);
        return factory.getKeyManagers();
    }

    private static boolean belongTogether(PrivateKey key, X509Certificate certificate) throws GeneralSecurityException {
        String kind = certificate.getPublicKey().getAlgorithm();
        String signature = switch (kind) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            case "EdDSA", "Ed25519", "Ed448" -> "EdDSA";
            default -> ""; // the handshake will tell
        };
        if (signature.isEmpty()) {
            return true;
        }
        try {
            Signature signing = Signature.getInstance(signature);
            signing.initSign(key);
            signing.update((byte) 1);
            byte[] signed = signing.sign();
            Signature verifying = Signature.getInstance(signature);
            verifying.initVerify(certificate.getPublicKey());
            verifying.update((byte) 1);
            return verifying.verify(signed);
        } catch (java.security.InvalidKeyException | java.security.SignatureException e) {
            LOG.debug("the key is of another kind than the certificate", e);
            return false;
        }
    }

    /** Null, which means those that the JDK trusts, where no file is named. */
    private static @Nullable KeyStore authorities(SecuritySettings settings)
            throws GeneralSecurityException, IOException {
        if (settings.authorities().isEmpty()) {
            return null;
        }
        KeyStore store = emptyStore();
        int number = 0;
        for (X509Certificate each : Pem.certificates(
                settings.spelled(NativeOptions.TLS_CA), settings.authorities().get())) {
            store.setCertificateEntry("ca" + number++, each);
        }
        return store;
    }

    private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, NO_PASSWORD);
        return store;
    }

    /** Whether a member can listen with this. */
    boolean hasCertificate() {
        return certificate;
    }

    /** Says whose word counts for certificates, for messages. */
    public String trust() {
        return trust;
    }

    /** One connection's engine at the end that connects; it accepts only a certificate for that host. */
    public SSLEngine connecting(String host, int port) {
        SSLEngine engine = context.createSSLEngine(host, port);
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        if (name(host)) {
            parameters.setServerNames(List.of(new SNIHostName(host)));
        }
        parameters.setProtocols(PROTOCOLS);
        engine.setSSLParameters(parameters);
        return engine;
    }

    /** One connection's engine at a member. */
    public SSLEngine accepting() {
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(false);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setNeedClientAuth(clientCertificates);
        parameters.setProtocols(PROTOCOLS);
        engine.setSSLParameters(parameters);
        return engine;
    }

    /** Addresses are not sent as a server's name (RFC 6066). */
    private static boolean name(String host) {
        return host.indexOf(':') < 0
                && !host.endsWith(".")
                && host.chars().anyMatch(each -> each != '.' && (each < '0' || each > '9'))
                && host.chars()
                        .allMatch(
                                each -> each < 128 && (Character.isLetterOrDigit(each) || each == '-' || each == '.'));
    }

    @Override
    public String toString() {
        return clientCertificates ? "TLS with certificates of clients" : "TLS";
    }
}
