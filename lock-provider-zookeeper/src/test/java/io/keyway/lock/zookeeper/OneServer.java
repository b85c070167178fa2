// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.lang.reflect.Field;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.StaticHostProvider;

/** A server of its own in this process, with short ticks, so that it agrees to any ttl and ends sessions on time. */
final class OneServer implements AutoCloseable {
    static final int TICK_MILLIS = 20;

    /** Sessions of 100 ms to a day. */
    static final Map<String, Object> SETTINGS =
            Map.of("minSessionTimeout", "100", "maxSessionTimeout", "86400000", "admin.enableServer", "false");

    private final TestingServer server;

    OneServer(Path directory) throws Exception {
        server = new TestingServer(
                new InstanceSpec(
                        directory.toFile(),
                        Ports.free(),
                        Ports.free(),
                        Ports.free(),
                        false,
                        -1,
                        TICK_MILLIS,
                        1000,
                        SETTINGS),
                true);
    }

    String address() {
        return server.getConnectString();
    }

    String url() {
        return "lock:zookeeper://" + address() + "/keyway";
    }

    /** It is gone without a word; what it has written stays. */
    void stop() throws IOException {
        server.stop();
    }

    void restart() throws Exception {
        server.restart();
    }

    /** The next node that is created in that container has that number. There is no other way to see the last ones. */
    void numberFrom(String container, int next) throws Exception {
        Object tree = part(database(), "dataTree");
        tree.getClass()
                .getMethod("setCversionPzxid", String.class, int.class, long.class)
                .invoke(tree, container, next, part(tree, "lastProcessedZxid"));
    }

    private Object database() throws Exception {
        return part(
                server,
                "testingZooKeeperServer",
                "main",
                "zooKeeperEmbedded",
                "mainsingle",
                "cnxnFactory",
                "zkServer",
                "zkDb");
    }

    /** From now on nothing is written, as if the disk stood still; it goes on with all that was asked meanwhile. */
    StalledLog stallWrites() throws Exception {
        return new StalledLog(List.of(part(database(), "snapLog", "txnLog")));
    }

    static Object part(Object whole, String... names) throws Exception {
        Object part = whole;
        for (String name : names) {
            part = part(part, name);
        }
        return part;
    }

    private static Object part(Object whole, String name) throws Exception {
        for (Class<?> type = whole.getClass(); type != null; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (field.getName().equals(name)) {
                    field.setAccessible(true);
                    return field.get(whole);
                }
            }
        }
        throw new IllegalStateException("no " + name + " in " + whole);
    }

    /** How many requests it has received. */
    long requests() throws IOException {
        String[] address = address().split(":", -1);
        try (Socket socket = new Socket(address[0], Integer.parseInt(address[1]))) {
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            String text = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            return Long.parseLong(text.replaceAll("(?s).*Received: (\\d+).*", "$1"));
        }
    }

    /** Ends the session at the server, as if it had been silent for too long. */
    void kill(ZooKeeper handle) throws Exception {
        CompletableFuture<Boolean> up = new CompletableFuture<>();
        ZooKeeper same = new ZooKeeper(
                address(),
                handle.getSessionTimeout(),
                event -> up.complete(true),
                handle.getSessionId(),
                handle.getSessionPasswd(),
                false,
                new StaticHostProvider(new ConnectStringParser(address()).getServerAddresses()),
                new PlainConfig());
        up.get(Patience.seconds(30), TimeUnit.SECONDS);
        same.close();
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
