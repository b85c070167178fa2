// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.LockUrl;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisRedirectionException;

/** The way to one server, {@code lock:redis://host:port}. */
final class SingleLink implements RedisLink {

    private final HostAndPort server;
    private final RedisSettings settings;
    private final LazyDriver<?> driver;
    private volatile @Nullable RedisNode node;

    SingleLink(RedisSettings settings) {
        LockUrl.Host host = settings.url().hosts().get(0);
        String named = new LockUrl.Host(host.name(), OptionalInt.of(host.portOr(RedisSettings.PORT))).toString();
        this.server = settings.reached(named);
        this.settings = settings;
        this.driver = Drivers.single(server, settings);
    }

    @Override
    public void start(LockBackend.Signals signals, Deadline deadline) throws Exception {
        RedisNode started = node;
        if (started == null) {
            started = new RedisNode(server.getHost(), server.getPort(), settings, signals);
            node = started;
        }
        started.call(
                connection -> {
                    connection.ping();
                    return true;
                },
                deadline);
    }

    @Override
    public Object run(RedisScript.Call call, Deadline deadline) throws Exception {
        try {
            return node().run(call, deadline);
        } catch (JedisRedirectionException e) {
            throw ofACluster(e);
        }
    }

    @Override
    public Acknowledged runAcknowledged(RedisScript.Call call, int replicas, Deadline deadline) throws Exception {
        try {
            return node().runAcknowledged(call, replicas, deadline);
        } catch (JedisRedirectionException e) {
            throw ofACluster(e);
        }
    }

    private static NotExecutedException ofACluster(JedisRedirectionException e) {
        return new NotExecutedException(ServerErrors.CLUSTER + " (" + e.getMessage() + ")", e);
    }

    @Override
    public List<Object> runAll(List<RedisScript.Call> calls, int replicas, Deadline deadline) throws Exception {
        return node().runAll(calls, replicas, deadline);
    }

    @Override
    public void listen(String channel, Consumer<String> message, Runnable subscribed) throws Exception {
        node().listenToStore(channel, message, subscribed);
    }

    @Override
    public void visitAll(Visit visit, Deadline deadline) throws Exception {
        node().visit(visit, deadline);
    }

    @Override
    public String floorKey(String prefix, String tag) {
        return prefix + "floor";
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return driver.unwrap(type);
    }

    @Override
    public void close() {
        RedisNode started = node;
        if (started != null) {
            started.close();
        }
        driver.close();
    }

    private RedisNode node() {
        RedisNode started = node;
        if (started == null) {
            throw new IllegalStateException("not started");
        }
        return started;
    }
}
