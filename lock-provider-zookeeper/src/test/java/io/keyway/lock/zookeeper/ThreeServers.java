// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.apache.curator.test.TestingZooKeeperServer;

/** An ensemble of three in this process. */
final class ThreeServers implements AutoCloseable {
    private static final int TICK_MILLIS = 50;

    private static final Map<String, Object> SETTINGS = new HashMap<>(OneServer.SETTINGS);

    static {
        // In ticks, which are short so that sessions end on time.
        SETTINGS.put("initLimit", "200");
    }

    private final TestingCluster cluster;

    ThreeServers(Path directory) throws Exception {
        this(directory, 60);
    }

    /** {@code syncLimit}: the ticks after which a server that does not write is left behind by its leader. */
    ThreeServers(Path directory, int syncLimit) throws Exception {
        Map<String, Object> settings = new HashMap<>(SETTINGS);
        settings.put("syncLimit", Integer.toString(syncLimit));
        List<InstanceSpec> specs = new ArrayList<>();
        for (int i = 1; i <= 3; i++) {
            specs.add(new InstanceSpec(
                    Files.createDirectory(directory.resolve("server-" + i)).toFile(),
                    Ports.free(),
                    Ports.free(),
                    Ports.free(),
                    false,
                    i,
                    TICK_MILLIS,
                    1000,
                    settings));
        }
        cluster = new TestingCluster(specs);
        cluster.start();
    }

    String url() {
        return "lock:zookeeper://"
                + cluster.getInstances().stream()
                        .map(spec -> spec.getHostname() + ":" + spec.getPort())
                        .collect(Collectors.joining(","))
                + "/keyway";
    }

    /** All are gone without a word; what they have written stays. */
    void stop() throws IOException {
        for (TestingZooKeeperServer server : cluster.getServers()) {
            server.stop();
        }
    }

    void restart() throws Exception {
        List<Thread> starting = new ArrayList<>();
        for (TestingZooKeeperServer server : cluster.getServers()) {
            // Each waits for the others.
            Thread thread = new Thread(() -> {
                try {
                    server.restart();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            thread.start();
            starting.add(thread);
        }
        for (Thread thread : starting) {
            thread.join();
        }
    }

    /** From now on a majority writes nothing; it goes on with all that was asked meanwhile. */
    StalledLog stallWrites() throws Exception {
        List<Object> logs = new ArrayList<>();
        for (TestingZooKeeperServer server : cluster.getServers().subList(0, 2)) {
            logs.add(OneServer.part(
                    server, "main", "zooKeeperEmbedded", "maincluster", "quorumPeer", "zkDb", "snapLog", "txnLog"));
        }
        return new StalledLog(logs);
    }

    int size() {
        return cluster.getServers().size();
    }

    void stop(int server) throws IOException {
        cluster.getServers().get(server).stop();
    }

    void restart(int server) throws Exception {
        cluster.getServers().get(server).restart();
    }

    @Override
    public void close() throws IOException {
        cluster.close();
    }
}
