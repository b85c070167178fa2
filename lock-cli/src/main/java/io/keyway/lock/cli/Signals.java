// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import java.util.List;
import java.util.function.IntConsumer;
import sun.misc.Signal;

/**
 * The signals that ask this process to end, and that of a terminal's window. What the former do depends on what it is
 * doing; a signal that was ignored when it started, as under nohup, stays ignored and is so for the command too.
 */
final class Signals {
    static final int INT = 2;
    static final int TERM = 15;

    private volatile int received;
    private volatile IntConsumer action;

    Signals(IntConsumer action) {
        this.action = action;
    }

    /** The first signal interrupts {@code thread}, the second one ends this process on the spot. */
    static Signals interrupting(Thread thread) {
        Signals signals = new Signals(number -> thread.interrupt());
        for (String name : List.of("INT", "TERM", "HUP")) {
            handle(name, signals::on);
        }
        return signals;
    }

    /** Has the task run, on a thread of its own, when the window of the terminal has another size. */
    static void whenResized(Runnable task) {
        handle("WINCH", number -> task.run());
    }

    private static void handle(String name, IntConsumer action) {
        try {
            Signal.handle(new Signal(name), signal -> action.accept(signal.getNumber()));
        } catch (IllegalArgumentException e) {
            // The virtual machine was told to leave signals alone.
        }
    }

    private void on(int number) {
        IntConsumer first = action;
        if (received == 0) {
            received = number;
            action = first == action ? next -> Runtime.getRuntime().halt(ExitCode.ofSignal(next)) : action;
        }
        first.accept(number);
    }

    /** The first signal that came, 0 if none did. */
    int received() {
        return received;
    }

    /** From now on a signal does this. */
    void then(IntConsumer next) {
        action = next;
    }
}
