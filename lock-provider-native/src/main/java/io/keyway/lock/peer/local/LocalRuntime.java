// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.peer.NativeOptions;
import io.keyway.lock.peer.Opening;
import io.keyway.lock.peer.engine.Cells;
import io.keyway.lock.peer.engine.ClientCell;
import io.keyway.lock.peer.engine.ClientRuntime;
import io.keyway.lock.peer.engine.ConnectionWatch;
import io.keyway.lock.peer.engine.OpeningWatch;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.member.LocalDirectory;
import io.keyway.lock.peer.net.CellLoop;
import io.keyway.lock.peer.net.ClientDialer;
import io.keyway.lock.peer.net.ClientLoop;
import io.keyway.lock.peer.net.MemberQuestions;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.SessionTarget;
import io.keyway.lock.peer.trace.CellTrace;
import io.keyway.lock.peer.trace.TraceLog;
import io.keyway.lock.peer.trace.Tracing;
import io.keyway.lock.spi.Leftovers;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client of this machine's member. While it lives it keeps a byte of clients.lock, by which others know that it does
 * ({@link LivenessByte}). Nothing is opened before the first request; then its cell asks for a link again and again,
 * and each time {@link HostSearch} finds the host.
 *
 * <p>The cell runs on a {@link ClientLoop}, with the links. Looks at the byte and for the host happen on a thread of
 * their own, and never wait for anybody. A byte that vanished, or whose file did, ends the session and all its leases:
 * the cell goes on under another byte ({@link Input.Reborn}).
 */
public final class LocalRuntime implements ClientRuntime {
    private static final Logger LOG = LoggerFactory.getLogger(LocalRuntime.class);
    private static final long CHECK_MILLIS = 100;

    private final String client;
    private final LivenessByte life;
    private final NativeOptions.Host host;
    private final long guard;
    private final long tokenFloor;
    private final ClientLoop io;
    private final BiConsumer<Notice, ClientCell> listener;
    private final Duration closeTimeout;
    private final ConnectionWatch connection = new ConnectionWatch();
    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable Running running;
    private volatile boolean closed;
    private volatile String server;
    private volatile @Nullable TraceLog log;
    private final OpeningWatch opening = new OpeningWatch();

    LocalRuntime(
            String client,
            LocalConfig config,
            NativeOptions.Host host,
            long guard,
            long tokenFloor,
            TimeSource time,
            BiConsumer<Notice, ClientCell> listener,
            Duration closeTimeout) {
        this.client = client;
        this.life = new LivenessByte(client, config, guard);
        this.host = host;
        this.guard = guard;
        this.tokenFloor = tokenFloor;
        this.io = new ClientLoop("keyway-" + client + "-io", time);
        this.listener = listener;
        this.closeTimeout = closeTimeout;
        this.server = "local:" + config.directory().path();
    }

    @Override
    public void post(Input input) {
        Running now = running;
        if (now == null) {
            now = start();
        }
        if (now != null) {
            now.loop.post(input);
        }
    }

    @Override
    public void tell(Input input) {
        Running now = running;
        if (now != null) {
            now.loop.post(input);
        }
    }

    @Override
    public void after(long nanos, Runnable task) {
        io.after(nanos, task);
    }

    /**
     * @throws LockUnavailableException if no byte can be locked; nothing is started then, and the next request tries
     *     again
     */
    private @Nullable Running start() {
        lock.lock();
        try {
            if (running == null && !closed) {
                running = new Running(life.take());
            }
            return running;
        } finally {
            lock.unlock();
        }
    }

    private LocalConfig config() {
        return life.config();
    }

    @Override
    public TimeSource time() {
        return io;
    }

    @Override
    public String server() {
        return server;
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        Opening.Watch watch = name -> opening.opening(server, System.nanoTime());
        Tracing tracing = new MemberQuestions(io, this::connected, () -> {
            start();
            return CompletableFuture.completedFuture(List.of(LocalConfig.NODE));
        });
        Leftovers leftovers = limit -> {
            close();
            LocalDirectory.remove(config().directory().path(), limit);
        };
        return Stream.of(watch, tracing, leftovers)
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst();
    }

    @Override
    public void trace(TraceLog into) {
        log = into;
    }

    private List<CellLoop> connected() {
        Running now = running;
        return now == null ? List.of() : List.of(now.loop);
    }

