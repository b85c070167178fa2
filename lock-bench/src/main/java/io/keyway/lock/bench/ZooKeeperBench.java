// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Keyway and Curator's mutex on one ensemble. */
@Command(name = "zookeeper", description = "Compares Keyway with Curator's InterProcessMutex on one ensemble.")
final class ZooKeeperBench implements Callable<Integer> {
    private static final Pattern RECEIVED = Pattern.compile("Received: (\\d+)");

    @Option(names = "--servers", description = "host:port,...; by default an ensemble is started here.")
    private String servers = "";

    @Option(names = "--size", description = "Servers of the ensemble that is started. Default: ${DEFAULT-VALUE}.")
    private int size = 3;

    @Mixin
    private final Scale scale = new Scale(3, 25);

    private final PrintStream out;

    ZooKeeperBench(PrintStream out) {
        this.out = out;
    }

    @Override
    public Integer call() throws Exception {
        if (!servers.isEmpty()) {
            compare(servers);
            return 0;
        }
        System.setProperty("zookeeper.4lw.commands.whitelist", "srvr");
        try (TestingCluster ensemble = new TestingCluster(size)) {
            ensemble.start();
            StringBuilder list = new StringBuilder();
            for (InstanceSpec server : ensemble.getInstances()) {
                list.append(list.isEmpty() ? "" : ",").append("127.0.0.1:").append(server.getPort());
            }
            compare(list.toString());
        }
        return 0;
    }

    private void compare(String list) throws Exception {
        Contender.Opener keyway = spread(list, server -> new KeywayContender("lock:zookeeper://" + server + "/keyway"));
        Contender.Opener curator = spread(list, CuratorContender::new);
        List<Contender.Opener> before = new ArrayList<>();
        for (FormerKeyway former : scale.before()) {
            before.add(spread(list, server -> former.open("lock:zookeeper://" + server + "/before")));
        }
        scale.compare(
                out,
                () -> received(list),
                Scale.joined(keyway, before, List.of(curator, spread(list, BareZooKeeperContender::alone))),
                Scale.joined(keyway, before, List.of(curator, spread(list, BareZooKeeperContender::queue))));
    }

    private interface OpenerAt {
        Contender open(String server) throws Exception;
    }

    /**
     * The clients of a contender go to one server each, in turn: a leader answers its own clients faster, and by chance
     * one contender would be there and another not.
     */
    private Contender.Opener spread(String list, OpenerAt opener) {
        String[] each = list.split(",", -1);
        AtomicInteger next = new AtomicInteger();
        return () -> opener.open(each[next.getAndIncrement() % each.length]);
    }

    /** The packets that all servers have received; pings and the question itself are few beside them. */
    private static long received(String list) {
        long sum = 0;
        for (String server : list.split(",", -1)) {
            int colon = server.lastIndexOf(':');
            try (Socket socket =
                    new Socket(server.substring(0, colon), Integer.parseInt(server.substring(colon + 1)))) {
                socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
                try (InputStream in = socket.getInputStream()) {
                    Matcher matcher = RECEIVED.matcher(new String(in.readAllBytes(), StandardCharsets.UTF_8));
                    sum += matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
                }
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot read the statistics of " + server, e);
            }
        }
        return sum;
    }
}
