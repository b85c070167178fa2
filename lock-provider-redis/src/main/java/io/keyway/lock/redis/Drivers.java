// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.LockUrl;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.ConnectionProvider;
import redis.clients.jedis.providers.PooledConnectionProvider;
import redis.clients.jedis.providers.SentineledConnectionProvider;

/**
 * The clients that the driver itself has for each topology. Applications bring it in versions that name them
 * differently.
 */
final class Drivers {

    private static final boolean NAMED = isPresent("redis.clients.jedis.RedisClient");

    private Drivers() {}

    static LazyDriver<?> single(HostAndPort server, RedisSettings settings) {
        return NAMED ? Named.single(server, settings) : Unnamed.single(server, settings);
    }

    static LazyDriver<?> sentinel(String master, List<LockUrl.Host> hosts, RedisSettings settings) {
        Set<HostAndPort> sentinels = addresses(hosts, RedisSettings.SENTINEL_PORT);
        return NAMED ? Named.sentinel(master, sentinels, settings) : Unnamed.sentinel(master, sentinels, settings);
    }

    static LazyDriver<?> cluster(List<LockUrl.Host> seeds, RedisSettings settings) {
        Set<HostAndPort> servers = addresses(seeds, RedisSettings.PORT);
        return NAMED ? Named.cluster(servers, settings) : Unnamed.cluster(servers, settings);
    }

    private static Set<HostAndPort> addresses(List<LockUrl.Host> hosts, int port) {
        return hosts.stream()
                .map(host -> new HostAndPort(host.name(), host.portOr(port)))
                .collect(Collectors.toSet());
    }

    private static boolean isPresent(String type) {
        try {
            Class.forName(type, false, Drivers.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** In classes of their own, since a class is checked with all that it names. */
    private static final class Named {

        static LazyDriver<?> single(HostAndPort server, RedisSettings settings) {
            return new LazyDriver<>(
                    RedisClient.class,
                    () -> RedisClient.builder()
                            .hostAndPort(server)
                            .clientConfig(settings.driverClient())
                            .build());
        }

        static LazyDriver<?> sentinel(String master, Set<HostAndPort> sentinels, RedisSettings settings) {
            return new LazyDriver<>(
                    RedisSentinelClient.class,
                    () -> RedisSentinelClient.builder()
                            .masterName(master)
                            .sentinels(sentinels)
                            .sentinelClientConfig(settings.forSentinels().driverClient())
                            .clientConfig(settings.driverClient())
                            .build());
        }

        static LazyDriver<?> cluster(Set<HostAndPort> servers, RedisSettings settings) {
            return new LazyDriver<>(
                    RedisClusterClient.class,
                    () -> RedisClusterClient.builder()
                            .nodes(servers)
                            .clientConfig(settings.driverClient())
                            .build());
        }
    }

    /** As versions before those names have them, and all later ones still. */
    @SuppressWarnings("deprecation") // there is nothing else in the old ones
    private static final class Unnamed {

        private static final int ATTEMPTS = 1;

        static LazyDriver<?> single(HostAndPort server, RedisSettings settings) {
            return new LazyDriver<>(
                    UnifiedJedis.class, () -> over(new PooledConnectionProvider(server, settings.driverClient())));
        }

        static LazyDriver<?> sentinel(String master, Set<HostAndPort> sentinels, RedisSettings settings) {
            return new LazyDriver<>(
                    UnifiedJedis.class,
                    () -> over(new SentineledConnectionProvider(
                            master,
                            settings.driverClient(),
                            sentinels,
                            settings.forSentinels().driverClient())));
        }

        static LazyDriver<?> cluster(Set<HostAndPort> servers, RedisSettings settings) {
            return new LazyDriver<>(JedisCluster.class, () -> new JedisCluster(servers, settings.driverClient()));
        }

        private static UnifiedJedis over(ConnectionProvider connections) {
            return new UnifiedJedis(connections, ATTEMPTS, Duration.ofSeconds(1));
        }
    }
}