    @Override
    public void observe(LockEngine.Observer observer) {
        connection.add(observer);
    }

    @Override
    public void close() {
        Running ending;
        lock.lock();
        try {
            ending = closed ? null : running;
            closed = true;
        } finally {
            lock.unlock();
        }
        if (ending != null) {
            io.whereItMayWait(ending::end);
        }
    }

    /** The cell, its threads and its byte, from the first request on. */
    private final class Running implements CellLoop.Surroundings {
        final CellLoop loop;
        /** Looks at our byte and for the host; nothing that may take long. */
        private final ScheduledExecutorService worker =
                Executors.newSingleThreadScheduledExecutor(task -> daemon(task, "place"));

        private final HostSearch search;
        private final CompletableFuture<Void> saidGoodbye = new CompletableFuture<>();
        /** @param taken the byte that is taken */
        Running(long taken) {
            io.start();
            LocalHosts.OF_THIS_JVM.join(config().directory().path());
            HostSecret secret = new HostSecret();
            Cells cells = config().cells().proving(secret).giving(tokenFloor);
            Cell cell = cells.client(SessionTarget.ONLY_MEMBER, taken, guard);
            this.loop = new CellLoop(io, cell, this, System::nanoTime);
            TraceLog into = log;
            if (into != null) {
                loop.trace(CellTrace.ofClient(into));
            }
            ClientDialer dialer = new ClientDialer(
                    io,
                    loop,
                    cells.frameCodec(),
                    config().connectTimeout(),
                    Optional.empty(),
                    "the connection to the host");
            this.search = new HostSearch(client, life, host, loop, dialer, secret, worker, found -> server = found);
            watchLife();
        }

        private Thread daemon(Runnable task, String what) {
            Thread thread = new Thread(task, "keyway-" + client + "-" + what);
            thread.setDaemon(true);
            return thread;
        }

        @SuppressWarnings("FutureReturnValueIgnored") // the check itself says what went wrong
        private void watchLife() {
            worker.scheduleWithFixedDelay(
                    () -> life.check(loop::post), CHECK_MILLIS, CHECK_MILLIS, TimeUnit.MILLISECONDS);
        }

        @Override
        public void dial(long link) {
            onWorker(() -> search.attempt(link));
        }

        @Override
        public Optional<Input> failed(Throwable why) {
            LOG.error("all leases of {} are lost, since it has failed", client, why);
            return Optional.of(life.again("this client has failed: " + why));
        }

        @Override
        public void heard(Notice notice) {
            LocalRuntime client = LocalRuntime.this;
            listener.accept(notice instanceof LockNotice.Trouble trouble ? placed(trouble) : notice, client);
        }

        /** Names the process that does not answer, where the trouble itself names neither it nor the directory. */
        private LockNotice.Trouble placed(LockNotice.Trouble trouble) {
            return trouble.why().contains(config().directory().path().toString())
                    ? trouble
                    : trouble.because(
                            opening.why(trouble, server, System.nanoTime()).orElse(server + ": " + trouble.why()));
        }

        @Override
        public void turned(SessionLayer sessions) {
            ClientSession session = (ClientSession) sessions;
            connection.turned(session, server);
            opening.greeted(session.lastWelcome(), System.nanoTime());
            if (session.closed()) {
                saidGoodbye.complete(null);
            }
        }

        private void onWorker(Runnable task) {
            try {
                worker.execute(task);
            } catch (RejectedExecutionException e) {
                LOG.debug("{} has closed", client);
            }
        }

        /** Says goodbye, within the close timeout; what could not be said, the member sees by our byte. */
        void end() {
            loop.post(new Input.Closing());
            boolean interrupted = false;
            try {
                io.await(saidGoodbye, io.nanoTime() + closeTimeout.toNanos() / 4);
            } catch (InterruptedException e) {
                interrupted = true;
            } catch (ExecutionException | TimeoutException e) {
                LOG.trace("{}: no goodbye", client, e);
            }
            worker.shutdown();
            search.end();
            io.run(loop::shut);
            io.close();
            try {
                worker.awaitTermination(closeTimeout.toNanos() / 4, TimeUnit.NANOSECONDS);
                search.awaitEnd(closeTimeout.toNanos() / 4);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            life.end();
            LocalHosts.OF_THIS_JVM.leave(config().directory().path());
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
