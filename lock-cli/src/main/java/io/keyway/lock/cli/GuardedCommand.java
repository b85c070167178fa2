// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.cli.supervisor.CommandProcesses;
import io.keyway.lock.cli.supervisor.ProcessEntry;
import io.keyway.lock.cli.supervisor.Supervision;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A command that runs while a lease is held. The lease is released when all processes of the command have ended: like
 * with flock(1), a process that it left in the background keeps the lock.
 *
 * <p>When the lease expires, the command has an eighth of the ttl to end by itself: belief ends at three quarters of
 * the ttl, so nobody else is granted the lock before that. When it ends in another way, somebody else may hold the lock
 * already, and the command is killed.
 */
final class GuardedCommand {
    private static final long FIRST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LAST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long READY_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Console console;
    private final CommandLineWords words;
    private final HeldLocks lease;
    private final Supervision supervision;
    private final Signals signals;
    /** Completed when the command has to end; empty if it is the supervisor that says so. */
    private final CompletableFuture<Optional<LeaseLoss>> lost = new CompletableFuture<>();

    private volatile String supervisorsWord = "it was not renewed in time";
    private volatile boolean onlyRestIsLeft;
    private volatile @Nullable Process process;

    GuardedCommand(Console console, CommandLineWords words, HeldLocks lease, Supervision supervision, Signals signals) {
        this.console = console;
        this.words = words;
        this.lease = lease;
        this.supervision = supervision;
        this.signals = signals;
    }

    /** Starts what will see to the end of the command. */
    static Supervision supervise() {
        try {
            return Supervision.begin();
        } catch (IOException e) {
            throw new CommandException(ExitCode.UNAVAILABLE, "the supervisor cannot be started: " + e.getMessage(), e);
        }
    }

    /** Returns the exit code of keyway; the lease has been released, or is lost. */
    int run() throws InterruptedException {
        signals.then(this::forward);
        try (lease) {
            if (signals.received() != 0) {
                throw new InterruptedException();
            }
            supervision.awaitReady(READY_WITHIN_NANOS);
            try (LeaseFeed feed = LeaseFeed.begin(lease, supervision, console.clock())) {
                return runSupervised(feed);
            }
        } catch (IOException e) {
            throw new CommandException(
                    ExitCode.UNAVAILABLE, "nothing was run, as the supervisor failed: " + e.getMessage() + ".", e);
        }
    }

    private int runSupervised(LeaseFeed feed) throws IOException, InterruptedException {
        supervision.starting();
        if (!lease.isHeld()) {
            console.say(lease.subject() + " lost before " + words.program() + " could be started.");
            return ExitCode.LOST;
        }
        Process started = start();
        process = started;
        boolean over = false;
        try {
            int code = runStarted(started, feed);
            over = true;
            return code;
        } finally {
            if (!over) {
                // Whatever failed here: the lock is not given back while the command runs.
                started.destroyForcibly();
                killAll(supervision.processes());
            }
        }
    }

    private int runStarted(Process started, LeaseFeed feed) throws InterruptedException {
        supervision.started(started.pid());
        int early = signals.received();
        if (early != 0) {
            // It came before there was anybody to pass it on to.
            forward(early);
        }
        lease.lost().thenAccept(this::onLoss);
        supervision.over().thenAccept(this::onEndBySupervisor);
        int code = exitCode(started);
        if (isHeld()) {
            onlyRestIsLeft = true;
            awaitRest();
        }
        if (!isHeld()) {
            return afterLoss(feed);
        }
        supervision.close();
        if (lease.release() == ReleaseOutcome.UNKNOWN) {
            console.say("the release of " + lease.names() + " was not confirmed; free within "
                    + Durations.show(lease.ttl()) + " at the latest.");
        }
        return code;
    }

