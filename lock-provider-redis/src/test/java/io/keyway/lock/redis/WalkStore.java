// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** One client's backend at a real server; the test decides which call or answer is lost, and when a message arrives. */
public final class WalkStore implements AutoCloseable {

    /** What becomes of a call. */
    public enum Fate {
        /** It is answered. */
        ANSWERED,
        /** It is not sent. */
        NOT_SENT,
        /** It is carried out, and nobody hears of it. */
        NOT_ANSWERED
    }

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final class Link implements RedisLink {
        private final RedisLink server;

        Link(RedisLink server) {
            this.server = server;
        }

        @Override
        public void start(LockBackend.Signals signals, Deadline deadline) throws Exception {
            server.start(signals, deadline);
        }

        @Override
        public Object run(RedisScript.Call call, Deadline deadline) throws Exception {
            if (fate == Fate.NOT_SENT) {
                throw new NotExecutedException("not sent");
            }
            Object reply = server.run(call, deadline);
            boolean lost = fate == Fate.NOT_ANSWERED;
            Optional<Callable<Void>> others = meanwhile;
            meanwhile = Optional.empty();
            if (others.isPresent()) {
                others.get().call();
            }
            if (lost) {
                throw new SocketTimeoutException("not answered");
            }
            return reply;
        }

        @Override
        public Acknowledged runAcknowledged(RedisScript.Call call, int replicas, Deadline deadline) throws Exception {
            return server.runAcknowledged(call, replicas, deadline);
        }

        @Override
        public List<Object> runAll(List<RedisScript.Call> calls, int replicas, Deadline deadline) throws Exception {
            return server.runAll(calls, replicas, deadline);
        }

        @Override
        public void listen(String channel, Consumer<String> message, Runnable subscribed) throws Exception {
            subscribed.run();
            heard.complete(message);
            closed.await();
        }

        @Override
        public void visitAll(Visit visit, Deadline deadline) throws Exception {
            server.visitAll(visit, deadline);
        }

        @Override
        public String floorKey(String prefix, String tag) {
            return server.floorKey(prefix, tag);
        }

        @Override
        public <T> Optional<T> unwrap(Class<T> type) {
            return server.unwrap(type);
        }

        @Override
        public void close() {
            closed.countDown();
            server.close();
        }
    }

    private final CompletableFuture<Consumer<String>> heard = new CompletableFuture<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Incarnation incarnation = Incarnation.draw();
    private final RedisBackend backend;
    private Fate fate = Fate.ANSWERED;
    private Optional<Callable<Void>> meanwhile = Optional.empty();

    private WalkStore(String url) {
        RedisSettings settings = TestSettings.of(url, LIMIT);
        backend = new RedisBackend(new Link(new SingleLink(settings)), settings, RedisGuarantees.single());
    }

    /** Connects. */
    public static WalkStore open(RedisServer server, LockBackend.Signals signals) throws Exception {
        WalkStore store = new WalkStore(server.url());
        store.backend.start(signals, store.incarnation);
        return store;
    }

    /** For one call. */
    public LockBackend backend(Fate next) {
        fate = next;
        return backend;
    }

    /** What happens before the answer to its next call is heard. */
    public void meanwhile(Callable<Void> others) {
        meanwhile = Optional.of(others);
    }

    /** As it begins its requests' ids with, and ends its channel's name with. */
    public String incarnation() {
        return incarnation.toString();
    }

    /** A message arrives on its channel. */
    public void hear(String message) throws Exception {
        heard.get(LIMIT.toSeconds(), TimeUnit.SECONDS).accept(message);
    }

    @Override
    public void close() {
        backend.close();
    }
}
