// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.LockUrl;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisMovedDataException;
import redis.clients.jedis.exceptions.JedisRedirectionException;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * The ways to the masters of a cluster, {@code lock:redis:cluster://h1,h2,h3}. A redirection is followed, since a
 * server that redirects has done nothing; the table of slots is asked for anew after a redirection or a failure, by the
 * next call. Plain messages reach all servers of a cluster, so that one is listened to, another after each failure.
 */
final class ClusterLink implements RedisLink {

    private static final Logger LOG = LoggerFactory.getLogger(ClusterLink.class);
    private static final int REDIRECTIONS = 5;
    /** A server that does not answer must not keep the others from being asked. */
    private static final Duration PATIENCE = Duration.ofMillis(500);

    private final List<LockUrl.Host> seeds;
    private final RedisSettings settings;
    private final Map<HostAndPort, RedisNode> nodes = new ConcurrentHashMap<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicInteger listened = new AtomicInteger();
    private final LazyDriver<?> driver;
    private volatile SlotTable table = SlotTable.EMPTY;
    /** Whether the table should be asked for again. */
    private volatile boolean doubted = true;

    private volatile @Nullable RedisNode failing;
    private LockBackend.@Nullable Signals signals;
    private volatile boolean closed;

    ClusterLink(RedisSettings settings) {
        this.seeds = settings.url().hosts();
        this.settings = settings;
        this.driver = Drivers.cluster(seeds, settings);
    }

    @Override
    public void start(LockBackend.Signals signals, Deadline deadline) throws Exception {
        this.signals = signals;
        table(deadline);
    }

    @Override
    public Object run(RedisScript.Call call, Deadline deadline) throws Exception {
        return redirected(call, deadline, node -> node.run(call, deadline), node -> node.runAsking(call, deadline));
    }

    @Override
    public Acknowledged runAcknowledged(RedisScript.Call call, int replicas, Deadline deadline) throws Exception {
        return redirected(
                call,
                deadline,
                node -> node.runAcknowledged(call, replicas, deadline),
                // While a slot moves its new master's replicas are not asked: the grant is not acknowledged.
                node -> new Acknowledged(node.runAsking(call, deadline), 0));
    }

    /** What is asked of a server. */
    @FunctionalInterface
    private interface Question<T> {
        T to(RedisNode node) throws Exception;
    }

    private <T> T redirected(RedisScript.Call call, Deadline deadline, Question<T> question, Question<T> asking)
            throws Exception {
        int slot = slot(call);
        RedisNode node = table(deadline).owner(slot);
        Question<T> next = question;
        for (int i = 0; i < REDIRECTIONS; i++) {
            if (node == null) {
                doubted = true;
                throw new NotExecutedException("no server of the cluster has slot " + slot);
            }
            deadline.check("the server of slot " + slot + " was found");
            try {
                return next.to(node);
            } catch (JedisMovedDataException e) {
                node = target(e, node);
                table = table.with(slot, node);
                doubted = true;
                next = question;
            } catch (JedisAskDataException e) {
                node = target(e, node);
                next = asking;
            } catch (JedisException | NotExecutedException e) {
                failed(node);
                throw e;
            }
        }
        throw new NotExecutedException("the servers of the cluster do not agree on the owner of slot " + slot);
    }

    @Override
    public List<Object> runAll(List<RedisScript.Call> calls, int replicas, Deadline deadline) throws Exception {
        SlotTable known = table(deadline);
        Map<RedisNode, List<Integer>> indexes = new LinkedHashMap<>();
        Object[] replies = new Object[calls.size()];
        for (int i = 0; i < calls.size(); i++) {
            RedisNode owner = known.owner(slot(calls.get(i)));
            if (owner == null) {
                replies[i] = new NotExecutedException("no server of the cluster has its slot");
            } else {
                indexes.computeIfAbsent(owner, fresh -> new ArrayList<>()).add(i);
            }
        }
        // What failed last comes last, and none may use up the time of those after it.
        List<RedisNode> order = new ArrayList<>(indexes.keySet());
        order.sort((a, b) -> Boolean.compare(a.equals(failing), b.equals(failing)));
        for (int i = 0; i < order.size(); i++) {
            RedisNode node = order.get(i);
            Deadline share = deadline.orSooner(Duration.ofNanos(deadline.nanos() / (order.size() - i)));
            List<Integer> own = indexes.getOrDefault(node, List.of());
            List<Object> answers = answers(node, own.stream().map(calls::get).toList(), replicas, share);
            for (int place = 0; place < own.size(); place++) {
                replies[own.get(place)] = answers.get(place);
            }
        }
        return Arrays.asList(replies);
    }

    private List<Object> answers(RedisNode node, List<RedisScript.Call> calls, int replicas, Deadline share)
            throws Exception {
        try {
            List<Object> answers = new ArrayList<>(node.runAll(calls, replicas, share));
            for (int i = 0; i < answers.size(); i++) {
                if (answers.get(i) instanceof JedisRedirectionException) {
                    answers.set(i, again(calls.get(i), replicas, share));
                }
            }
            return answers;
        } catch (JedisException | NotExecutedException e) {
            failed(node);
            return Collections.nCopies(calls.size(), e);
        }
    }

    private Object again(RedisScript.Call call, int replicas, Deadline deadline) throws Exception {
        try {
            return replicas == 0 ? run(call, deadline) : runAcknowledged(call, replicas, deadline);
        } catch (JedisException | NotExecutedException e) {
            return e;
        }
    }

    @Override
    public void listen(String channel, Consumer<String> message, Runnable subscribed) throws Exception {
        Deadline deadline = Deadline.after(settings.connectTimeout());
        List<RedisNode> masters = table(deadline).masters();
        if (masters.isEmpty()) {
            throw new NotExecutedException("no server of the cluster is known");
        }
        // Clients spread over the servers; the next one after a failure.
        int turn = Math.floorMod(channel.hashCode() + listened.getAndIncrement(), masters.size());
        masters.get(turn).listenToStore(channel, message, subscribed);
    }

    @Override
    public void visitAll(Visit visit, Deadline deadline) throws Exception {
        for (RedisNode node : table(deadline).masters()) {
            node.visit(visit, deadline);
        }
    }

    @Override
    public Slots slots() {
        return key -> table.owner(JedisClusterCRC16.getSlot(key));
    }

    @Override
    public String floorKey(String prefix, String tag) {
        return floorKey(prefix, JedisClusterCRC16.getSlot(tag));
    }

    private static String floorKey(String prefix, int slot) {
        return prefix + "{" + SlotTags.of(slot) + "}:floor";
    }

    @Override
    public List<String> floorKeys(String prefix) {
        return IntStream.range(0, Protocol.CLUSTER_HASHSLOTS)
                .mapToObj(slot -> floorKey(prefix, slot))
                .toList();
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return driver.unwrap(type);
    }

    @Override
    public void close() {
        closed = true;
        nodes.values().forEach(RedisNode::close);
        driver.close();
    }

    private static int slot(RedisScript.Call call) {
        return JedisClusterCRC16.getSlot(call.keys()[0]);
    }

    private void failed(RedisNode node) {
        failing = node;
        doubted = true;
    }

    private RedisNode target(JedisRedirectionException redirection, RedisNode from) {
        HostAndPort target = redirection.getTargetNode();
        // An empty host is that of the server that says so.
        return target.getHost().isEmpty() ? node(new HostAndPort(from.host(), target.getPort())) : node(target);
    }

    private SlotTable table(Deadline deadline) throws Exception {
        if (!doubted) {
            return table;
        }
        if (!lock.tryLock(deadline.nanos(), TimeUnit.NANOSECONDS)) {
            throw new NotExecutedException("the time was over before a server had named the slots of the cluster");
        }
        try {
            return doubted ? asked(deadline) : table;
        } finally {
            lock.unlock();
        }
    }

    /** Asks the servers for the table, one after the other, the one that failed last of all. */
    private SlotTable asked(Deadline deadline) throws Exception {
        List<RedisNode> all = new ArrayList<>(table.masters());
        for (LockUrl.Host seed : seeds) {
            RedisNode node = node(new HostAndPort(seed.name(), seed.portOr(RedisSettings.PORT)));
            if (!all.contains(node)) {
                all.add(node);
            }
        }
        RedisNode last = failing;
        all.sort((a, b) -> Boolean.compare(a.equals(last), b.equals(last)));
        List<String> complaints = new ArrayList<>();
        for (RedisNode node : all) {
            try {
                SlotTable fresh = node.call(
                        connection -> SlotTable.ask(connection, node.host(), this::node), deadline.orSooner(PATIENCE));
                if (!fresh.masters().isEmpty()) {
                    return become(fresh);
                }
                complaints.add(node + " knows no slots");
            } catch (JedisException | NotExecutedException e) {
                complaints.add(node + ": " + e.getMessage());
            }
        }
        SlotTable known = table;
        if (!known.masters().isEmpty()) {
            return known;
        }
        throw new NotExecutedException("no server names the slots of the cluster: " + String.join("; ", complaints));
    }

    private SlotTable become(SlotTable fresh) {
        SlotTable before = table;
        table = fresh;
        doubted = false;
        failing = null;
        LockBackend.Signals known = signals;
        // Also of one that lives: a replica may have been told to take over, which shows by a redirection alone.
        List<RedisNode> gone = before.masters().stream()
                .filter(node -> !fresh.masters().contains(node))
                .toList();
        if (known != null && !gone.isEmpty()) {
            LOG.info("No masters of the cluster any more: {}", gone);
            known.doubt(
                    "fail-over from " + gone.stream().map(RedisNode::toString).collect(Collectors.joining(", "))
                            + ": what was not copied in time is lost");
        }
        nodes.values().removeIf(node -> {
            boolean retired = gone.contains(node);
            if (retired) {
                node.retire("it is no master of the cluster any more");
            }
            return retired;
        });
        return fresh;
    }

    private RedisNode node(HostAndPort announced) {
        return nodes.computeIfAbsent(announced, fresh -> {
            HostAndPort reached = settings.reached(announced.toString());
            LockBackend.Signals known = signals;
            if (known == null || closed) {
                throw new IllegalStateException(closed ? "closed" : "not started");
            }
            return new RedisNode(reached.getHost(), reached.getPort(), settings, known);
        });
    }
}
