// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.process.Signals;
import io.keyway.lock.tck.proxy.Ports;
import io.keyway.lock.testing.Nemesis;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;
import org.jspecify.annotations.Nullable;

/** An ensemble of three, a process each, that can be killed, and stopped so that it stalls and goes on where it was. */
final class ServerProcesses implements Nemesis.Servers, AutoCloseable {
    private static final int SIZE = 3;

    /** An election, the sessions of who died, whose time begins anew with it, and the turns of those who wait. */
    private static final Duration GO_ON_WITHIN = Duration.ofSeconds(20);

    private static final Duration LEADER_WITHIN = Duration.ofMinutes(2);

    private final List<Server> servers = new ArrayList<>();

    /** Starts all three of an ensemble that never ran; returns when each knows whom it follows. */
    ServerProcesses(Path directory) throws IOException {
        List<Integer> ports = new ArrayList<>();
        StringBuilder members = new StringBuilder();
        for (int i = 1; i <= SIZE; i++) {
            ports.add(Ports.free());
            members.append("server.%d=127.0.0.1:%d:%d\n".formatted(i, Ports.free(), Ports.free()));
        }
        for (int i = 1; i <= SIZE; i++) {
            servers.add(
                    new Server(Files.createDirectory(directory.resolve("server-" + i)), i, ports.get(i - 1), members));
        }
        servers.forEach(Server::start);
        awaitServing();
    }

    String url(Duration ttl) {
        return "lock:zookeeper://"
                + servers.stream().map(server -> "127.0.0.1:" + server.port).collect(Collectors.joining(","))
                + "/keyway?ttl=" + ttl.toMillis() + "ms";
    }

    @Override
    public String fault(SplittableRandom random, List<ChildJvm> workers) throws Exception {
        int number = random.nextInt(SIZE);
        Server server = servers.get(number);
        String what = "server " + number;
        switch (random.nextInt(4)) {
            case 0 -> {
                server.stop();
                return what + " stopped";
            }
            case 1 -> {
                // Whoever was about to write waits for a majority, and is answered when it goes on.
                server.stop();
                servers.get((number + 1) % SIZE).stop();
                return what + " and the one after it stopped";
            }
            case 2 -> {
                server.kill();
                return what + " killed";
            }
            default -> {
                server.kill();
                server.start();
                return what + " killed and started";
            }
        }
    }

    @Override
    public void heal(List<ChildJvm> workers) throws Exception {
        for (Server server : servers) {
            server.cont();
            if (!server.runs) {
                server.start();
            }
        }
        awaitServing();
    }

    private void awaitServing() {
        for (Server server : servers) {
            Signals.until("server " + server.port + " serves", LEADER_WITHIN, server::serves);
        }
    }

    @Override
    public Duration goOnWithin() {
        return GO_ON_WITHIN;
    }

    @Override
    public String logs() {
        return servers.stream()
                .map(server -> "--- " + server.port + "\n" + server.printed())
                .collect(Collectors.joining("\n"));
    }

    @Override
    public void close() throws InterruptedException {
        for (Server server : servers) {
            server.close();
        }
    }

    private static final class Server {
        private final int port;
        private final Path config;
        private @Nullable ChildJvm process;
        private boolean runs;
        private boolean stopped;

        Server(Path directory, int id, int port, CharSequence members) throws IOException {
            this.port = port;
            Path data = Files.createDirectory(directory.resolve("data"));
            Files.writeString(data.resolve("myid"), Integer.toString(id));
            this.config = Files.writeString(directory.resolve("zoo.cfg"), """
                    tickTime=50
                    initLimit=200
                    syncLimit=40
                    minSessionTimeout=100
                    maxSessionTimeout=60000
                    admin.enableServer=false
                    4lw.commands.whitelist=srvr
                    dataDir=%s
                    clientPortAddress=127.0.0.1
                    clientPort=%d
                    %s
                    """.formatted(data, port, members));
        }

        void start() {
            process = ChildJvm.start(
                    List.of("-Dzookeeper.jmx.log4j.disable=true"), QuorumPeerMain.class, config.toString());
            runs = true;
            stopped = false;
        }

        void stop() throws IOException, InterruptedException {
            if (process != null && runs && !stopped) {
                process.stop();
                stopped = true;
            }
        }

        void cont() throws IOException, InterruptedException {
            if (process != null && runs && stopped) {
                process.cont();
            }
            stopped = false;
        }

        void kill() throws InterruptedException {
            if (process != null && runs) {
                process.kill9();
            }
            runs = false;
            stopped = false;
        }

        /** Whether it follows or leads. */
        boolean serves() {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.setSoTimeout(1_000);
                socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
                return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8).contains("Mode: ");
            } catch (IOException e) {
                return false;
            }
        }

        String printed() {
            return process == null ? "" : process.printed();
        }

        void close() throws InterruptedException {
            if (process != null) {
                process.close();
            }
        }
    }
}
