// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.security;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.peer.NativeOptions;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.spi.OpenRequest;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How one end of a cluster's connections shows who it is, and what it demands of the other: a shared secret, TLS, both
 * or neither. Immutable.
 *
 * <p>The secret proves at the handshake of each connection, in both directions, that the other end knows it; what
 * follows is neither hidden nor protected against somebody on the way. TLS does that.
 */
public final class Security {
    private static final Logger LOG = LoggerFactory.getLogger(Security.class);

    private final Authenticator authenticator;
    private final boolean secret;
    private final Optional<Tls> tls;
    private final SecuritySettings settings;

    private Security(Optional<byte[]> secret, Optional<Tls> tls, SecuritySettings settings) {
        this.authenticator = secret.map(Authenticator::sharedSecret).orElseGet(Authenticator::none);
        this.secret = secret.isPresent();
        this.tls = tls;
        this.settings = settings;
    }

    /**
     * Reads what a URL and the client's options name. Blocks for files.
     *
     * @throws InvalidLockUrlException if that cannot be; the message says what to do, without secrets
     */
    public static Security of(OpenRequest request) {
        try {
            return of(SecuritySettings.of(request));
        } catch (IllegalArgumentException e) {
            throw new InvalidLockUrlException("In " + request.url() + ": " + e.getMessage(), e);
        }
    }

    /**
     * Reads what the settings name. Blocks for files.
     *
     * @throws IllegalArgumentException if that cannot be; the message says what to do, without secrets
     */
    public static Security of(SecuritySettings settings) {
        return new Security(SharedSecret.read(settings), Tls.read(settings), settings);
    }

    /** Neither secret nor TLS, on purpose. */
    public static Security insecure() {
        return of(new SecuritySettings(
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                false,
                true,
                Optional.empty(),
                UnaryOperator.identity()));
    }

    /** Proves this end and checks the other. */
    public Authenticator authenticator() {
        return authenticator;
    }

    /** TLS, if connections are to use it. */
    public Optional<Tls> tls() {
        return tls;
    }

    /**
     * Returns normally if a member with this security may listen there: elsewhere than on the loopback address only
     * with a secret, or TLS and certificates of clients, or on purpose without either; with TLS only with a
     * certificate.
     *
     * @throws IllegalArgumentException if not; the message says what to do
     */
    public void checkListening(InetSocketAddress address) {
        if (tls.isPresent() && !tls.get().hasCertificate()) {
            throw new IllegalArgumentException("a member that speaks TLS needs a certificate and its key: add "
                    + settings.spelled(NativeOptions.TLS_CERT) + " and " + settings.spelled(NativeOptions.TLS_KEY));
        }
        if (open(address) && !settings.insecure()) {
            throw new IllegalArgumentException(
                    "anybody that reaches " + address.getHostString() + ":" + address.getPort()
                            + " could take and break locks: give all members and clients the same "
                            + settings.spelled(NativeOptions.SECRET_FILE)
                            + (tls.isPresent() ? ", or demand certificates of clients (" : ", or use TLS (")
                            + (tls.isPresent()
                                    ? ""
                                    : settings.spelled(NativeOptions.TLS_CERT) + ", "
                                            + settings.spelled(NativeOptions.TLS_KEY) + ", ")
                            + settings.spelled(NativeOptions.TLS_CLIENT_AUTH)
                            + (tls.isPresent() ? "), since TLS alone says who the member is" : ")")
                            + "; on a network where that is as it should be, say "
                            + settings.spelled(NativeOptions.INSECURE));
        }
    }

    /** Whether both ends prove that they know a secret. */
    public boolean secret() {
        return secret;
    }

    /** True if whoever reaches that address may take and break locks there. */
    public boolean open(InetSocketAddress address) {
        InetAddress ip = address.getAddress();
        boolean known = secret || (tls.isPresent() && settings.clientCertificates());
        return !known && (ip == null || !ip.isLoopbackAddress());
    }

    /**
     * Warns in the log if this client connects to another machine without secret and TLS, unless it does so on purpose.
     */
    public void checkDialling(Iterable<String> hosts) {
        if (secret || tls.isPresent() || settings.insecure()) {
            return;
        }
        for (String host : hosts) {
            if (!loopback(host)) {
                LOG.warn(
                        "the connection to {} has neither a secret nor TLS: anybody on the way can pose as the "
                                + "member; {}=true says that this is as it should be",
                        host,
                        settings.spelled(NativeOptions.INSECURE));
                return;
            }
        }
    }

    /** By its text alone: a name server is not asked. */
    private static boolean loopback(String host) {
        return host.equals("localhost") || host.startsWith("127.") || host.equals("::1") || host.equals("[::1]");
    }

    /** What is used, without secrets. */
    @Override
    public String toString() {
        String parts = (secret ? "secret" : "")
                + (secret && tls.isPresent() ? " and " : "")
                + tls.map(Tls::toString).orElse("");
        return parts.isEmpty() ? "neither secret nor TLS" : parts;
    }
}
