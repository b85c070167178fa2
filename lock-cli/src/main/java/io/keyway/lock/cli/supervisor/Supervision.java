// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.supervisor;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a {@link Supervisor} alive beside this process for the time of one command, and tells it what it has to know.
 *
 * <p>When a supervisor dies, another takes its place and is told everything again. When none can be started any more,
 * the command is killed from here, since nothing would end it if this process died too.
 *
 * <p>Nothing here waits for a supervisor that is stopped: lines go out through a thread of their own.
 */
public final class Supervision implements AutoCloseable {
    private static final int MOST_DEADLINES_IN_THE_PIPE = 16;
    private static final int MOST_STARTS_IN_VAIN = 3;

    private final String mark;
    private final CommandProcesses processes;
    private final ExecutorService outbox =
            Executors.newSingleThreadExecutor(task -> daemon(task, "keyway-supervision-out"));
    private final AtomicInteger queuedDeadlines = new AtomicInteger();
    private final CompletableFuture<Void> ready = new CompletableFuture<>();
    private final CompletableFuture<String> over = new CompletableFuture<>();

    private final CompletableFuture<Void> guarding = new CompletableFuture<>();

    private @Nullable SupervisorProcess current;
    private @Nullable String guardLine;
    private long clockOffset;
    private boolean currentIsReady;
    private long deadline;
    private long grace = -1;
    private boolean starting;
    private long command = -1;
    private @Nullable String order;
    private boolean closed;

    private Supervision(String mark) {
        this.mark = mark;
        this.processes = new CommandProcesses(mark);
    }

    /** Starts a supervisor and returns without waiting for it. */
    public static Supervision begin() throws IOException {
        Supervision supervision = new Supervision(
                "KEYWAY_RUN_" + Long.toHexString(ThreadLocalRandom.current().nextLong()));
        long asked = CommandClock.SYSTEM.nanoTime();
        SupervisorProcess first = SupervisorProcess.start(supervision.mark);
        daemon(() -> supervision.keepOne(first, asked), "keyway-supervision-in").start();
        return supervision;
    }

    /** The variable that the command must have in its environment, with any value. */
    public String mark() {
        return mark;
    }

    /** The processes of the command, as this process sees them. */
    public CommandProcesses processes() {
        return processes;
    }

    /** The supervisor that listens now, -1 while there is none. */
    synchronized long supervisorPid() {
        return current == null || !currentIsReady ? -1 : current.pid();
    }

    /** Completes, with a sentence, when the command is being ended without keyway having asked for it. */
    public CompletionStage<String> over() {
        return over;
    }

    /**
     * The lease is good until {@code at} on this process's {@link System#nanoTime()}; then the command has
     * {@code graceNanos} to end.
     */
    public synchronized void leaseUntil(long at, long graceNanos) {
        deadline = at;
        grace = graceNanos;
        if (queuedDeadlines.get() < MOST_DEADLINES_IN_THE_PIPE) {
            queuedDeadlines.incrementAndGet();
            tell(deadlineLine(), queuedDeadlines::decrementAndGet);
        }
    }

    /** The supervisor, and any that follows it, keeps this byte of the file locked for its life. */
    public synchronized void guard(Path file, long position) {
        guardLine = SupervisorProtocol.GUARD + " " + position + " " + file;
        tell(guardLine);
    }

    /** Waits until a supervisor listens and has locked what it was told to lock. */
    public void awaitReady(long limitNanos) throws IOException, InterruptedException {
        long begin = CommandClock.SYSTEM.nanoTime();
        await(ready, limitNanos);
        boolean guarded;
        synchronized (this) {
            guarded = guardLine != null;
        }
        if (guarded) {
            await(guarding, limitNanos - (CommandClock.SYSTEM.nanoTime() - begin));
        }
    }

    /**
     * To be called before the command is started; returns when the supervisor will know, whatever happens to keyway.
     */
    public void starting() throws IOException, InterruptedException {
        CountDownLatch told = new CountDownLatch(1);
        synchronized (this) {
            starting = true;
            tell(SupervisorProtocol.STARTING, told::countDown);
        }
        if (!told.await(5, TimeUnit.SECONDS)) {
            throw new IOException("the supervisor does not listen");
        }
    }

    /** The command runs as {@code pid}. */
    public synchronized void started(long pid) {
        command = pid;
        processes.startedAs(pid);
        tell(SupervisorProtocol.COMMAND + " " + pid);
    }

