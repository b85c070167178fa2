// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's cells as a {@link LockEngine}. Requests, releases and questions become calls of the cell that decides, and
 * what it tells goes to the sinks. A cached lock is taken and returned on the user's thread, by the published handle of
 * its grant; nothing else is shared with the cell.
 */
public final class NativeEngine implements LockEngine {
    private static final Logger LOG = LoggerFactory.getLogger(NativeEngine.class);

    private final Owner plainOwner;
    private final int algorithm;
    private final long patience;
    private final Set<Feature> features;
    private final Guarantees guarantees;
    private final Map<String, GrantHold> holds = new ConcurrentHashMap<>();
    private final Map<Use, CompletableFuture<Answer>> releases = new ConcurrentHashMap<>();
    private final Admin admin;
    private final ClientRuntime runtime;
    private volatile boolean closed;

    private record Use(Key key, long token) {}

    /**
     * An engine over the cells of that client.
     *
     * @param client the client's name, for others to see
     * @param algorithm the id of the algorithm that its cells run
     * @param requestTimeout how long an attempt that does not wait may take
     * @param runtime opens the client; is given whom to tell what its cells tell, and which of them
     */
    public NativeEngine(
            String client,
            int algorithm,
            Duration requestTimeout,
            Set<Feature> features,
            Guarantees guarantees,
            Function<BiConsumer<Notice, ClientCell>, ClientRuntime> runtime) {
        this.algorithm = algorithm;
        this.plainOwner = new Owner(client, Map.of());
        // Half of it is for the way there and back.
        this.patience = requestTimeout.toNanos() / 2;
        this.features = features;
        this.guarantees = guarantees;
        this.admin = new Admin(algorithm, this::post, this::server);
        this.runtime = runtime.apply(this::heard);
    }

