// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.spi.Deadline;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * Makes the socket of one connection: an interrupt closes it, and its reads have a timeout in common.
 */
final class RedisSockets implements JedisSocketFactory, AutoCloseable {

    private final String host;
    private final int port;
    private final @Nullable SSLContext tls;
    private final Deadline deadline;
    private final AtomicBoolean made = new AtomicBoolean();
    private volatile @Nullable Socket open;

    RedisSockets(String host, int port, @Nullable SSLContext tls, Deadline deadline) {
        this.host = host;
        this.port = port;
        this.tls = tls;
        this.deadline = deadline;
    }

    @Override
    public Socket createSocket() {
        if (!made.compareAndSet(false, true)) {
            // The driver would go on as if who we are had been said on the new one, too.
            throw new JedisConnectionException("the connection to " + host + ":" + port + " is closed");
        }
        Socket socket = null;
        try {
            socket = connect();
            open = socket;
            if (tls != null) {
                socket = secured(socket, tls);
            }
            socket.setSoTimeout(deadline.millis());
            return socket;
        } catch (IOException e) {
            close(socket);
            String why = ConnectionTrouble.ofSocket(e, open != null);
            throw new JedisConnectionException("could not connect to " + host + ":" + port + ": " + why, e);
        }
    }

    /** Tries each address of the name. */
    private Socket connect() throws IOException {
        IOException failure = null;
        for (InetAddress address : InetAddress.getAllByName(host)) {
            Socket socket = new InterruptibleSocket();
            try {
                socket.setTcpNoDelay(true);
                keepAlive(socket);
                socket.connect(new InetSocketAddress(address, port), deadline.millis());
                return socket;
            } catch (IOException e) {
                close(socket);
                if (failure != null) {
                    e.addSuppressed(failure);
                }
                failure = e;
            }
        }
        throw failure == null ? new IOException("no address") : failure;
    }

    /** So that a subscription, which only listens, notices that its server is gone without a word. */
    private static void keepAlive(Socket socket) throws IOException {
        socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        Set<SocketOption<?>> offered = socket.supportedOptions();
        if (offered.contains(ExtendedSocketOptions.TCP_KEEPIDLE)) {
            socket.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 10);
            socket.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, 5);
            socket.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, 3);
        }
    }

    private Socket secured(Socket plain, SSLContext context) throws IOException {
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, host, port, true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        // In any case there is to be time left to say why nothing came.
        socket.setSoTimeout(Math.max(1, deadline.millis() / 4 * 3));
        socket.startHandshake();
        return socket;
    }

    /** Closes the socket, under TLS too without a word to the other side, which could have to wait. */
    @Override
    public void close() {
        close(open);
    }

    private static void close(@Nullable Socket socket) {
        if (socket != null) {
            try {
                socket.close();
            } catch (IOException e) {
                // It is of no use any more.
            }
        }
    }
}
