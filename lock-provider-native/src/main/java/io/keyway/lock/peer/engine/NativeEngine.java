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
import io.keyway.lock.peer.ClusterMembers;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Probe;
import io.keyway.lock.spi.RaisingEngine;
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
public final class NativeEngine implements RaisingEngine {
    private static final Logger LOG = LoggerFactory.getLogger(NativeEngine.class);

    private final Owner plainOwner;
    private final int algorithm;
    private final boolean trees;
    private final long patience;
    private final Set<Feature> features;
    private final Guarantees guarantees;
    private final HeldByName held = new HeldByName();
    private final OpenReleases releases = new OpenReleases();
    private final UntoldUses untold;
    private final Admin admin;
    private final ClientRuntime runtime;
    private final Optional<ClusterMembers> members;
    private volatile @Nullable Observer observer;

    /** What comes back with a grant that took the place of another one, in another mode. */
    private record Conversion(GrantHold from, long token, Sink sink) {}

    /**
     * An engine over the cells of that client.
     *
     * @param client the client's name, for others to see
     * @param algorithm the one that its cells run
     * @param requestTimeout how long an attempt that does not wait may take
     * @param runtime opens the client; is given whom to tell what its cells tell, and which of them
     */
    public NativeEngine(
            String client,
            Algorithm algorithm,
            Duration requestTimeout,
            Set<Feature> features,
            Guarantees guarantees,
            Function<BiConsumer<Notice, ClientCell>, ClientRuntime> runtime) {
        this.algorithm = algorithm.id();
        this.trees = algorithm.locksTrees();
        this.plainOwner = new Owner(client, Map.of());
        // Half of it is for the way there and back.
        this.patience = requestTimeout.toNanos() / 2;
        this.features = features;
        this.guarantees = guarantees;
        this.admin = new Admin(algorithm.id(), this::post, this::server);
        this.untold = new UntoldUses(NativeEngine::tell, this::after);
        this.runtime = runtime.apply(this::heard);
        this.members = algorithm.listKeeper().map(keeper -> new MemberListClient(keeper, admin, this.runtime));
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

    /** What a cell tells; on the thread of all cells of this client, which a sink that fails does not end. */
    private void heard(Notice notice, ClientCell origin) {
        try {
            if (notice instanceof LockNotice said) {
                heard(said, origin);
            }
        } catch (RuntimeException e) {
            LOG.error("a user of this client failed; the others go on", e);
        }
    }

    private void heard(LockNotice said, ClientCell origin) {
        if (said instanceof LockNotice.Granted granted) {
            if (granted.user() instanceof Conversion conversion) {
                conversion.from().becameAnother(conversion.token());
            }
            GrantHold hold = hold(granted.handle(), origin);
            sink(granted.user()).granted(hold, granted.token());
            hold.wasTold(granted.token());
        } else if (said instanceof LockNotice.Waiting waiting) {
            OptionalInt ahead = waiting.ahead() < 0 ? OptionalInt.empty() : OptionalInt.of(waiting.ahead());
            sink(waiting.user()).waiting(ahead, owners(waiting.holders()));
        } else if (said instanceof LockNotice.Refused refused) {
            sink(refused.user()).refused(owners(refused.holders()));
        } else if (said instanceof LockNotice.Trouble trouble) {
            trouble.tell(sink(trouble.user()));
        } else if (said instanceof LockNotice.Failed failed) {
            LockUnavailableException why = failed.lasting()
                    ? LockUnavailableException.lasting(failed.why(), origin.server())
                    : new LockUnavailableException(failed.why(), null, origin.server(), null);
            failed(failed.request(), why, failed.user());
        } else if (said instanceof LockNotice.Misdirected away) {
            String why = "another member decides on this name by now";
            failed(away.request(), new LockUnavailableException(why, null, origin.server(), null), away.user());
        } else if (said instanceof LockNotice.OfUse ofUse) {
            if (!untold.keeps(ofUse, held.covering(ofUse.key(), ofUse.token()))) {
                tell(ofUse);
            }
        } else if (said instanceof LockNotice.ReleaseDone done) {
            releases.done(done);
        } else if (said instanceof LockNotice.Closed closed) {
            held.closed(closed.handle());
        } else if (said instanceof LockNotice.Sought sought) {
            Observer told = observer;
            if (told != null) {
                told.probed(LockKeys.named(sought.key().id()), sought.token(), sought.ahead(), sought.probe());
            }
        } else if (said instanceof LockNotice.ClusterChanged changed) {
            Observer told = observer;
            if (told != null) {
                told.clusterChanged(changed.type(), origin.server());
            }
        } else if (said instanceof LockNotice.Told told) {
            admin.told(told);
        } else if (said instanceof LockNotice.Alarm alarm) {
            LOG.warn("{}", alarm.shown());
        }
    }

    private static void tell(LockNotice.OfUse said) {
        Sink sink = sink(said.user());
        if (said instanceof LockNotice.Doubted doubted) {
            sink.doubt(doubted.why());
        } else if (said instanceof LockNotice.Certain) {
            sink.certain();
        } else if (said instanceof LockNotice.Ended ended) {
            sink.ended(ended.cause(), ended.detail());
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
        } else if (user instanceof Conversion conversion) {
            return conversion.sink();
        }
        throw new IllegalStateException("a notice for nobody");
    }

    private GrantHold hold(GrantHandle handle, ClientCell origin) {
        return held.on(handle, () -> new GrantHold(handle, origin, time(), releases));
    }

    @Override
    public TimeSource time() {
        return runtime.time();
    }

    @Override
    public void observe(Observer user) {
        observer = user;
        runtime.observe(user);
    }

    @Override
    public boolean locksTrees() {
        return trees;
    }

    @Override
    public void probe(LockKey key, long request, Probe probe) {
        tell(key(key), new LockCall.Seek(request, probe));
    }

    @Override
    public void submit(Request request, Sink sink) {
        try {
            post(key(request.key()), acquire(request, 0, sink));
        } catch (LockUnavailableException e) {
            sink.failed(e);
        }
    }

    @Override
    public void convert(Hold of, long token, Request wanted, Sink sink) {
        GrantHold hold = (GrantHold) of;
        try {
            hold.post(acquire(wanted, token, new Conversion(hold, token, sink)));
        } catch (LockUnavailableException e) {
            sink.failed(e);
        }
    }

    /** {@code converts}: the token in use of the grant whose mode is to change; 0 for a new one. */
    private LockCall.Acquire acquire(Request request, long converts, Object user) {
        return new LockCall.Acquire(
                request.id(),
                request.mode(),
                request.permits(),
                request.capacity(),
                request.perResource(),
                request.ttl().toNanos(),
                owner(request.owner().metadata()),
                request.queue(),
                request.queue(),
                patience,
                request.holdAtLeast().toNanos(),
                0,
                converts,
                request.quiet().map(Duration::toNanos).orElse(LockMessage.Acquire.IN_THE_QUEUE),
                user);
    }

    @Override
    public boolean reacquire(
            LockKey key,
            LockMode mode,
            int permits,
            int capacity,
            Duration ttl,
            Map<String, String> metadata,
            Sink sink) {
        Owner owner = metadata.isEmpty() ? plainOwner : owner(metadata);
        return held.take(key, mode, permits, capacity, ttl.toNanos(), owner, sink, time().nanoTime());
    }

    @Override
    public void withdraw(Request request) {
        tell(key(request.key()), new LockCall.Withdraw(request.id()));
    }

    /** By the way of the request itself, which it would overtake otherwise; and to where that was sent away to. */
    @Override
    public void withdraw(Hold held, Request wanted) {
        ((GrantHold) held).post(new LockCall.Withdraw(wanted.id()));
        withdraw(wanted);
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
        return admin.show(key(key), limit);
    }

    @Override
    public Optional<CompletionStage<Long>> change(LockKey key, long known, Duration limit) {
        return Optional.of(admin.change(key(key), known, limit));
    }

    @Override
    public CompletionStage<Boolean> breakGrant(LockKey key, long token, String reason, Duration limit) {
        return admin.breakGrant(key(key), token, reason, limit);
    }

    @Override
    public CompletionStage<Boolean> raise(LockKey key, Hold hold, long token, long least, Duration limit) {
        return ((GrantHold) hold).handle().seal(token)
                ? admin.raise(key(key), least, limit)
                : CompletableFuture.completedStage(false);
    }

    @Override
    public CompletionStage<Integer> availablePermits(LockKey key, int capacity, Duration limit) {
        return admin.permitsOut(key(key), limit).thenApply(out -> Math.max(0, capacity - out));
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return type == ClusterMembers.class ? members.map(type::cast) : runtime.unwrap(type);
    }

    @Override
    public void close() {
        runtime.close();
        releases.close();
        admin.close();
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    private String server() {
        return runtime.server();
    }

    private void after(long nanos, Runnable task) {
        runtime.after(nanos, task);
    }

    private void post(Key key, LockCall call) {
        runtime.post(new Input.Command(key, call));
    }

    /** What comes after a request, and is nothing to a cell that never had one. */
    private void tell(Key key, LockCall call) {
        runtime.tell(new Input.Command(key, call));
    }

    private Key key(LockKey key) {
        String name = key.name().toString();
        return key.kind() == LockKey.Kind.LOCK ? LockKeys.lock(algorithm, name) : LockKeys.semaphore(algorithm, name);
    }

    private Owner owner(Map<String, String> metadata) {
        return metadata.isEmpty() ? plainOwner : new Owner(plainOwner.client(), metadata);
    }

    private static List<Owner> owners(List<Participant> parties) {
        return parties.stream().map(Participant::owner).toList();
    }
}
