// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.LockUrl;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
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
 * The way to a master that sentinels watch, {@code lock:redis:sentinel://h1,h2,h3/master}. They are asked for it at
 * first, after every failed call, and when one of them announces another; what they name must call itself a master. The
 * order of steps is that of the guidelines for Redis clients with Sentinel, but that a sentinel is not believed which
 * is behind: each fail-over raises the epoch of their configuration, and one that was down, or has not heard of it yet,
 * names the former master by the epoch before.
 */
final class SentinelLink implements RedisLink {

    private static final Logger LOG = LoggerFactory.getLogger(SentinelLink.class);
    private static final String ANNOUNCEMENTS = "+switch-master";
    /** One that does not answer must not keep the others from being asked. */
    private static final Duration PATIENCE = Duration.ofMillis(500);
    /** The epoch of a sentinel whose user may not ask for it. */
    private static final long UNTOLD = -1;

    /** What a sentinel says: where the master is, by which configuration. */
    private record Named(RedisNode by, RedisNode node, long epoch) {}

    private final String name;
    private final RedisSettings settings;
    private final List<LockUrl.Host> hosts;
    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicInteger next = new AtomicInteger();
    private final LazyDriver<?> driver;
    private volatile List<RedisNode> sentinels = List.of();
    private volatile @Nullable RedisNode master;
    /** How often there was a reason to ask the sentinels again, and for how many of these they were asked. */
    private final AtomicLong doubts = new AtomicLong();

    private volatile long settled;
    /** Of the configurations by which a master was named, the highest; guarded by the lock. */
    private long epoch = UNTOLD;
    /** The highest when the master that is known was found; guarded by the lock. */
    private long epochOfMaster = UNTOLD;

    private LockBackend.@Nullable Signals signals;
    private volatile boolean closed;

    SentinelLink(String name, RedisSettings settings) {
        this.hosts = settings.url().hosts();
        this.name = name;
        this.settings = settings;
        this.driver = Drivers.sentinel(name, hosts, settings);
    }

    @Override
    public void start(LockBackend.Signals signals, Deadline deadline) throws Exception {
        if (this.signals == null) {
            this.signals = signals;
            sentinels = hosts.stream()
                    .map(host -> new HostAndPort(host.name(), host.portOr(RedisSettings.SENTINEL_PORT)))
                    .map(address -> node(address, settings.forSentinels()))
                    .toList();
            signals.background("sentinels", this::hear);
        }
        master(deadline);
    }

    @Override
    public Object run(RedisScript.Call call, Deadline deadline) throws Exception {
        return ask(deadline, node -> node.run(call, deadline));
    }

    @Override
    public Acknowledged runAcknowledged(RedisScript.Call call, int replicas, Deadline deadline) throws Exception {
        return ask(deadline, node -> node.runAcknowledged(call, replicas, deadline));
    }

    @Override
    public List<Object> runAll(List<RedisScript.Call> calls, int replicas, Deadline deadline) throws Exception {
        return ask(deadline, node -> node.runAll(calls, replicas, deadline));
    }

    @Override
    public void listen(String channel, Consumer<String> message, Runnable subscribed) throws Exception {
        Deadline deadline = Deadline.after(settings.connectTimeout());
        ask(deadline, node -> {
            node.listenToStore(channel, message, subscribed);
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
    public String floorKey(String prefix, String tag) {
        return prefix + "floor";
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
            doubts.incrementAndGet();
            throw e;
        }
    }

    private RedisNode master(Deadline deadline) throws Exception {
        RedisNode known = master;
        return known != null && settled == doubts.get() ? known : asked(null, null, deadline);
    }

    /** Asks that sentinel first, then the others; what it announced is a master if it says so itself. */
    private RedisNode asked(@Nullable RedisNode first, @Nullable HostAndPort announced, Deadline deadline)
            throws Exception {
        if (!lock.tryLock(deadline.nanos(), TimeUnit.NANOSECONDS)) {
            throw new NotExecutedException("the time was over before the sentinels had named the master " + name);
        }
        try {
            RedisNode known = master;
            long settling = doubts.get();
            // Whoever has just asked need not have heard of what was announced.
            if (known != null && settled == settling && first == null) {
                return known;
            }
            RedisNode found = find(known, first, announced, deadline);
            settled = settling;
            return found;
        } finally {
            lock.unlock();
        }
    }

    /** Asks the sentinels, until one that is not behind names what calls itself a master; at first, all of them. */
    private RedisNode find(
            @Nullable RedisNode known, @Nullable RedisNode first, @Nullable HostAndPort announced, Deadline deadline)
            throws Exception {
        List<String> complaints = new ArrayList<>();
        List<Named> answers = new ArrayList<>();
        for (RedisNode sentinel : inTurn(first)) {
            try {
                Named answer = named(sentinel, deadline);
                epoch = Math.max(epoch, answer.epoch);
                if (known == null) {
                    answers.add(answer);
                } else if (isTheMaster(answer, known, deadline, complaints)) {
                    return become(known, answer.node);
                }
            } catch (JedisException | NotExecutedException e) {
                complaints.add(sentinel + ": " + e.getMessage());
                if (announced != null && sentinel.equals(first)) {
                    // It is gone since: its word remains.
                    Named told = new Named(sentinel, node(announced), UNTOLD);
                    if (isTheMaster(told, known, deadline, complaints)) {
                        return become(known, told.node);
                    }
                }
            }
        }
        answers.sort(Comparator.comparingLong(Named::epoch).reversed());
        for (Named answer : answers) {
            if (isTheMaster(answer, known, deadline, complaints)) {
                return become(known, answer.node);
            }
        }
        throw new NotExecutedException(
                "no sentinel names a master \"" + name + "\" that can be reached: " + String.join("; ", complaints));
    }

    /** All sentinels: that one first, or else another than last time. */
    private List<RedisNode> inTurn(@Nullable RedisNode first) {
        List<RedisNode> all = new ArrayList<>(sentinels);
        Collections.rotate(all, -(first == null ? next.get() % all.size() : all.indexOf(first)));
        return all;
    }

    private RedisNode become(@Nullable RedisNode known, RedisNode found) {
        epochOfMaster = epoch;
        if (known != null && known.equals(found)) {
            return known;
        }
        master = found;
        if (closed) {
            found.close();
        }
        if (known != null) {
            LOG.info("The master {} was {} and is now {}", name, known, found);
            known.retire("it is not the master of " + name + " any more");
            LockBackend.Signals kit = signals;
            if (kit != null) {
                kit.doubt("fail-over of " + name + " from " + known + " to " + found
                        + ": what was not copied in time is lost");
            }
        }
        return found;
    }

    private Named named(RedisNode sentinel, Deadline deadline) throws Exception {
        Deadline end = deadline.orSooner(PATIENCE);
        while (true) {
            end.check("a sentinel had named the master");
            Optional<Named> named = sentinel.call(connection -> ask(sentinel, connection), end);
            if (named.isPresent()) {
                return named.get();
            }
        }
    }

    /** Empty if it has taken another configuration in between. */
    private Optional<Named> ask(RedisNode sentinel, Connection connection) throws NotExecutedException {
        long before = epoch(connection);
        connection.sendCommand(Command.SENTINEL, "GET-MASTER-ADDR-BY-NAME", name);
        List<String> address = connection.getMultiBulkReply();
        if (address == null || address.size() != 2) {
            throw new NotExecutedException("it knows no master \"" + name + "\"; the last part of the URL names it");
        }
        RedisNode named = node(new HostAndPort(address.get(0), Integer.parseInt(address.get(1))));
        return epoch(connection) == before ? Optional.of(new Named(sentinel, named, before)) : Optional.empty();
    }

    private long epoch(Connection connection) {
        try {
            connection.sendCommand(Command.SENTINEL, "MASTER", name);
            List<String> words = connection.getMultiBulkReply();
            int place = words.indexOf("config-epoch");
            return place < 0 ? UNTOLD : Long.parseLong(words.get(place + 1));
        } catch (JedisDataException e) {
            return UNTOLD;
        }
    }

    /** Whether it is the one that is known, or calls itself a master; if not, no connection to it is kept. */
    private boolean isTheMaster(Named answer, @Nullable RedisNode known, Deadline deadline, List<String> complaints)
            throws InterruptedException {
        // Sentinels that were set up anew count anew. Nobody has named another master since this one was found.
        boolean undisputed = answer.node.equals(known) && epoch == epochOfMaster;
        if (!undisputed && answer.epoch != UNTOLD && answer.epoch < epoch) {
            complaints.add(answer.by + " is behind: it names " + answer.node + " by configuration " + answer.epoch
                    + ", but there is " + epoch);
            return false;
        }
        if (answer.node.equals(known)) {
            return true;
        }
        boolean taken = false;
        try {
            taken = answer.node.call(SentinelLink::isMaster, deadline.orSooner(PATIENCE));
            if (!taken) {
                complaints.add(answer.by + " names " + answer.node + ", which is a replica");
            }
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            complaints.add(answer.by + " names " + answer.node + ": " + e.getMessage());
        } finally {
            if (!taken) {
                answer.node.close();
            }
        }
        return taken;
    }

    private static boolean isMaster(Connection connection) {
        connection.sendCommand(Command.ROLE);
        Object role = connection.getObjectMultiBulkReply().get(0);
        return role instanceof byte[] text && new String(text, StandardCharsets.US_ASCII).equals("master");
    }

    /** The loop of the subscription: any sentinel will do, since each tells what it has learnt. */
    private void hear() throws Exception {
        List<RedisNode> all = sentinels;
        RedisNode sentinel = all.get(Math.floorMod(next.getAndIncrement(), all.size()));
        sentinel.listen(ANNOUNCEMENTS, message -> announced(sentinel, message), doubts::incrementAndGet);
    }

    /** The message has the name of the master, its former host and port, and its host and port now. */
    private void announced(RedisNode by, String message) {
        String[] words = message.split(" ", -1);
        if (words.length != 5 || !words[0].equals(name)) {
            return;
        }
        doubts.incrementAndGet();
        try {
            HostAndPort now = new HostAndPort(words[3], Integer.parseInt(words[4]));
            asked(by, now, Deadline.after(settings.connectTimeout()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            LOG.info("After a fail-over: {}", e.getMessage()); // the next call asks again
        }
    }

    private RedisNode node(HostAndPort announced) {
        return node(announced, settings);
    }

    private RedisNode node(HostAndPort announced, RedisSettings how) {
        HostAndPort reached = how.reached(announced.toString());
        LockBackend.Signals known = signals;
        if (known == null) {
            throw new IllegalStateException("not started");
        }
        return new RedisNode(reached.getHost(), reached.getPort(), how, known);
    }
}
