// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.security.cert.CertPathBuilderException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisException;

/** Says in words why there is no connection, where what was thrown names classes and not what to do. */
final class ConnectionTrouble {
    private ConnectionTrouble() {}

    /** Why no socket could be made; {@code shakesHands}: the server was reached, and TLS begun. */
    static String ofSocket(Exception failure, boolean shakesHands) {
        if (find(failure, UnknownHostException.class) != null) {
            return "unknown host";
        }
        if (find(failure, CertPathBuilderException.class) != null) {
            return "its certificate is signed by nobody that this client trusts: name the authority's by trustStore";
        }
        String text = text(failure);
        if (shakesHands && failure instanceof SocketTimeoutException) {
            return "no answer to the TLS handshake; if the server speaks no TLS, write lock:redis:";
        }
        if (failure instanceof SSLException && text.contains("Unsupported or unrecognized SSL message")) {
            return "the server speaks no TLS: write lock:redis:";
        }
        return text;
    }

    /** Why a server that was reached at {@code place} did not take the connection; {@code plain}: without TLS. */
    static String ofHandshake(JedisException failure, String place, boolean plain) {
        String text = text(failure);
        boolean hungUp = find(failure, SocketException.class) != null || text.equals("Unexpected end of stream");
        return plain && hungUp && !text.contains(place)
                ? place + " closed the connection before it answered; if it speaks TLS, write lock:rediss:"
                : text;
    }

    /** The message, which may end as a sentence, as a part of one. */
    private static String text(Exception failure) {
        return String.valueOf(failure.getMessage()).replaceFirst("\\.$", "");
    }

    private static <T extends Throwable> @Nullable T find(Throwable failure, Class<T> type) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (type.isInstance(each)) {
                return type.cast(each);
            }
        }
        return null;
    }
}
