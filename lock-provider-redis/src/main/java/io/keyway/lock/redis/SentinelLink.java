// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.LockUrl;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The way to a master that sentinels watch, {@code lock:redis:sentinel://h1,h2,h3/master}. They are asked for it at first,
 * after every failed call, and when one of them announces another; what they name must call itself a master. The order of
 * steps is that of the guidelines for Redis clients with Sentinel.
 */
final class SentinelLink implements RedisLink {

    private static final Logger LOG = LoggerFactory.getLogger(SentinelLink.class);
    private static final String ANNOUNCEMENTS = "+switch-master";
    /** One that does not answer must not keep the others from being asked. */
    private static final Duration PATIENCE = Duration.ofMillis(500);

    private final String name;
    private final RedisSettings settings;
    private final List<LockUrl.Host> hosts;
    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicInteger first = new AtomicInteger();
    private final LazyDriver<?> driver;
    private volatile List<RedisNode> sentinels = List.of();
    private volatile @Nullable RedisNode master;
    /** Whether the sentinels should be asked again. */
    private volatile boolean doubted;

    private LockBackend.@Nullable Signals signals;
    private volatile boolean closed;

    SentinelLink(List<LockUrl.Host> hosts, String name, RedisSettings settings) {
        this.hosts = List.copyOf(hosts);
        this.name = name;
        this.settings = settings;
        this.driver = Drivers.sentinel(name, hosts, settings);
    }

    @Override
    public void start(LockBackend.Signals told, Deadline deadline) throws Exception {
        if (signals == null) {
            signals = told;
            sentinels = hosts.stream()
                    .map(host -> node(host.name(), host.portOr(RedisSettings.SENTINEL_PORT), settings.forSentinels()))
                    .toList();
            told.background("sentinels", this::hear);
        }
        master(deadline);
    }

    @Override
    public Object run(ScriptCall call, Deadline deadline) throws Exception {
        return ask(deadline, node -> node.run(call, deadline));
    }

    @Override
    public Acknowledged runAcknowledged(ScriptCall call, int replicas, Deadline deadline) throws Exception {
        return ask(deadline, node -> node.runAcknowledged(call, replicas, deadline));
    }

    @Override
    public List<Object> runAll(List<ScriptCall> calls, int replicas, Deadline deadline) throws Exception {
        return ask(deadline, node -> node.runAll(calls, replicas, deadline));
    }

    @Override
    public void listen(String channel, Consumer<String> message, Runnable subscribed) throws Exception {
        Deadline deadline = Deadline.after(settings.connectTimeout());
        ask(deadline, node -> {
            node.listen(channel, message, subscribed);
            return true;
        });
    }

    @Override
    public void visitAll(Visit visit, Deadline deadline) throws Exception {
        ask(deadline, node -> {
            node.visit(visit, deadline);
            return true;
        });
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return driver.unwrap(type);
    }

    @Override
    public void close() {
        closed = true;
        sentinels.forEach(RedisNode::close);
        RedisNode last = master;
        if (last != null) {
            last.close();
        }
        driver.close();
    }

    /** What is asked of the master. */
    @FunctionalInterface
    private interface Question<T> {
        T to(RedisNode node) throws Exception;
    }

    private <T> T ask(Deadline deadline, Question<T> question) throws Exception {
        RedisNode node = master(deadline);
        try {
            return question.to(node);
        } catch (JedisDataException e) {
            throw e;
        } catch (JedisException | NotExecutedException e) {
            doubted = true;
            throw e;
        }
    }

    private RedisNode master(Deadline deadline) throws Exception {
        RedisNode known = master;
        if (known != null && !doubted) {
            return known;
        }
        if (!lock.tryLock(deadline.nanos(), TimeUnit.NANOSECONDS)) {
            throw new NotExecutedException("the time was over before the sentinels had named the master " + name);
        }
        try {
            known = master;
            return known != null && !doubted ? known : find(known, deadline);
        } finally {
            lock.unlock();
        }
    }

    /** Asks the sentinels, one after the other, until the one that is named calls itself a master. */
    private RedisNode find(@Nullable RedisNode known, Deadline deadline) throws Exception {
        List<RedisNode> all = sentinels;
        List<String> complaints = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            RedisNode sentinel = all.get((first.get() + i) % all.size());
            try {
                HostAndPort address = named(sentinel, deadline);
                RedisNode node = node(address.getHost(), address.getPort(), settings);
                if (known != null && node.equals(known)) {
                    doubted = false;
                    return known;
                }
                if (isMaster(node, deadline)) {
                    return become(known, node);
                }
                complaints.add(sentinel + " names " + address + ", which is a replica");
            } catch (JedisException | NotExecutedException e) {
                complaints.add(sentinel + ": " + e.getMessage());
            }
        }
        throw new NotExecutedException(
                "no sentinel names a master \"" + name + "\" that can be reached: " + String.join("; ", complaints));
    }

    private RedisNode become(@Nullable RedisNode known, RedisNode found) {
        master = found;
        doubted = false;
        if (closed) {
            found.close();
        }
        if (known != null && !known.equals(found)) {
            LOG.info("The master {} was {} and is now {}", name, known, found);
            known.retire("it is not the master of " + name + " any more");
            LockBackend.Signals told = signals;
            if (told != null) {
                told.doubt("fail-over of " + name + " from " + known + " to " + found
                        + ": what was not copied in time is lost");
            }
        }
        return found;
    }

    private HostAndPort named(RedisNode sentinel, Deadline deadline) throws Exception {
        List<String> address = sentinel.call(
                connection -> {
                    connection.sendCommand(Command.SENTINEL, "GET-MASTER-ADDR-BY-NAME", name);
                    List<String> words = connection.getMultiBulkReply();
                    return words == null ? List.of() : words;
                },
                deadline.orSooner(PATIENCE));
        if (address.size() != 2) {
            throw new NotExecutedException("it knows no master \"" + name + "\"; the last part of the URL names it");
        }
        return new HostAndPort(address.get(0), Integer.parseInt(address.get(1)));
    }

    private static boolean isMaster(RedisNode node, Deadline deadline) throws Exception {
        return node.call(SentinelLink::isMaster, deadline.orSooner(PATIENCE));
    }

    private static boolean isMaster(Connection connection) {
        connection.sendCommand(Command.ROLE);
        Object role = connection.getObjectMultiBulkReply().get(0);
        return role instanceof byte[] text && new String(text, StandardCharsets.US_ASCII).equals("master");
    }

    /** The loop of the subscription: any sentinel will do, since each tells what it has learnt. */
    private void hear() throws Exception {
        List<RedisNode> all = sentinels;
        RedisNode sentinel = all.get(Math.floorMod(first.getAndIncrement(), all.size()));
        sentinel.listen(ANNOUNCEMENTS, this::announced, () -> doubted = true);
    }

    private void announced(String message) {
        if (!message.startsWith(name + " ")) {
            return;
        }
        doubted = true;
        try {
            master(Deadline.after(settings.connectTimeout()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            LOG.info("After a fail-over: {}", e.getMessage()); // the next call asks again
        }
    }

    private RedisNode node(String host, int port, RedisSettings how) {
        HostAndPort reached = HostAndPort.from(how.addressMap().reach(new HostAndPort(host, port).toString()));
        LockBackend.Signals told = signals;
        if (told == null) {
            throw new IllegalStateException("not started");
        }
        return new RedisNode(reached.getHost(), reached.getPort(), how, told);
    }
}
