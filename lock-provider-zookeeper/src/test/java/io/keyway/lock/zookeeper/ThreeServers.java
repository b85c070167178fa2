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
        SETTINGS.put("syncLimit", "60");
    }

    private final TestingCluster cluster;

    ThreeServers(Path directory) throws Exception {
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
                    SETTINGS));
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
