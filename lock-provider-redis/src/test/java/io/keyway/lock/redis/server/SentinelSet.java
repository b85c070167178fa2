// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis.server;

import io.keyway.lock.tck.process.Signals;
import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import redis.clients.jedis.exceptions.JedisException;

/** A master with two replicas, watched by three sentinels that put a replica in its place within a few seconds. */
public final class SentinelSet implements AutoCloseable {
    /** What the sentinels call the master. */
    public static final String MASTER = "main";

    private static final int REPLICAS = 2;
    private static final int SENTINELS = 3;

    private final List<RedisServer> servers = new ArrayList<>();
    private final List<RedisServer> sentinels = new ArrayList<>();

    private SentinelSet() {}

    /** Starts them; returns when the replicas follow and the sentinels know each other. */
    public static SentinelSet start(RedisExecutable executable, Path parent, String... settings)
            throws IOException, InterruptedException {
        SentinelSet set = new SentinelSet();
        try {
            set.begin(executable, parent, List.of(settings));
            set.awaitReady();
            return set;
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            set.close();
            throw e;
        }
    }

    private void begin(RedisExecutable executable, Path parent, List<String> settings) throws IOException {
        RedisServer master = RedisServer.begin(executable, parent, Ports.free(), settings);
        servers.add(master);
        for (int i = 0; i < REPLICAS; i++) {
            List<String> following = new ArrayList<>(settings);
            following.add("replicaof 127.0.0.1 " + master.port());
            servers.add(RedisServer.begin(executable, parent, Ports.free(), following));
        }
        List<Integer> ports = new ArrayList<>();
        for (int i = 0; i < SENTINELS; i++) {
            ports.add(Ports.free());
        }
        for (int own = 0; own < SENTINELS; own++) {
            // What they would find out within seconds: the replicas, and each other.
            List<String> lines = new ArrayList<>(List.of(
                    "sentinel myid " + id(own),
                    "sentinel monitor " + MASTER + " 127.0.0.1 " + master.port() + " 2",
                    "sentinel down-after-milliseconds " + MASTER + " 2000",
                    "sentinel failover-timeout " + MASTER + " 4000",
                    "sentinel parallel-syncs " + MASTER + " 2"));
            servers.subList(1, servers.size())
                    .forEach(replica -> lines.add("sentinel known-replica " + MASTER + " 127.0.0.1 " + replica.port()));
            for (int other = 0; other < SENTINELS; other++) {
                if (other != own) {
                    lines.add("sentinel known-sentinel " + MASTER + " 127.0.0.1 " + ports.get(other) + " " + id(other));
                }
            }
            sentinels.add(RedisServer.beginSentinel(executable, parent, ports.get(own), lines));
        }
    }

    private static String id(int number) {
        return Integer.toHexString(number + 1).repeat(40);
    }

    private void awaitReady() throws InterruptedException {
        for (RedisServer each : all()) {
            each.awaitReady();
        }
        Signals.until("the replicas follow the master", () -> followers() == REPLICAS);
        Signals.until(
                "the sentinels see all",
                () -> sentinels.stream()
                        .allMatch(each -> each.ask("SENTINEL", "CKQUORUM", MASTER)
                                .toString()
                                .startsWith("OK 3")));
    }

    private List<RedisServer> all() {
        return Stream.concat(servers.stream(), sentinels.stream()).toList();
    }

    private long followers() {
        return servers.get(0)
                .ask("INFO", "replication")
                .toString()
                .lines()
                .filter(line -> line.contains("state=online"))
                .count();
    }

    /** The URL of a client. */
    public String url() {
        return "lock:redis:sentinel://"
                + sentinels.stream().map(RedisServer::address).collect(Collectors.joining(",")) + "/" + MASTER;
    }

    /** The sentinels. */
    public List<RedisServer> sentinels() {
        return List.copyOf(sentinels);
    }

    /** Master and replicas, by what they were at the start. */
    public List<RedisServer> servers() {
        return List.copyOf(servers);
    }

    /** Returns the master on which the sentinels agree and that takes writes, waited for. */
    public RedisServer awaitMaster() {
        AtomicReference<RedisServer> found = new AtomicReference<>();
        Signals.until("a master", () -> {
            master().ifPresent(found::set);
            return found.get() != null;
        });
        return found.get();
    }

    /** Returns when a master that is not this one takes writes. */
    public RedisServer awaitOtherMaster(RedisServer former) {
        AtomicReference<RedisServer> found = new AtomicReference<>();
        Signals.until("another master", () -> {
            master().filter(server -> server != former).ifPresent(found::set);
            return found.get() != null;
        });
        return found.get();
    }

    /** Starts again those that were killed. */
    public void restartDead() throws InterruptedException {
        for (RedisServer server : servers) {
            if (!server.isAlive()) {
                server.restart();
            }
        }
    }

    /** Returns when that server, back again, follows a master. */
    public void awaitReplica(RedisServer former) {
        Signals.until("the former master follows", () -> {
            String role = role(former);
            return role.startsWith("[slave") && role.contains(", connected");
        });
    }

    private Optional<RedisServer> master() {
        return servers.stream()
                .filter(server -> sentinels.stream()
                        .filter(RedisServer::isAlive)
                        .allMatch(sentinel -> port(sentinel) == server.port()))
                .filter(RedisServer::isAlive)
                .filter(server -> role(server).startsWith("[master"))
                .findAny();
    }

    private static int port(RedisServer sentinel) {
        Object answer = sentinel.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER);
        return answer instanceof List<?> words && words.size() == 2 ? Integer.parseInt((String) words.get(1)) : -1;
    }

    /** Empty while it cannot be asked: sentinels end all connections of a server when they change its role. */
    private static String role(RedisServer server) {
        try {
            return server.ask("ROLE").toString();
        } catch (JedisException e) {
            return "";
        }
    }

    @Override
    public void close() throws InterruptedException {
        for (RedisServer each : all()) {
            each.close();
        }
    }
}
