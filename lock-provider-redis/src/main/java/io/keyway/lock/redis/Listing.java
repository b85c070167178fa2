// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Deadline;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.Protocol.Keyword;

/**
 * Shows who holds and who waits. The keys are found by SCAN, which may find one twice but misses none that is there all
 * the while; so the first page looks for all names, in their order, and the following ones are cut from that. A page
 * whose names are not remembered any more looks again and goes on after the name shown last.
 */
final class Listing {

    private static final RedisScript SHOW = RedisScript.of("token", "common", "show");
    private static final byte[] COUNT = Integer.toString(1000).getBytes(StandardCharsets.US_ASCII);
    private static final String START = "0";

    private record Found(String prefix, NavigableMap<String, LockKey> keys) {}

    private final RedisLink link;
    private final RedisKeys keys;
    private volatile @Nullable Found found;

    Listing(RedisLink link, RedisKeys keys) {
        this.link = link;
        this.keys = keys;
    }

    Optional<LockStatus> show(LockKey key, Deadline deadline) throws Exception {
        return show(List.of(key), deadline).stream().findFirst();
    }

    LockPage list(String prefix, Optional<String> after, int max, Deadline deadline) throws Exception {
        Found names = found;
        if (after.isEmpty() || names == null || !names.prefix.equals(prefix)) {
            names = find(prefix, deadline);
            found = names;
        }
        NavigableMap<String, LockKey> left = after.isEmpty() ? names.keys : names.keys.tailMap(after.get(), false);
        List<LockStatus> page = new ArrayList<>();
        while (!left.isEmpty()) {
            List<LockKey> part = left.values().stream().limit(max - page.size()).toList();
            page.addAll(show(part, deadline));
            String last = order(part.get(part.size() - 1));
            left = left.tailMap(last, false);
            if (page.size() == max && !left.isEmpty()) {
                return new LockPage(page, Optional.of(last));
            }
        }
        found = null;
        return new LockPage(page, Optional.empty());
    }

    private Found find(String prefix, Deadline deadline) throws Exception {
        NavigableMap<String, LockKey> all = new TreeMap<>();
        byte[] pattern = ScriptCodec.bytes(keys.pattern(prefix));
        link.visitAll((server, connection) -> scan(connection, pattern, all, deadline), deadline);
        return new Found(prefix, all);
    }

    private void scan(Connection connection, byte[] pattern, NavigableMap<String, LockKey> all, Deadline deadline)
            throws TimeoutException {
        String cursor = START;
        do {
            if (deadline.nanos() == 0) {
                throw new TimeoutException("looking through all keys took too long; " + all.size()
                        + " names were found. Use a longer requestTimeout.");
            }
            connection.setSoTimeout(deadline.millis());
            connection.sendCommand(
                    Command.SCAN,
                    ScriptCodec.bytes(cursor),
                    Keyword.MATCH.getRaw(),
                    pattern,
                    Keyword.COUNT.getRaw(),
                    COUNT);
            List<?> reply = ScriptCodec.list(connection.getOne());
            cursor = ScriptCodec.text(reply.get(0));
            for (Object key : ScriptCodec.list(reply.get(1))) {
                keys.parse(ScriptCodec.text(key)).ifPresent(lock -> all.put(order(lock), lock));
            }
        } while (!cursor.equals(START));
    }

    /** Those of which something is held or waited for. */
    private List<LockStatus> show(Collection<LockKey> locks, Deadline deadline) throws Exception {
        List<LockKey> asked = List.copyOf(locks);
        List<RedisScript.Call> calls = new ArrayList<>(asked.size());
        for (LockKey key : asked) {
            calls.add(new RedisScript.Call(SHOW, keys.queue(key), new byte[0][]));
        }
        List<Object> replies = link.runAll(calls, 0, deadline);
        List<LockStatus> shown = new ArrayList<>(asked.size());
        for (int i = 0; i < asked.size(); i++) {
            if (replies.get(i) instanceof Exception failure) {
                throw failure;
            }
            List<?> all = ScriptCodec.list(replies.get(i));
            List<LockStatus.Holder> holders = ScriptCodec.holders(all.get(0));
            List<LockStatus.Waiter> waiters = ScriptCodec.waiters(all.get(1));
            List<LockStatus.Waiter> soft = ScriptCodec.waiters(all.get(2));
            if (!holders.isEmpty() || !waiters.isEmpty() || !soft.isEmpty()) {
                shown.add(new LockStatus(asked.get(i), holders, waiters, List.of(), soft));
            }
        }
        return shown;
    }

    /** By name, a lock before a semaphore. No character of a name sorts before the line feed. */
    private static String order(LockKey key) {
        return key.name().value() + (key.kind() == LockKey.Kind.LOCK ? "\n0" : "\n1");
    }
}
