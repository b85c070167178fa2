// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.util.SafeEncoder;

/** Which master has which slot of a cluster, as one server told or as redirections corrected it. Immutable. */
final class SlotTable {

    static final SlotTable EMPTY = new SlotTable(new RedisNode[Protocol.CLUSTER_HASHSLOTS]);

    private final @Nullable RedisNode[] owners;
    private final List<RedisNode> masters;

    private SlotTable(@Nullable RedisNode[] owners) {
        this.owners = owners;
        this.masters = Stream.of(owners).filter(Objects::nonNull).distinct().toList();
    }

    /** Asks the server with that host name. */
    static SlotTable ask(Connection connection, String host, Function<HostAndPort, RedisNode> nodes) {
        connection.sendCommand(Command.CLUSTER, "SLOTS");
        @Nullable RedisNode[] owners = new RedisNode[Protocol.CLUSTER_HASHSLOTS];
        for (Object each : connection.getObjectMultiBulkReply()) {
            List<?> range = (List<?>) each;
            RedisNode owner = nodes.apply(address((List<?>) range.get(2), host));
            int last = ((Long) range.get(1)).intValue();
            for (int slot = ((Long) range.get(0)).intValue(); slot <= last; slot++) {
                owners[slot] = owner;
            }
        }
        return new SlotTable(owners);
    }

    /** A server that does not know its own address, or is not to tell it, leaves the host empty. */
    private static HostAndPort address(List<?> words, String asked) {
        String host = words.get(0) instanceof byte[] text ? SafeEncoder.encode(text) : "";
        int port = ((Long) words.get(1)).intValue();
        return new HostAndPort(host.isEmpty() || host.equals("?") ? asked : host, port);
    }

    /** Null if nobody has it. */
    @Nullable
    RedisNode owner(int slot) {
        return owners[slot];
    }

    List<RedisNode> masters() {
        return masters;
    }

    SlotTable with(int slot, RedisNode owner) {
        @Nullable RedisNode[] changed = owners.clone();
        changed[slot] = owner;
        return new SlotTable(changed);
    }
}
