// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis.server;

import io.keyway.lock.tck.process.Signals;
import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Three masters that share the slots of a cluster, without replicas or with one each. */
public final class RedisCluster implements AutoCloseable {
    private static final int MASTERS = 3;
    private static final int SLOTS = 16_384;
    private static final int BUS = 10_000;
    private static final int FIRST_OUTGOING = 32_768;

    private static final List<String> SETTINGS = List.of(
            "cluster-enabled yes",
            "cluster-node-timeout 2000",
            "cluster-require-full-coverage no",
            "cluster-config-file nodes.conf");

    private final List<RedisServer> servers = new ArrayList<>();
    private final List<RedisServer> replicas = new ArrayList<>();

    private RedisCluster() {}

    /** Starts them; returns when each says that the cluster is whole. */
    public static RedisCluster start(RedisExecutable executable, Path parent, String... settings)
            throws IOException, InterruptedException {
        return start(Collections.nCopies(MASTERS, executable), parent, settings);
    }

    /** As {@link #start}, of several versions, one for each master. */
    public static RedisCluster start(List<RedisExecutable> executables, Path parent, String... settings)
            throws IOException, InterruptedException {
        RedisCluster cluster = new RedisCluster();
        try {
            cluster.begin(executables, parent, List.of(settings));
            return cluster;
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            cluster.close();
            throw e;
        }
    }

    /** As {@link #start}, with a replica for each master, which takes its place within a few seconds. */
    public static RedisCluster startReplicated(RedisExecutable executable, Path parent)
            throws IOException, InterruptedException {
        RedisCluster cluster = new RedisCluster();
        try {
            cluster.begin(Collections.nCopies(MASTERS, executable), parent, List.of());
            cluster.beginReplicas(executable, parent);
            return cluster;
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            cluster.close();
            throw e;
        }
    }

    private void beginReplicas(RedisExecutable executable, Path parent) throws IOException, InterruptedException {
        for (int i = 0; i < MASTERS; i++) {
            replicas.add(RedisServer.begin(executable, parent, freePort(), SETTINGS));
        }
        for (int i = 0; i < MASTERS; i++) {
            RedisServer replica = replicas.get(i);
            replica.awaitReady();
            meet(servers.get(i), replica);
        }
        Signals.until(
                "all know each other",
                () -> Stream.concat(servers.stream(), replicas.stream())
                        .allMatch(server -> server.ask("CLUSTER", "INFO")
                                .toString()
                                .contains("cluster_known_nodes:" + 2 * MASTERS)));
        for (int i = 0; i < MASTERS; i++) {
            replicas.get(i).ask("CLUSTER", "REPLICATE", line(servers.get(i)).id());
        }
        Signals.until(
                "the replicas follow",
                () -> servers.stream()
                        .allMatch(server ->
                                server.ask("INFO", "replication").toString().contains("state=online")));
    }

    private static void meet(RedisServer one, RedisServer other) {
        one.ask("CLUSTER", "MEET", "127.0.0.1", Integer.toString(other.port()), Integer.toString(other.port() + BUS));
    }

