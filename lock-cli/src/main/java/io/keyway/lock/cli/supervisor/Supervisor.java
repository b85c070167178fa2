// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.supervisor;

import io.keyway.lock.peer.local.LocalGuard;
import java.io.PrintStream;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The process that makes sure that a command does not outlive its lock.
 *
 * <p><b>Who is whose parent.</b> {@code keyway run} starts two children: first this one, then the command. The command
 * is keyway's own child, since only a parent learns an exit code, and since a child of this process would inherit the
 * ignored signals. All three stay in one process group, so the command can read the terminal, Ctrl-C reaches it without
 * help, and the shell sees the job stop at Ctrl-Z: keyway and the command stop, this process ignores the signal and
 * goes on counting. If the job stays stopped beyond the lease, the command is killed where it stands and keyway,
 * continued, finds its lock lost.
 *
 * <p><b>What it is told</b>, line by line on standard input ({@link SupervisorProtocol}): the end of the lease with
 * each extension, and the command's pid. <b>What it does</b>: at the deadline, SIGTERM; a grace later, SIGKILL, again
 * and again until nothing of the command is left. When its input ends, keyway is dead: SIGKILL at once.
 *
 * <p><b>Why it survives.</b> A shell ignores INT, TERM, HUP, QUIT and the stop signals and then becomes this virtual
 * machine, which runs with {@code -Xrs} and so leaves them ignored. If it dies nevertheless, keyway starts another.
 *
 * <p>It is written to start quickly: few classes and no lambda.
 */
public final class Supervisor {
    /** A command that keyway was starting when it died may not yet carry its mark. */
    private static final long LATE_START_NANOS = 1_000_000_000L;

    private static final CommandClock CLOCK = CommandClock.SYSTEM;
    private static final long LOOK_AGAIN_NANOS = 10_000_000L;

    private final CommandProcesses processes;
    private final Inbox inbox;
    private final PrintStream replies;
    private final LeaseWatch watch = new LeaseWatch();
    private boolean starting;
    private boolean started;
    private boolean ended;

    private Supervisor(CommandProcesses processes, Inbox inbox, PrintStream replies) {
        this.processes = processes;
        this.inbox = inbox;
        this.replies = replies;
    }

    /** One argument: the name of the variable that marks the command's processes. */
    public static void main(String[] args) throws InterruptedException {
        Inbox inbox = new Inbox(System.in);
        inbox.start();
        Supervisor supervisor = new Supervisor(new CommandProcesses(args[0]), inbox, System.out);
        supervisor.reply(SupervisorProtocol.READY, CLOCK.nanoTime());
        // Loads what a kill needs, while there is time.
        supervisor.processes.running();
        supervisor.serve();
    }

    private void serve() throws InterruptedException {
        String line = inbox.next(null);
        while (!Inbox.CLOSED.equals(line)) {
            if (line != null && !obey(line.split(" ", 3))) {
                return;
            }
            act();
            line = inbox.next(nextLook());
        }
        if (starting && killWhatIsLeft()) {
            System.err.println("keyway: the keyway process ended unexpectedly; its command was killed.");
        }
    }

    private boolean killWhatIsLeft() throws InterruptedException {
        long begin = CLOCK.nanoTime();
        boolean any = false;
        do {
            any |= processes.killAll();
            CLOCK.pause(1_000_000);
        } while (!started && CLOCK.nanoTime() - begin < LATE_START_NANOS);
        return any;
    }

    /** False: nothing is left to do. */
    private boolean obey(String[] words) {
        switch (words[0]) {
            case SupervisorProtocol.DEADLINE -> watch.deadline(Long.parseLong(words[1]), Long.parseLong(words[2]));
            case SupervisorProtocol.GUARD -> guard(Long.parseLong(words[1]), words[2]);
            case SupervisorProtocol.STARTING -> starting = true;
            case SupervisorProtocol.COMMAND -> {
                started = true;
                processes.startedAs(Long.parseLong(words[1]));
            }
            case SupervisorProtocol.TERMINATE -> watch.lapsed(CLOCK.nanoTime());
            case SupervisorProtocol.KILL -> watch.kill(CLOCK.nanoTime());
            case SupervisorProtocol.END -> {
                return false;
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
        return true;
    }

    /** On one machine the locks of a dead process are free at once; while this byte is locked, keyway is not dead. */
    private void guard(long position, String file) {
        try {
            LocalGuard.take(Path.of(file), position);
            reply(SupervisorProtocol.GUARDING, CLOCK.nanoTime());
        } catch (RuntimeException e) {
            replies.print(SupervisorProtocol.UNGUARDED + " "
                    + String.valueOf(e.getMessage()).replace('\n', ' ') + "\n");
            replies.flush();
        }
    }

    private void act() throws InterruptedException {
        if (!starting || ended) {
            return;
        }
        LeaseWatch.Step step = watch.at(CLOCK.nanoTime());
        if (step == LeaseWatch.Step.TERMINATE) {
            reply(SupervisorProtocol.LAPSED, CLOCK.nanoTime());
            processes.terminate();
        } else if (step == LeaseWatch.Step.KILL) {
            processes.killAll();
        }
        // Until its pid is told, a command without a trace may be one that has not yet begun.
        if (watch.isOver() && started && processes.running().isEmpty()) {
            ended = true;
            reply(SupervisorProtocol.ENDED, CLOCK.nanoTime());
        }
    }

    private @Nullable Long nextLook() {
        if (ended || !starting) {
            return null;
        }
        return watch.isOver() ? Long.valueOf(CLOCK.nanoTime() + LOOK_AGAIN_NANOS) : watch.nextAt();
    }

    private void reply(String word, long clock) {
        replies.print(word + " " + clock + "\n");
        replies.flush();
    }
}
