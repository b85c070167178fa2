// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.tck.proxy.Direction;
import io.keyway.lock.tck.proxy.Fault;
import io.keyway.lock.tck.proxy.FaultProxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

/** An answer that comes in small pieces, each soon after the one before, has no more time than any other. */
class SlowAnswerTest {
    private static final String TEXT = "x".repeat(300);

    @Test
    void endsWithTheCallAndNotWithItsLastPiece(@TempDir Path directory) throws Exception {
        try (RedisServer server = RedisServer.start(directory);
                FaultProxy proxy =
                        FaultProxy.to(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
                HeardSignals signals = new HeardSignals();
                SingleLink link = new SingleLink(TestSettings.of(
                        "lock:redis://127.0.0.1:" + proxy.address().getPort(), Duration.ofSeconds(20)))) {
            link.start(signals, Deadline.after(Duration.ofSeconds(20)));
            link.visitAll(SlowAnswerTest::echo, Deadline.after(Duration.ofSeconds(20)));
            // The whole answer would take 30 s, and a part of it comes each 100 ms.
            proxy.set(Direction.TO_CLIENT, Fault.slow(10));
            assertThatThrownBy(() -> link.visitAll(SlowAnswerTest::echo, Deadline.after(Duration.ofSeconds(1))))
                    .hasCauseInstanceOf(SocketTimeoutException.class);
        }
    }

    private static void echo(String server, Connection connection) {
        connection.sendCommand(Command.ECHO, TEXT);
        assertThat(connection.getBulkReply()).isEqualTo(TEXT);
    }
}
