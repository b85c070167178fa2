// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.LockBackend;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;

/**
 * The way of one client to its servers, whatever their topology: runs a script where its keys live. Thread-safe; starts
 * no thread, never repeats what may have been executed, and returns by the deadline or, with
 * {@link InterruptedException}, soon after its thread is interrupted.
 *
 * <p>A call that throws {@link io.keyway.lock.spi.NotExecutedException} had surely no effect; after any other exception
 * that is unknown.
 */
interface RedisLink extends AutoCloseable {

    /** A reply, and by how many replicas all that was written before it is known. */
    record Acknowledged(Object reply, int replicas) {}

    /** What is done with a connection to one server; the connection is given back afterwards. */
    @FunctionalInterface
    interface Visit {
        void visit(String server, Connection connection) throws Exception;
    }

    /** Finds the servers and connects to one, to tell whether that works; called once, first. */
    void start(LockBackend.Signals signals, Deadline deadline) throws Exception;

    /** Runs a script; the reply is null, a Long, a byte array or a list of these. */
    Object run(RedisScript.Call call, Deadline deadline) throws Exception;

    /**
     * As {@link #run}, then waits on the same connection until that many replicas know, or not much longer than half of
     * the time left.
     */
    Acknowledged runAcknowledged(RedisScript.Call call, int replicas, Deadline deadline) throws Exception;

    /**
     * Runs several, in as few round trips as the topology allows. For each the reply, or the exception that it failed
     * with.
     *
     * @param replicas if not 0, each reply is {@link Acknowledged}, after waiting as {@link #runAcknowledged} does
     */
    List<Object> runAll(List<RedisScript.Call> calls, int replicas, Deadline deadline) throws Exception;

    /**
     * Subscribes to a channel and hands its messages over, until the connection breaks (an exception) or the thread is
     * interrupted.
     *
     * @param subscribed run as soon as no message can be missed any more
     */
    void listen(String channel, Consumer<String> message, Runnable subscribed) throws Exception;

    /** Visits each server that keeps locks (masters), one after the other. */
    void visitAll(Visit visit, Deadline deadline) throws Exception;

    /** The servers of a cluster by the slots of keys, as far as they are known without asking. */
    @FunctionalInterface
    interface Slots {
        /** The server that has the slot of that key or channel; null if none is known. */
        @Nullable
        RedisNode owner(String key);
    }

    /** Returns the slots; null where keys have none, since all live in one place. */
    default @Nullable Slots slots() {
        return null;
    }

    /**
     * Returns the key of the floor of tokens of all names with that hash tag; it lives where they live: where all live
     * in one place, one key.
     */
    String floorKey(String prefix, String tag);

    /** Returns all keys that {@link #floorKey} may return. */
    default List<String> floorKeys(String prefix) {
        return List.of(floorKey(prefix, ""));
    }

    /** Returns the driver's client, for {@code LockClient.unwrap}. */
    <T> Optional<T> unwrap(Class<T> type);

    /** Closes all connections. Idempotent. */
    @Override
    void close();
}
