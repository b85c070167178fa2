// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.apache.curator.test.TestingServer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import redis.embedded.RedisServer;

/** Lists the types of ours on the way of one acquire and its release. */
@Command(name = "path", description = "The types on the way of one acquire of a free lock, and of its release.")
final class CallPathCommand implements Callable<Integer> {

    @Parameters(
            arity = "0..*",
            description = "mem, local, cluster, redis, zookeeper, or the URL of a server that runs. Default: all five.")
    private List<String> stores = List.of("mem", "local", "cluster", "redis", "zookeeper");

    @Option(names = "--sources", description = "The root of the sources, whose lines are counted as well.")
    private @Nullable Path sources;

    @Option(names = "--list", description = "Prints each type.")
    private boolean list;

    private final PrintStream out;

    CallPathCommand(PrintStream out) {
        this.out = out;
    }

    @Override
    public Integer call() throws Exception {
        for (String store : stores) {
            switch (store) {
                case "mem" -> show(store, "lock:native:mem://path");
                case "local" -> show(store, "lock:native:local://" + Files.createTempDirectory("keyway"));
                case "cluster" -> {
                    String member = "127.0.0.1:" + Ports.free();
                    show(
                            store,
                            "lock:native://" + member + "/path?member=" + member
                                    + "&secret=call-path-program&maxTtl=6s&ttl=6s");
                }
                case "redis" -> {
                    int port = Ports.free();
                    RedisServer server = RedisServer.newRedisServer()
                            .port(port)
                            .bind("127.0.0.1")
                            .setting("save \"\"")
                            .build();
                    server.start();
                    try {
                        show(store, "lock:redis://127.0.0.1:" + port);
                    } finally {
                        server.stop();
                    }
                }
                case "zookeeper" -> {
                    try (TestingServer server = new TestingServer()) {
                        show(store, "lock:zookeeper://" + server.getConnectString() + "/path");
                    }
                }
                default -> show(store, store);
            }
        }
        return 0;
    }

    private void show(String store, String url) throws Exception {
        CallPath.Types types = CallPath.of(url);
        Set<String> both = new TreeSet<>(types.acquire());
        both.addAll(types.release());
        out.printf("%-10s acquire %s; acquire and release %s%n", store, size(types.acquire()), size(both));
        if (list) {
            types.acquire().forEach(type -> out.println("  " + type));
            both.stream()
                    .filter(type -> !types.acquire().contains(type))
                    .forEach(type -> out.println("  release: " + type));
        }
    }

    private String size(Set<String> types) throws IOException {
        Set<String> files = new TreeSet<>();
        types.forEach(type -> files.add(type.replaceFirst("\\$.*", "").replace('.', '/') + ".java"));
        String kit = types.stream().filter(CallPathCommand::ofTheKit).count() + " of the API and its kit";
        String text = types.size() + " types in " + files.size() + " files (" + kit + ")";
        if (sources == null) {
            return text;
        }
        long lines = 0;
        try (Stream<Path> modules = Files.list(sources)) {
            List<Path> roots = modules.map(module -> module.resolve("src/main/java"))
                    .filter(Files::isDirectory)
                    .toList();
            for (String file : files) {
                Optional<Path> path = roots.stream()
                        .map(root -> root.resolve(file))
                        .filter(Files::isRegularFile)
                        .findFirst();
                lines += path.map(CallPathCommand::lines).orElse(0L);
            }
        }
        return text + ", " + lines + " lines";
    }

    private static boolean ofTheKit(String type) {
        return type.matches("io\\.keyway\\.lock\\.((kit|spi)\\.)?[A-Z].*|io\\.keyway\\.lock\\.kit\\..*");
    }

    private static long lines(Path file) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
