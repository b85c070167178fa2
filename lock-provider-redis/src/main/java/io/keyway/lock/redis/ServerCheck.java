// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Requirements;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisDataException;

/** Looks at what in the configuration of a server endangers locks: a warning, or a refusal if the URL requires more. */
final class ServerCheck implements RedisLink.Visit {

    private static final Logger LOG = LoggerFactory.getLogger(ServerCheck.class);
    private static final List<String> ENDANGERED = List.of("exclusion", "belief", "tokens");
    /** The version whose servers have channels of one slot. */
    static final int SHARDED_SINCE = 7;

    private final LockUrl url;
    private final Requirements required;
    private boolean shardedMessages = true;

    ServerCheck(LockUrl url, Requirements required) {
        this.url = url;
        this.required = required;
    }

    /** Asks the server for what it says about itself; one that does not tell is left alone. */
    @Override
    public void visit(String server, Connection connection) {
        dangers(server, connection).forEach(LOG::warn);
    }

    /**
     * Returns the same check, and whether the user may send messages.
     *
     * @param channel one of those that the client may have to send to, which nobody listens to
     */
    RedisLink.Visit with(String channel) {
        return (server, connection) -> {
            visit(server, connection);
            silence(server, connection, channel).ifPresent(LOG::warn);
        };
    }

    /** Returns what there is to warn of if the user may not send messages. */
    static Optional<String> silence(String server, Connection connection, String channel) {
        try {
            connection.sendCommand(Command.PUBLISH, channel, "");
            connection.getIntegerReply();
            return Optional.empty();
        } catch (JedisDataException e) {
            if (!(e instanceof JedisAccessControlException)) {
                return Optional.empty();
            }
            return Optional.of(server + " lets this client send no messages: " + e.getMessage()
                    + " Others that wait for a lock are not notified when this client releases it, and find out later"
                    + " by themselves."
                    + " Give its user +publish and the channels of the prefix.");
        }
    }

    /** Returns what there is to warn of. */
    List<String> dangers(String server, Connection connection) {
        Map<String, String> info;
        try {
            connection.sendCommand(Command.INFO);
            info = parse(connection.getBulkReply());
            shardedMessages &= major(info.getOrDefault("redis_version", "")) >= SHARDED_SINCE;
        } catch (JedisDataException e) {
            shardedMessages = false;
            LOG.info("{} does not tell whether it evicts keys and writes them to disk: {}", server, e.getMessage());
            return List.of();
        }
        List<String> dangers = new ArrayList<>();
        String policy = info.getOrDefault("maxmemory_policy", "noeviction");
        if (!policy.equals("noeviction") && !info.getOrDefault("maxmemory", "0").equals("0")) {
            String danger = server + " evicts keys when its memory is full (maxmemory-policy " + policy
                    + "), and with them locks that are held. Set maxmemory-policy to noeviction, or keep locks in a "
                    + "server of their own.";
            if (ENDANGERED.stream().anyMatch(required.grades()::containsKey)) {
                throw new InvalidLockUrlException(url + " requires " + required + ", but " + danger);
            }
            dangers.add(danger);
        }
        if (info.getOrDefault("aof_enabled", "1").equals("0")) {
            dangers.add(server
                    + " keeps no append-only file: when it is restarted, locks that are held are lost, and "
                    + "given to others. Set appendonly to yes.");
            return dangers;
        }
        String sync = sync(connection);
        if (!sync.equals("always")) {
            dangers.add(server + " may answer before what it did is on disk (appendfsync " + sync
                    + "): in a crash locks of the last seconds are lost, and given to others. Set appendfsync "
                    + "to always.");
        }
        return dangers;
    }

    /**
     * Whether each of those that were looked at can send messages to the servers of one slot alone; false if one does
     * not tell.
     */
    boolean allHaveShardedMessages() {
        return shardedMessages;
    }

    private static int major(String version) {
        int dot = version.indexOf('.');
        return version.matches("\\d{1,4}\\..*") ? Integer.parseInt(version.substring(0, dot)) : 0;
    }

    /** When the server writes to disk, which INFO does not say; as it should, where the user may not ask. */
    private static String sync(Connection connection) {
        try {
            connection.sendCommand(Command.CONFIG, "GET", "appendfsync");
            List<String> words = connection.getMultiBulkReply();
            return words.size() == 2 ? words.get(1) : "always";
        } catch (JedisDataException e) {
            return "always";
        }
    }

    /** Whether a server did not accept who we say we are: to ask again is no use. */
    static boolean isRefusal(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof JedisAccessControlException) {
                return true;
            }
        }
        return false;
    }

    InvalidLockUrlException refused(Exception failure) {
        return new InvalidLockUrlException(
                "The server does not accept the user and password of " + url + ": " + failure.getMessage()
                        + " Write those of a user that may run scripts on the keys of the prefix.",
                failure);
    }

    private static Map<String, String> parse(String text) {
        Map<String, String> info = new HashMap<>();
        text.lines().forEach(line -> {
            int colon = line.indexOf(':');
            if (colon > 0) {
                info.put(line.substring(0, colon), line.substring(colon + 1).trim());
            }
        });
        return info;
    }
}