    private Process start() {
        ProcessBuilder builder = new ProcessBuilder(words.words()).inheritIO();
        CommandEnvironment.prepare(builder.environment(), lease, supervision.mark());
        try {
            return builder.start();
        } catch (IOException e) {
            String message = String.valueOf(e.getMessage());
            boolean missing = message.contains("error=2,");
            throw new CommandException(
                    missing ? ExitCode.NOT_FOUND : ExitCode.CANNOT_RUN,
                    words.program() + (missing ? " is not found." : " cannot be run: " + reason(message) + "."),
                    e);
        }
    }

    private static String reason(String message) {
        int at = message.lastIndexOf("error=");
        int comma = message.indexOf(", ", Math.max(at, 0));
        return at < 0 || comma < 0 ? message : message.substring(comma + 2);
    }

    private boolean isHeld() {
        return !lost.isDone() && lease.isHeld();
    }

    private int exitCode(Process process) {
        while (true) {
            try {
                return process.waitFor();
            } catch (InterruptedException e) {
                // A signal that came just before the command did. To stay interrupted would end the wait for its rest.
                forward(signals.received());
            }
        }
    }

    private void awaitRest() throws InterruptedException {
        long pause = FIRST_LOOK_NANOS;
        boolean told = false;
        for (List<ProcessEntry> rest = running(); !rest.isEmpty() && isHeld(); rest = running()) {
            if (!told) {
                told = true;
                ProcessEntry first = rest.get(0);
                console.say(words.program() + " has ended and left " + rest.size()
                        + (rest.size() == 1 ? " process" : " processes") + " (" + first.name() + ", pid " + first.pid()
                        + "); " + lease.names() + " is kept until " + (rest.size() == 1 ? "it ends." : "they end."));
            }
            console.clock().pause(pause);
            pause = Math.min(2 * pause, LAST_LOOK_NANOS);
        }
    }

    private List<ProcessEntry> running() {
        return supervision.processes().running();
    }

    private void onLoss(LeaseLoss loss) {
        boolean expired = loss.cause() == LeaseLoss.Cause.EXPIRED;
        if (expired) {
            supervision.terminate();
        } else {
            supervision.kill();
        }
        lost.complete(Optional.of(loss));
        if (expired) {
            console.clock().pauseOrInterrupt(LeaseFeed.grace(lease).toNanos());
        }
        // The supervisor does the same; it may be stopped.
        killAll(supervision.processes());
    }

    private void onEndBySupervisor(String why) {
        supervisorsWord = why;
        lost.complete(Optional.empty());
    }

    private int afterLoss(LeaseFeed feed) throws InterruptedException {
        String why = why(feed);
        killAll(supervision.processes());
        supervision.close();
        console.say(lease.subject() + " lost (" + why + "); " + words.program() + " was ended.");
        return ExitCode.LOST;
    }

    private String why(LeaseFeed feed) throws InterruptedException {
        if (lease.isHeld()) {
            return supervisorsWord;
        }
        LeaseLoss loss;
        try {
            // The supervisor sees the end of the term too, but the lease knows more.
            loss = lease.lost().toCompletableFuture().get(1, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            return supervisorsWord;
        }
        if (loss.cause() == LeaseLoss.Cause.EXPIRED && feed.ranOut()) {
            Duration pause = feed.stoodStill();
            return pause.compareTo(lease.ttl().dividedBy(4)) > 0
                    ? "keyway itself was stopped for " + Durations.show(pause)
                    : loss.server().orElse("the store") + " has not answered for "
                            + Durations.show(lease.ttl().multipliedBy(3).dividedBy(4));
        }
        String server = loss.cause() == LeaseLoss.Cause.BROKEN
                ? ""
                : loss.server().map(name -> name + ": ").orElse("");
        return loss.detail().startsWith(server) ? loss.detail() : server + loss.detail();
    }

    private void forward(int signal) {
        Process to = process;
        if (to == null) {
            return;
        }
        if (onlyRestIsLeft) {
            supervision.processes().terminate();
        } else if (signal == Signals.TERM) {
            to.toHandle().destroy();
        }
        // Ctrl-C and the end of a terminal reach the command without us.
    }

    private static void killAll(CommandProcesses processes) {
        try {
            processes.killAll();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
