// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslClosedEngineException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.Locale;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Says in words why TLS failed: the JDK's exceptions name classes and alerts, not what to do. */
final class TlsTrouble {
    /** Causes of causes that are looked at: a chain may be a ring. */
    private static final int DEPTH = 20;

    private TlsTrouble() {}

    /**
     * Why this client does not come through to a member.
     *
     * @param host that was dialled
     * @param trust whose word counts, see {@link io.keyway.lock.peer.security.Tls#trust}
     */
    static String atClient(Throwable cause, String host, String trust) {
        if (find(cause, NotSslRecordException.class) != null) {
            return "the other end does not speak TLS: start the members with TLS, or connect without";
        }
        Throwable validity = find(cause, CertificateExpiredException.class);
        if (validity == null) {
            validity = find(cause, CertificateNotYetValidException.class);
        }
        if (validity != null) {
            return "the member's certificate, or one above it, is not valid today (" + validity.getMessage()
                    + "): renew it, or set this machine's clock";
        }
        if (find(cause, CertPathBuilderException.class) != null) {
            return "the member's certificate is signed by nobody that " + trust
                    + " knows: name its authority's certificate with tlsCa";
        }
        Throwable certificate = find(cause, CertificateException.class);
        if (certificate != null) {
            String text = String.valueOf(certificate.getMessage());
            return text.startsWith("No ") // name, subject alternative name, of the kind that was looked for
                    ? "the member's certificate is not for " + host + " (" + text
                            + "): dial a name that it has, or issue one with this name"
                    : "the member's certificate is not accepted: " + text;
        }
        if (find(cause, SslHandshakeTimeoutException.class) != null
                || find(cause, ConnectTimeoutException.class) != null) {
            return "the TLS handshake was not over in time";
        }
        RuntimeException own = thrown(cause);
        if (own != null) {
            return "a trust or key manager of this end failed (" + own + "): mend it, or give another SSLContext";
        }
        String alert = alert(cause);
        if (!alert.isEmpty()) {
            return certificateAlert(alert)
                    ? "the member does not accept this end's certificate, or wants one (" + alert
                            + "): give tlsCert and tlsKey, signed by an authority that the member's tlsCa has"
                    : "the member ended TLS (" + alert + ")";
        }
        return hungUp(cause) ? "the other end hung up during the TLS handshake" : general(cause);
    }

    /**
     * True if a client fails so until somebody changes a configuration: the other end speaks no TLS, or one of the
     * certificates is not accepted.
     */
    static boolean lasting(Throwable cause) {
        return find(cause, NotSslRecordException.class) != null
                || find(cause, CertificateException.class) != null
                || find(cause, CertPathBuilderException.class) != null
                || certificateAlert(alert(cause));
    }

    /** Why a member does not let somebody in. */
    static String atMember(Throwable cause) {
        Throwable certificate = find(cause, CertificateException.class);
        if (certificate == null) {
            certificate = find(cause, CertPathBuilderException.class);
        }
        if (certificate != null) {
            return "its certificate is not accepted: " + certificate.getMessage();
        }
        String alert = alert(cause);
        if (!alert.isEmpty()) {
            return certificateAlert(alert)
                    ? "it does not accept this member's certificate (" + alert + ")"
                    : "it ended TLS (" + alert + ")";
        }
        String text = general(cause);
        return text.contains("Empty client certificate chain") ? "it has no certificate (tlsClientAuth)" : text;
    }

    /** A word for what ended a connection that stood. */
    static String general(Throwable cause) {
        SSLException tls = find(cause, SSLException.class);
        if (tls != null) {
            String alert = alert(cause);
            return alert.isEmpty()
                    ? "TLS: " + tls.getMessage()
                    : certificateAlert(alert) ? atClient(cause, "", "") : "TLS: " + alert;
        }
        return cause instanceof RuntimeException ? cause.toString() : String.valueOf(cause.getMessage());
    }

    /** True if the other side just went away. */
    static boolean hungUp(Throwable cause) {
        return find(cause, SslClosedEngineException.class) != null
                || find(cause, ClosedChannelException.class) != null
                || (find(cause, SSLException.class) == null && cause instanceof IOException)
                || String.valueOf(cause.getMessage()).contains("while SSL/TLS handshake was in progress");
    }

    private static boolean certificateAlert(String alert) {
        return alert.contains("cert") || alert.contains("unknown_ca");
    }

    /** The alert that the other side sent; empty if none. */
    private static String alert(Throwable cause) {
        SSLException tls = find(cause, SSLException.class);
        String text = tls == null ? "" : String.valueOf(tls.getMessage());
        String before = "received fatal alert: ";
        int at = text.toLowerCase(Locale.ROOT).indexOf(before);
        if (at < 0) {
            return "";
        }
        return text.substring(at + before.length());
    }

    /** What TLS threw, or whom it had asked, that is no word of TLS itself; null if nothing. */
    private static @Nullable RuntimeException thrown(Throwable cause) {
        RuntimeException found = null;
        Throwable each = cause;
        for (int depth = 0; each != null && depth < DEPTH; depth++) {
            if (each instanceof RuntimeException thrown) {
                found = thrown;
            } else if (each instanceof SSLException) {
                found = null; // what is above it, Netty has put there
            }
            each = each.getCause();
        }
        return found;
    }

    private static <T extends Throwable> @Nullable T find(Throwable cause, Class<T> type) {
        Throwable each = cause;
        for (int depth = 0; each != null && depth < DEPTH; depth++) {
            if (type.isInstance(each)) {
                return type.cast(each);
            }
            each = each.getCause();
        }
        return null;
    }
}
