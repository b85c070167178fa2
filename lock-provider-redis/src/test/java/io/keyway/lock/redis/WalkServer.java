// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.redis.server.RedisServer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.util.SafeEncoder;

/** What a test sees of a server whose clients are {@link WalkStore}s: their messages, and whose turn has come. */
public final class WalkServer implements AutoCloseable {

    /** The ids of those that would be granted if they asked now. */
    private static final String IN_TURN = """
            local all, turns = holding(), {}
            local upgrade = upgrading()
            if upgrade then
              if all and all[COUNT] == 1 then
                turns[1] = upgrade[1]
              end
              return turns
            end
            in_turn(all, function(id)
              turns[#turns + 1] = id
            end)
            return turns
            """;

    private static final String HOLDERS = """
            local ids = {}
            each_holder(function(id)
              ids[#ids + 1] = id
            end)
            return ids
            """;

    private static final String TOKENS = """
            local tokens = {}
            each_holder(function(_, holder)
              tokens[#tokens + 1] = string.format('%.0f', holder[TOKEN])
            end)
            return tokens
            """;

    private static final String ENDLESS = """
            local endless = {}
            for _, key in ipairs(KEYS) do
              if redis.call('PTTL', key) == -1 then
                endless[#endless + 1] = key
              end
            end
            return endless
            """;

    private static final String MARKS = "keyway:c:marks";

    private final Connection messages;
    private final Connection calls;
    private final String common;
    private int marks;

    /** Sees all messages from now on. */
    public WalkServer(RedisServer server) {
        messages = new Connection(HostAndPort.from(server.address()));
        calls = new Connection(HostAndPort.from(server.address()));
        common = new String(RedisScript.of("token", "common").text(), StandardCharsets.UTF_8);
        messages.sendCommand(Command.PSUBSCRIBE, "keyway:c:*");
        messages.getOne();
    }

    /** Hands over all messages that were sent since the last call: the incarnation of the client, the message. */
    public void drain(BiConsumer<String, String> message) {
        String mark = Integer.toString(++marks);
        calls.sendCommand(Command.PUBLISH, MARKS, mark);
        calls.getOne();
        while (true) {
            List<?> words = (List<?>) messages.getOne();
            String channel = text(words.get(2));
            String said = text(words.get(3));
            if (said.isEmpty()) {
                continue; // a client that connects looks whether it may send
            }
            if (!channel.equals(MARKS)) {
                message.accept(channel.substring(channel.lastIndexOf(':') + 1), said);
            } else if (said.equals(mark)) {
                return;
            }
        }
    }

    /** The ids of the requests, with their incarnations, that would be granted if they asked now. */
    public List<String> inTurn(String holders) {
        return ids(IN_TURN, holders);
    }

    /** The ids of the requests, with their incarnations, that are granted. */
    public List<String> holders(String holders) {
        return ids(HOLDERS, holders);
    }

    /** Their tokens. */
    public List<Long> tokens(String holders) {
        return ids(TOKENS, holders).stream().map(Long::valueOf).toList();
    }

    /** Those keys of a lock or semaphore that would stay forever if nobody used its name again. */
    public List<String> endless(String holders) {
        return ids(ENDLESS, holders);
    }

    private List<String> ids(String script, String holders) {
        calls.sendCommand(Command.EVAL, common + script, "3", holders, holders + "w", holders + "q");
        List<String> ids = new ArrayList<>();
        for (Object id : (List<?>) calls.getOne()) {
            ids.add(text(id));
        }
        return ids;
    }

    private static String text(Object bytes) {
        return SafeEncoder.encode((byte[]) bytes);
    }

    @Override
    public void close() {
        messages.close();
        calls.close();
    }
}
