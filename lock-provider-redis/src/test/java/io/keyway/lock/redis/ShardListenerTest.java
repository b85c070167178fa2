// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.redis.server.RedisExecutable;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Channels are ordered by threads that never wait for the server. */
@Tag("soak")
class ShardListenerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int MANY = 1000;

    private static final class Heard implements ShardListener.Listener {
        final Set<String> subscribed = ConcurrentHashMap.newKeySet();
        final List<String> messages = new CopyOnWriteArrayList<>();

        @Override
        public void subscribed(ShardListener at, String channel) {
            subscribed.add(channel);
        }

        @Override
        public void moved(ShardListener at, String channel) {
            messages.add("moved " + channel);
        }

        @Override
        public void message(String text) {
            messages.add(text);
        }
    }

    private final Heard heard = new Heard();
    private RedisServer server;
    private HeardSignals signals;
    private RedisNode node;
    private ShardListener listener;

    @BeforeEach
    void start(@TempDir Path directory) throws Exception {
        server = RedisServer.start(RedisExecutable.since(ServerCheck.SHARDED_SINCE), directory);
        signals = new HeardSignals();
        RedisSettings settings = TestSettings.of(server.url(), PATIENCE);
        node = new RedisNode("127.0.0.1", server.port(), settings, signals);
        listener = new ShardListener(node, heard);
    }

    @AfterEach
    void close() throws Exception {
        if (server != null) {
            node.close();
            signals.close();
            server.close();
        }
    }

    @Test
    void manyChannelsAreSubscribedBitByBit() {
        channels().forEach(listener::subscribe);
        signals.background("listener", listener::listen);
        channels().forEach(channel -> listener.subscribe(channel + "more"));
        await().atMost(Patience.of(PATIENCE)).until(heard.subscribed::size, count -> count == 2 * MANY);
        channels().forEach(listener::unsubscribe);
        await().atMost(Patience.of(PATIENCE)).until(this::channelsOfTheServer, count -> count == MANY);
        assertThat(heard.messages).isEmpty();
    }

    @Test
    void aThreadThatWasInterruptedBreaksNothing() {
        signals.background("listener", listener::listen);
        for (int i = 0; i < MANY; i++) {
            String channel = "{a}" + i;
            Thread.currentThread().interrupt();
            try {
                listener.subscribe(channel);
            } finally {
                assertThat(Thread.interrupted()).isTrue();
            }
            if (i % 500 == 499) {
                await().atMost(Patience.of(PATIENCE)).until(() -> heard.subscribed.contains(channel));
            }
        }
        assertThat(heard.subscribed).hasSize(MANY);
        assertThat(server.ask("SPUBLISH", "{a}7", "hello")).isEqualTo(1L);
        await().atMost(Patience.of(PATIENCE)).until(() -> heard.messages.equals(List.of("hello")));
        assertThat(signals.heard).noneMatch(line -> line.startsWith("disconnected"));
    }

    private static List<String> channels() {
        return IntStream.range(0, MANY).mapToObj(i -> "{a}" + i).toList();
    }

    private int channelsOfTheServer() {
        return ((List<?>) server.ask("PUBSUB", "SHARDCHANNELS")).size();
    }
}
