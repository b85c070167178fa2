// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.redis.server.Certificates;
import io.keyway.lock.redis.server.RedisExecutable;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Ports;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

/** A server that stands still does not read: what it is sent fills the buffers on the way, and then waits. */
class UnreadRequestTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** More than the buffers of both sides hold. */
    private static final byte[] LARGE = new byte[32 << 20];

    static {
        Arrays.fill(LARGE, (byte) 'x');
    }

    @TempDir
    private Path directory;

    @Test
    void endsWithTheCall() throws Exception {
        try (RedisServer server = RedisServer.start(directory)) {
            assertEndsInTime(server, server.port(), null);
        }
    }

    @Test
    @Tag("soak")
    void endsWithTheCallUnderTls() throws Exception {
        Certificates certificates = Certificates.make(directory);
        int port = Ports.free();
        try (RedisServer server = RedisServer.start(
                RedisExecutable.brought(),
                directory,
                certificates.settings(port).toArray(String[]::new))) {
            assertEndsInTime(server, port, trusting(certificates));
        }
    }

    private static void assertEndsInTime(RedisServer server, int port, @Nullable SSLContext tls) throws Exception {
        try (SingleLink link = open(port, tls);
                HeardSignals signals = new HeardSignals()) {
            link.start(signals, Deadline.after(PATIENCE));
            server.pause();
            CompletableFuture<Void> call = CompletableFuture.runAsync(() -> send(link, Duration.ofSeconds(1)));
            assertThatThrownBy(() -> call.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasStackTraceContaining(SocketTimeoutException.class.getName())
                    .hasStackTraceContaining("could not be sent in time");
            server.resume();
            link.visitAll((name, connection) -> connection.ping(), Deadline.after(PATIENCE));
        }
    }

    @Test
    void endsWithAnInterrupt() throws Exception {
        try (RedisServer server = RedisServer.start(directory);
                SingleLink link = open(server.port(), null);
                HeardSignals signals = new HeardSignals()) {
            link.start(signals, Deadline.after(PATIENCE));
            server.pause();
            AtomicReference<Throwable> failure = new AtomicReference<>();
            Thread thread = new Thread(() -> failure.set(catchThrowable(() -> send(link, PATIENCE.multipliedBy(10)))));
            thread.setDaemon(true);
            thread.start();
            await().atMost(Patience.of(PATIENCE)).until(() -> writes(thread));
            thread.interrupt();
            thread.join(Patience.of(PATIENCE).toMillis());
            assertThat(failure.get()).hasRootCauseInstanceOf(ClosedByInterruptException.class);
            server.resume();
        }
    }

    private static boolean writes(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("writeInTime"));
    }

    private static void send(SingleLink link, Duration limit) {
        try {
            link.visitAll(UnreadRequestTest::echo, Deadline.after(limit));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void echo(String server, Connection connection) {
        connection.sendCommand(Command.ECHO, LARGE);
        assertThat(connection.getBinaryBulkReply()).isEqualTo(LARGE);
    }

    private static SingleLink open(int port, @Nullable SSLContext tls) {
        ClientOptions options = ClientOptions.defaults().with(CommonOptions.CONNECT_TIMEOUT, PATIENCE);
        if (tls == null) {
            return new SingleLink(TestSettings.of("lock:redis://127.0.0.1:" + port, options));
        }
        return new SingleLink(
                TestSettings.of("lock:rediss://127.0.0.1:" + port, options.with(RedisOptions.SSL_CONTEXT, tls)));
    }

    private static SSLContext trusting(Certificates certificates) throws Exception {
        KeyStore trusted = KeyStore.getInstance(
                certificates.trustStore().toFile(), certificates.password().toCharArray());
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }
}