    /**
     * Waits, on the machine's clock, until the member has answered something.
     *
     * @throws LockUnavailableException if it does not within {@code limit}; names it, and why nothing came where that
     *     is known
     */
    public void connect(Duration limit) {
        CompletableFuture<?> answer = runtime.greeted()
                .<CompletableFuture<?>>map(CompletionStage::toCompletableFuture)
                .orElseGet(() -> admin.list("", "", 1, limit));
        try {
            answer.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            throw unconnected(late(limit) + (cause == null ? "" : ": " + cause.getMessage()), e);
        } catch (TimeoutException e) {
            throw unconnected(late(limit), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unconnected("interrupted while connecting", e);
        }
    }

    private static String late(Duration limit) {
        return "could not connect within " + limit.toMillis() + "ms";
    }

    private LockUnavailableException unconnected(String why, Exception cause) {
        return new LockUnavailableException(
                server() + " is not available: " + why + ". Try again.", null, server(), cause);
    }

    /** What a cell tells; on the thread of all cells of this client. */
    private void heard(Notice notice, ClientCell origin) {
        if (!(notice instanceof LockNotice said)) {
            return;
        }
        if (said instanceof LockNotice.Granted granted) {
            sink(granted.user()).granted(hold(granted.handle(), origin), granted.token());
        } else if (said instanceof LockNotice.Waiting waiting) {
            OptionalInt ahead = waiting.ahead() < 0 ? OptionalInt.empty() : OptionalInt.of(waiting.ahead());
            sink(waiting.user()).waiting(ahead, owners(waiting.holders()));
        } else if (said instanceof LockNotice.Refused refused) {
            sink(refused.user()).refused(owners(refused.holders()));
        } else if (said instanceof LockNotice.Trouble trouble) {
            sink(trouble.user()).doubt(trouble.why());
        } else if (said instanceof LockNotice.Failed failed) {
            LockUnavailableException why = failed.lasting()
                    ? LockUnavailableException.lasting(failed.why(), origin.server())
                    : new LockUnavailableException(failed.why(), null, origin.server(), null);
            failed(failed.request(), why, failed.user());
        } else if (said instanceof LockNotice.Misdirected away) {
            String why = "another member decides on this name by now";
            failed(away.request(), new LockUnavailableException(why, null, origin.server(), null), away.user());
        } else if (said instanceof LockNotice.Doubted doubted) {
            sink(doubted.user()).doubt(doubted.why());
        } else if (said instanceof LockNotice.Certain certain) {
            sink(certain.user()).certain();
        } else if (said instanceof LockNotice.Ended ended) {
            sink(ended.user()).ended(ended.cause(), ended.detail());
        } else if (said instanceof LockNotice.ReleaseDone done) {
            CompletableFuture<Answer> release = releases.remove(new Use(done.key(), done.token()));
            if (release != null) {
                release.complete(done.answer());
            }
        } else if (said instanceof LockNotice.Closed closed) {
            holds.computeIfPresent(closed.key().id(), (name, hold) -> hold.handle == closed.handle() ? null : hold);
        } else if (said instanceof LockNotice.Told told) {
            admin.told(told);
        } else if (said instanceof LockNotice.Alarm alarm) {
            LOG.warn("{}", alarm.shown());
        }
    }

    private void failed(long request, LockUnavailableException why, @Nullable Object user) {
        if (!admin.failed(request, why) && user != null) {
            sink(user).failed(why);
        }
    }

    private static Sink sink(@Nullable Object user) {
        if (user instanceof Sink sink) {
            return sink;
        }
        throw new IllegalStateException("a notice for nobody");
    }

    private GrantHold hold(GrantHandle handle, ClientCell origin) {
        return holds.compute(
                handle.key().id(),
                (name, known) -> known != null && known.handle == handle ? known : new GrantHold(handle, origin));
    }

    @Override
    public TimeSource time() {
        return runtime.time();
    }

    @Override
    public void observe(Observer observer) {
        runtime.observe(observer);
    }

    @Override
    public void submit(Request request, Sink sink) {
        LockCall acquire = new LockCall.Acquire(
                request.id(),
                request.mode(),
                request.permits(),
                Math.max(1, request.capacity()),
                request.ttl().toNanos(),
                owner(request.owner().metadata()),
                request.queue(),
                request.queue(),
                patience,
                request.holdAtLeast().toNanos(),
                0,
                sink);
        try {
            post(key(request.key()), acquire);
        } catch (LockUnavailableException e) {
            sink.failed(e);
        }
    }

    @Override
    public boolean reacquire(
            LockKey key, LockMode mode, int permits, Duration ttl, Map<String, String> metadata, Sink sink) {
        GrantHold hold = holds.get(key.name().toString());
        if (hold == null) {
            return false;
        }
        GrantHandle handle = hold.handle;
        Owner owner = metadata.isEmpty() ? plainOwner : owner(metadata);
        long token = handle.tryReuse(mode, permits, ttl.toNanos(), owner, sink, time().nanoTime());
        if (token == 0) {
            return false;
        }
        sink.granted(hold, token);
        return true;
    }

    @Override
    public void withdraw(Request request) {
        tell(key(request.key()), new LockCall.Withdraw(request.id()));
    }

    @Override
    public Set<Feature> features() {
        return features;
    }

    @Override
    public Guarantees guarantees() {
        return guarantees;
    }

    /**
     * A member that has forgotten what it granted waits for as long as its longest lease lasts: that covers what it
     * kept.
     */
    @Override
    public Duration longestHoldAtLeast() {
        return guarantees.maxTtl();
    }

    @Override
    public CompletionStage<LockPage> list(String prefix, Optional<String> after, int max, Duration limit) {
        boolean noName = bytes(prefix) > LockName.MAX_BYTES;
        if (noName || after.filter(cursor -> bytes(cursor) > LockName.MAX_BYTES).isPresent()) {
            // No name is so long, and none follows one that is.
            return CompletableFuture.completedFuture(new LockPage(List.of(), Optional.empty()));
        }
        return admin.list(prefix, after.orElse(""), max, limit);
    }

    @Override
    public CompletionStage<Optional<LockStatus>> show(LockKey key, Duration limit) {
        if (key.kind() != LockKey.Kind.LOCK) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        return admin.show(key.name().toString(), limit);
    }

    @Override
    public CompletionStage<Boolean> breakGrant(LockKey key, long token, String reason, Duration limit) {
        if (key.kind() != LockKey.Kind.LOCK) {
            return CompletableFuture.completedFuture(false);
        }
        return admin.breakGrant(key.name().toString(), token, reason, limit);
    }

    @Override
    public CompletionStage<Integer> availablePermits(LockKey key, int capacity, Duration limit) {
        throw new UnsupportedOperationException("semaphores are not served; the façade refuses them before this");
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return runtime.unwrap(type);
    }

    @Override
    public void close() {
        runtime.close();
        closed = true;
        releases.values().forEach(release -> release.complete(Answer.UNKNOWN));
        admin.close();
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    private String server() {
        return runtime.server();
    }

    private void post(Key key, LockCall call) {
        runtime.post(new Input.Command(key, call));
    }

    /** What comes after a request, and is nothing to a cell that never had one. */
    private void tell(Key key, LockCall call) {
        runtime.tell(new Input.Command(key, call));
    }

    private Key key(LockKey key) {
        return LockKeys.lock(algorithm, key.name().toString());
    }

    private Owner owner(Map<String, String> metadata) {
        return metadata.isEmpty() ? plainOwner : new Owner(plainOwner.client(), metadata);
    }

    private static List<Owner> owners(List<Participant> parties) {
        return parties.stream().map(Participant::owner).toList();
    }

    /**
     * What the leases of one grant stand on. The end of each goes to the cell that has the grant: meanwhile the name
     * may be another member's.
     */
    private final class GrantHold implements Hold {
        final GrantHandle handle;
        private final Duration ttl;
        private final ClientCell origin;

        GrantHold(GrantHandle handle, ClientCell origin) {
            this.handle = handle;
            this.origin = origin;
            this.ttl = Duration.ofNanos(handle.ttl());
        }

        @Override
        public Duration ttl() {
            return ttl;
        }

        @Override
        public long deadlineNanos() {
            return handle.deadline();
        }

        @Override
        public CompletionStage<Answer> release(long token) {
            return handle.tryRelease(token, time().nanoTime()) ? DONE : release(token, false);
        }

        @Override
        public CompletionStage<Answer> abandon(long token) {
            return handle.tryRelease(token, time().nanoTime()) ? DONE : release(token, true);
        }

        private CompletionStage<Answer> release(long token, boolean unused) {
            CompletableFuture<Answer> answer =
                    releases.computeIfAbsent(new Use(handle.key(), token), use -> new CompletableFuture<>());
            origin.post(new Input.Command(handle.key(), new LockCall.Release(token, unused)));
            if (closed) {
                answer.complete(Answer.UNKNOWN); // nobody else will: the cell that would answer has gone
            }
            return answer;
        }

        @Override
        public void lapsed(long token) {
            origin.post(new Input.Command(handle.key(), new LockCall.Lapse(token)));
        }

        @Override
        public Optional<String> server() {
            return Optional.of(origin.server());
        }
    }

    /** A future, and no mere stage: whoever asks for its answer gets this one. */
    private static final CompletionStage<Answer> DONE = CompletableFuture.completedFuture(Answer.DONE);
}
