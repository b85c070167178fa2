// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.PrintStream;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import redis.clients.jedis.Jedis;
import redis.embedded.RedisServer;

/** Keyway, Redisson and the bare minimum on one Redis server. */
@Command(name = "redis", description = "Compares Keyway with Redisson on one Redis server.")
final class RedisBench implements Callable<Integer> {
    private static final Pattern COMMANDS = Pattern.compile("cmdstat_(evalsha|eval|set):calls=(\\d+)");

    @Option(
            names = "--server",
            description = "host:port of a server; by default one is started on the loopback address.")
    private String server = "";

    @Option(names = "--rounds", description = "Rounds that count. Default: ${DEFAULT-VALUE}.")
    private int rounds = 5;

    @Option(names = "--seconds", description = "Length of a round. Default: ${DEFAULT-VALUE}.")
    private int seconds = 2;

    @Option(
            names = "--warm-up",
            description = "Seconds of a contender that do not count, before its rounds. Default: ${DEFAULT-VALUE}.")
    private int warmUp = 8;

    @Option(names = "--waiters", description = "Threads that want the same lock. Default: ${DEFAULT-VALUE}.")
    private int waiters = 16;

    @Option(names = "--clients", description = "Clients that these threads share. Default: ${DEFAULT-VALUE}.")
    private int clients = 4;

    private final PrintStream out;

    RedisBench(PrintStream out) {
        this.out = out;
    }

    @Override
    public Integer call() throws Exception {
        if (!server.isEmpty()) {
            compare(server);
            return 0;
        }
        int port = Ports.free();
        RedisServer own = RedisServer.newRedisServer()
                .port(port)
                .bind("127.0.0.1")
                .setting("save \"\"")
                .build();
        own.start();
        try {
            compare("127.0.0.1:" + port);
        } finally {
            own.stop();
        }
        return 0;
    }

    private void compare(String address) throws Exception {
        URI uri = URI.create("redis://" + address);
        try (Jedis statistics = new Jedis(uri.getHost(), uri.getPort())) {
            LongSupplier requests = () -> {
                long sum = 0;
                Matcher matcher = COMMANDS.matcher(statistics.info("commandstats"));
                while (matcher.find()) {
                    sum += Long.parseLong(matcher.group(2));
                }
                return sum;
            };
            Comparison comparison =
                    new Comparison(out, rounds, Duration.ofSeconds(warmUp), Duration.ofSeconds(seconds), requests);
            Contender.Opener keyway = () -> new KeywayContender("lock:redis://" + address);
            Contender.Opener redisson = () -> RedissonContender.usual(address);
            Contender.Opener bare = () -> new BareRedisContender(uri.getHost(), uri.getPort());
            comparison.run("One thread, a free lock", List.of(keyway, redisson, bare), 1, 1, i -> "free");
            comparison.run("Eight threads, each its own lock", List.of(keyway, redisson, bare), 1, 8, i -> "own-" + i);
            comparison.run(
                    waiters + " threads of " + clients + " clients, the same lock",
                    List.of(keyway, redisson, () -> RedissonContender.fair(address)),
                    clients,
                    waiters,
                    i -> "same");
        }
    }
}