    private void begin(List<RedisExecutable> executables, Path parent, List<String> settings)
            throws IOException, InterruptedException {
        List<String> lines = new ArrayList<>(SETTINGS);
        lines.addAll(settings);
        for (int i = 0; i < MASTERS; i++) {
            servers.add(RedisServer.begin(executables.get(i), parent, freePort(), lines));
        }
        for (int i = 0; i < MASTERS; i++) {
            servers.get(i).awaitReady();
            List<String> slots = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
            IntStream.range(SLOTS * i / MASTERS, SLOTS * (i + 1) / MASTERS)
                    .forEach(slot -> slots.add(Integer.toString(slot)));
            servers.get(i).ask(slots.toArray(new String[0]));
            servers.get(i).ask("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
        }
        for (RedisServer one : servers) {
            for (RedisServer other : servers) {
                if (one != other) {
                    meet(one, other);
                }
            }
        }
        awaitWhole();
    }

    /** A port whose bus port is free as well, and not one that the system gives to outgoing connections. */
    private static int freePort() throws IOException {
        while (true) {
            int port = Ports.free();
            if (port + BUS < FIRST_OUTGOING) {
                try (ServerSocket bus = new ServerSocket()) {
                    bus.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port + BUS));
                    return port;
                } catch (BindException e) {
                    // another one, then
                }
            }
        }
    }

    private void awaitWhole() {
        Signals.until(
                "the cluster is whole",
                () -> servers.stream().allMatch(server -> {
                    String info = server.ask("CLUSTER", "INFO").toString();
                    return info.contains("cluster_state:ok")
                            && info.contains("cluster_slots_ok:" + SLOTS)
                            && info.contains("cluster_known_nodes:" + MASTERS);
                }));
    }

    /** The URL of a client. */
    public String url() {
        return "lock:redis:cluster://"
                + servers.stream().map(RedisServer::address).collect(Collectors.joining(","));
    }

    /** The masters. */
    public List<RedisServer> servers() {
        return List.copyOf(servers);
    }

    /** Their replicas, if they have any. */
    public List<RedisServer> replicas() {
        return List.copyOf(replicas);
    }

    /** The slot of a key. */
    public int slot(String key) {
        return ((Long) servers.get(0).ask("CLUSTER", "KEYSLOT", key)).intValue();
    }

    /** The master that serves that slot by its own word. */
    public RedisServer owner(int slot) {
        return Stream.concat(servers.stream(), replicas.stream())
                .filter(RedisServer::isAlive)
                .filter(server -> line(server).words().get(2).contains("master"))
                .filter(server -> line(server).slots().anyMatch(range -> range.contains(slot)))
                .findAny()
                .orElseThrow(() -> new AssertionError("nobody serves slot " + slot));
    }

    /** One of the masters that it began with, but not the owner of that slot. */
    public RedisServer notOwner(int slot) {
        RedisServer owner = owner(slot);
        return servers.stream().filter(server -> server != owner).findAny().orElseThrow();
    }

    /** Begins to move a slot, and moves none of its keys yet. */
    public void beginMove(int slot, RedisServer to) {
        RedisServer from = owner(slot);
        to.ask(
                "CLUSTER",
                "SETSLOT",
                Integer.toString(slot),
                "IMPORTING",
                line(from).id());
        from.ask("CLUSTER", "SETSLOT", Integer.toString(slot), "MIGRATING", line(to).id());
    }

    /** Moves the keys of a slot, after {@link #beginMove}, and ends the move. */
    public void finishMove(int slot, RedisServer to) {
        RedisServer from = owner(slot);
        String number = Integer.toString(slot);
        for (List<?> keys = keys(from, number); !keys.isEmpty(); keys = keys(from, number)) {
            List<String> words = new ArrayList<>(
                    List.of("MIGRATE", "127.0.0.1", Integer.toString(to.port()), "", "0", "5000", "KEYS"));
            keys.forEach(key -> words.add(key.toString()));
            from.ask(words.toArray(new String[0]));
        }
        String id = line(to).id();
        to.ask("CLUSTER", "SETSLOT", number, "NODE", id);
        from.ask("CLUSTER", "SETSLOT", number, "NODE", id);
        Signals.until(
                "all know where slot " + slot + " is",
                () -> servers.stream()
                        .allMatch(server -> server.ask("CLUSTER", "NODES")
                                .toString()
                                .lines()
                                .map(Line::parse)
                                .filter(each -> each.slots().anyMatch(range -> range.contains(slot)))
                                .allMatch(each -> each.id().equals(id))));
    }

    private static List<?> keys(RedisServer server, String slot) {
        return (List<?>) server.ask("CLUSTER", "GETKEYSINSLOT", slot, "100");
    }

    private static Line line(RedisServer server) {
        return server.ask("CLUSTER", "NODES")
                .toString()
                .lines()
                .filter(each -> each.contains("myself"))
                .map(Line::parse)
                .findAny()
                .orElseThrow();
    }

    private record Range(int first, int last) {
        static Range parse(String text) {
            String[] ends = text.split("-", -1);
            return new Range(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
        }

        boolean contains(int slot) {
            return first <= slot && slot <= last;
        }
    }

    /** A line of CLUSTER NODES. */
    private record Line(String id, List<String> words) {
        private static final int FIRST_SLOT = 8;

        static Line parse(String text) {
            List<String> words = List.of(text.split(" ", -1));
            return new Line(words.get(0), words);
        }

        Stream<Range> slots() {
            return words.stream()
                    .skip(FIRST_SLOT)
                    .filter(word -> !word.startsWith("["))
                    .map(Range::parse);
        }
    }

    /** SIGKILL to all. */
    public void kill() throws InterruptedException {
        for (RedisServer each : servers) {
            each.kill();
        }
    }

    /** Starts all again; returns when the cluster is whole. */
    public void restart() throws InterruptedException {
        for (RedisServer each : servers) {
            each.restart();
        }
        awaitWhole();
    }

    /** Returns when another server than this one serves that slot, and the cluster says that it is well. */
    public void awaitOtherOwner(int slot, RedisServer former) {
        Signals.until(
                "another server has slot " + slot,
                () -> Stream.concat(servers.stream(), replicas.stream())
                        .filter(server -> server != former && server.isAlive())
                        .anyMatch(server -> line(server).words().get(2).contains("master")
                                && line(server).slots().anyMatch(range -> range.contains(slot))
                                && server.ask("CLUSTER", "INFO").toString().contains("cluster_state:ok")));
    }

    @Override
    public void close() throws InterruptedException {
        for (RedisServer each : replicas) {
            each.close();
        }
        for (RedisServer each : servers) {
            each.close();
        }
    }
}
