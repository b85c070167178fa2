// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.spi.LockBackend;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;

/** The way to one server, {@code lock:redis://host:port}. */
final class SingleLink implements RedisLink {

    private final String host;
    private final int port;
    private final RedisSettings settings;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable RedisNode node;
    private @Nullable RedisClient driver;

    SingleLink(String host, int port, RedisSettings settings) {
        this.host = host;
        this.port = port;
        this.settings = settings;
    }

    @Override
    public void start(LockBackend.Signals signals, Deadline deadline) throws Exception {
        RedisNode started = new RedisNode(host, port, settings, signals);
        node = started;
        started.call(
                connection -> {
                    connection.ping();
                    return true;
                },
                deadline);
    }

    @Override
    public Object run(ScriptCall call, Deadline deadline) throws Exception {
        return node().run(call, deadline);
    }

    @Override
    public Acknowledged runAcknowledged(ScriptCall call, int replicas, Deadline deadline) throws Exception {
        return node().runAcknowledged(call, replicas, deadline);
    }

    @Override
    public List<Object> runAll(List<ScriptCall> calls, Deadline deadline) throws Exception {
        return node().runAll(calls, deadline);
    }

    @Override
    public void listen(String channel, Consumer<String> message, Runnable subscribed) throws Exception {
        node().listen(channel, message, subscribed, Deadline.after(settings.connectTimeout()));
    }

    @Override
    public void visitAll(Visit visit, Deadline deadline) throws Exception {
        RedisNode to = node();
        to.call(
                connection -> {
                    visit.visit(to.toString(), connection);
                    return true;
                },
                deadline);
    }

    @Override
    public String floorKey(String tag) {
        return settings.prefix() + "floor";
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        if (!type.isAssignableFrom(RedisClient.class) || type == Object.class) {
            return Optional.empty();
        }
        lock.lock();
        try {
            RedisClient made = driver;
            if (made == null) {
                made = RedisClient.builder()
                        .hostAndPort(new HostAndPort(host, port))
                        .clientConfig(settings.driverClient())
                        .build();
                driver = made;
            }
            return Optional.of(type.cast(made));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        RedisNode started = node;
        if (started != null) {
            started.close();
        }
        lock.lock();
        try {
            if (driver != null) {
                driver.close();
            }
        } finally {
            lock.unlock();
        }
    }

    private RedisNode node() {
        RedisNode started = node;
        if (started == null) {
            throw new IllegalStateException("not started");
        }
        return started;
    }
}