    /** The lease has expired: SIGTERM now, SIGKILL after the grace. */
    public synchronized void terminate() {
        order = SupervisorProtocol.TERMINATE;
        tell(order);
    }

    /** The lock may be somebody else's: SIGKILL now. */
    public synchronized void kill() {
        order = SupervisorProtocol.KILL;
        tell(order);
    }

    /** Nothing of the command runs any more: lets the supervisor go. */
    @Override
    public void close() {
        CountDownLatch told = new CountDownLatch(1);
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            tell(SupervisorProtocol.END, told::countDown);
            outbox.shutdown();
        }
        try {
            // Without this word it would take our end for a crash. One that is stopped has nothing to do any more.
            if (!told.await(1, TimeUnit.SECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void await(CompletableFuture<Void> what, long limitNanos) throws IOException, InterruptedException {
        try {
            what.get(limitNanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new IOException("it does not answer", e);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            throw new IOException(cause == null ? "unknown" : cause.getMessage(), e);
        }
    }

    private void tell(String line) {
        tell(line, () -> {});
    }

    /**
     * Sends a line, then runs {@code then}; before a supervisor is ready nothing is sent, as it is told everything
     * then.
     */
    private void tell(String line, Runnable then) {
        SupervisorProcess to = current;
        if (to == null || outbox.isShutdown() || !(currentIsReady || line.equals(SupervisorProtocol.END))) {
            then.run();
            return;
        }
        outbox.execute(() -> {
            try {
                to.send(line);
            } catch (IOException gone) {
                // The reading thread sees it too, and starts another, which is told everything.
            }
            then.run();
        });
    }

    private String deadlineLine() {
        return SupervisorProtocol.DEADLINE + " " + (deadline + clockOffset) + " " + grace;
    }

    private void keepOne(SupervisorProcess first, long firstAsked) {
        SupervisorProcess process = first;
        long asked = firstAsked;
        int inVain = 0;
        while (true) {
            inVain = serve(process, asked) ? 0 : inVain + 1;
            synchronized (this) {
                currentIsReady = false;
                if (closed) {
                    return;
                }
            }
            try {
                if (inVain == MOST_STARTS_IN_VAIN) {
                    throw new IOException("it ended " + inVain + " times as soon as it was started");
                }
                asked = CommandClock.SYSTEM.nanoTime();
                process = SupervisorProcess.start(mark);
            } catch (IOException e) {
                giveUp(e);
                return;
            }
        }
    }

    /** Listens to one supervisor until it is gone; true if it ever was ready. */
    private boolean serve(SupervisorProcess process, long asked) {
        synchronized (this) {
            current = process;
            if (closed) {
                process.hangUp();
                return false;
            }
        }
        boolean wasReady = false;
        for (String[] words = process.receive(); words != null; words = process.receive()) {
            switch (words[0]) {
                case SupervisorProtocol.READY -> {
                    wasReady = true;
                    welcome(SharedClock.offset(asked, Long.parseLong(words[1]), CommandClock.SYSTEM.nanoTime()));
                }
                case SupervisorProtocol.GUARDING -> guarding.complete(null);
                case SupervisorProtocol.UNGUARDED -> unguarded(words.length < 2 ? "" : words[1]);
                case SupervisorProtocol.LAPSED, SupervisorProtocol.ENDED ->
                    over.complete("its lease ended without an extension");
                default -> {
                    // A word of a later version.
                }
            }
        }
        return wasReady;
    }

    /** Before the command runs this prevents it; after that the lease, which ends by its term, still protects it. */
    private void unguarded(String why) {
        guarding.completeExceptionally(new IOException(why));
    }

    private synchronized void welcome(long offset) {
        clockOffset = offset;
        currentIsReady = true;
        if (guardLine != null) {
            tell(guardLine);
        }
        if (grace >= 0) {
            tell(deadlineLine());
        }
        if (starting) {
            tell(SupervisorProtocol.STARTING);
        }
        if (command >= 0) {
            tell(SupervisorProtocol.COMMAND + " " + command);
        }
        if (order != null) {
            tell(order);
        }
        ready.complete(null);
    }

    private void giveUp(IOException why) {
        ready.completeExceptionally(why);
        over.complete("its supervisor died and no other can be started: " + why.getMessage());
        // Otherwise the command would outlive its lock if this process was killed.
        try {
            processes.killAll();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }
}
