// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import io.keyway.lock.tck.proxy.Ports;
import java.io.PrintStream;
import java.net.URI;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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

    @Mixin
    private final Scale scale = new Scale(2, 8);

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
            Contender.Opener keyway = () -> new KeywayContender("lock:redis://" + address);
            Contender.Opener redisson = () -> RedissonContender.usual(address);
            Contender.Opener bare = () -> new BareRedisContender(uri.getHost(), uri.getPort());
            List<Contender.Opener> before = scale.before("lock:redis://" + address);
            scale.compare(
                    out,
                    requests,
                    Scale.joined(keyway, before, List.of(redisson, bare)),
                    Scale.joined(keyway, before, List.of(redisson, () -> RedissonContender.fair(address))));
        }
    }
}
