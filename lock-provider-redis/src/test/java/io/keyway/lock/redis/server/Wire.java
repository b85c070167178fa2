// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis.server;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.commands.ProtocolCommand;

/** One connection for the test's own commands, made for each of them: nothing is kept that a fault could break. */
final class Wire {
    private static final int LIMIT_MILLIS = 20_000;

    private Wire() {}

    /** Sends a command and returns the answer, its bytes as text. */
    static Object ask(String host, int port, List<String> words) {
        DefaultJedisClientConfig config = DefaultJedisClientConfig.builder()
                .connectionTimeoutMillis(LIMIT_MILLIS)
                .socketTimeoutMillis(LIMIT_MILLIS)
                .build();
        try (Connection connection = new Connection(new HostAndPort(host, port), config)) {
            return ask(connection, words);
        }
    }

    static Object ask(Connection connection, List<String> words) {
        ProtocolCommand command = () -> words.get(0).getBytes(StandardCharsets.UTF_8);
        CommandArguments arguments = new CommandArguments(command);
        words.subList(1, words.size()).forEach(arguments::add);
        Object answer = text(connection.executeCommand(arguments));
        return answer == null ? "" : answer;
    }

    private static @Nullable Object text(@Nullable Object answer) {
        if (answer instanceof byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }
        if (answer instanceof List<?> list) {
            List<@Nullable Object> texts = new ArrayList<>();
            list.forEach(each -> texts.add(text(each)));
            return texts;
        }
        return answer;
    }
}
