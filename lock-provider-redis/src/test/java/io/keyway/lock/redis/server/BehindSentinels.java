// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis.server;

import io.keyway.lock.LockUrl;
import io.keyway.lock.tck.process.Signals;
import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * A master with a replica, and two sentinels: one that decides alone, and one that is behind forever, since the
 * servers tell it nothing; as one is for a while that was down during a fail-over.
 */
public final class BehindSentinels implements AutoCloseable {
    private static final List<String> RIGHTS = List.of(
            "user default on nopass ~* resetchannels &keyway:* +@all -info", "user leader on >secret ~* &* +@all");

    private final List<RedisServer> all = new ArrayList<>();

    private BehindSentinels() {}

    /** Starts them; returns when the replica follows. */
    public static BehindSentinels start(Path parent) throws IOException, InterruptedException {
        BehindSentinels set = new BehindSentinels();
        try {
            set.begin(parent);
            return set;
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            set.close();
            throw e;
        }
    }

    private void begin(Path parent) throws IOException, InterruptedException {
        RedisExecutable executable = RedisExecutable.brought();
        RedisServer master = RedisServer.begin(executable, parent, Ports.free(), RIGHTS);
        all.add(master);
        List<String> following = new ArrayList<>(RIGHTS);
        following.add("replicaof 127.0.0.1 " + master.port());
        all.add(RedisServer.begin(executable, parent, Ports.free(), following));
        first().awaitReady();
        second().awaitReady();
        Signals.until(
                "the replica follows", () -> second().ask("ROLE").toString().contains(", connected"));
        List<String> knowing = List.of(
                "sentinel monitor " + SentinelSet.MASTER + " 127.0.0.1 " + master.port() + " 1",
                "sentinel known-replica " + SentinelSet.MASTER + " 127.0.0.1 " + second().port());
        List<String> leading = new ArrayList<>(knowing);
        leading.add("sentinel auth-user " + SentinelSet.MASTER + " leader");
        leading.add("sentinel auth-pass " + SentinelSet.MASTER + " secret");
        all.add(RedisServer.beginSentinel(executable, parent, Ports.free(), leading));
        all.add(RedisServer.beginSentinel(executable, parent, Ports.free(), knowing));
        leader().awaitReady();
        behind().awaitReady();
    }

    /** The master at first. */
    public RedisServer first() {
        return all.get(0);
    }

    /** Its replica at first. */
    public RedisServer second() {
        return all.get(1);
    }

    /** The sentinel that decides. */
    public RedisServer leader() {
        return all.get(2);
    }

    /** The sentinel that learns nothing. */
    public RedisServer behind() {
        return all.get(3);
    }

    /** Has the leader put the replica in the master's place; returns when it has. */
    public void failOver() {
        Signals.until("the leader knows the replica well enough", this::began);
        Signals.until(
                "the leader has another master",
                () -> leader().ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", SentinelSet.MASTER)
                        .toString()
                        .contains(Integer.toString(second().port())));
    }

    private boolean began() {
        try {
            leader().ask("SENTINEL", "FAILOVER", SentinelSet.MASTER);
            return true;
        } catch (JedisDataException e) {
            return false;
        }
    }

    /** These sentinels, for a link. */
    public static List<LockUrl.Host> hosts(RedisServer... sentinels) {
        return Stream.of(sentinels)
                .map(sentinel -> LockUrl.parse(sentinel.url()).hosts().get(0))
                .toList();
    }

    @Override
    public void close() throws InterruptedException {
        for (RedisServer each : all) {
            each.close();
        }
    }
}
