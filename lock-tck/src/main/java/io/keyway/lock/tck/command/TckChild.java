// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.command;

import io.keyway.lock.LockUrl;
import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckListener;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.check.TestPlace;
import io.keyway.lock.tck.command.Wire.Message;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * The JVM that a provider is tested in. It is told the URL and the configuration on standard input, so that no secret
 * stands on a command line, and reports on the standard output that it was given; what the provider prints goes to
 * standard error. When the parent is gone, it ends.
 */
final class TckChild {
    private static final Duration REMOVAL = Duration.ofSeconds(10);
    private static final Duration END = Duration.ofSeconds(20);

    private final PrintStream wire;
    private volatile boolean done;

    private TckChild(PrintStream wire) {
        this.wire = wire;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        PrintStream wire = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.setOut(System.err);
        System.setIn(InputStream.nullInputStream());
        Message.Order order = (Message.Order) Wire.parse(in.readLine()).orElseThrow();
        TckSubject subject = ServerCommands.of(order.server()).onto(TckSubject.of(order.url()), Path.of(order.log()));
        TckChild child = new TckChild(wire);
        if (order.place().isPresent()) {
            child.remove(in, subject, order.place().get(), order.config());
        } else {
            child.run(in, subject, order.config());
        }
        System.exit(0);
    }

    private void remove(BufferedReader in, TckSubject subject, String place, TckConfig config) {
        endWith(in);
        done = true;
        Duration limit = Duration.ofMillis((long) (REMOVAL.toMillis() * config.timeFactor()));
        say(TestPlace.obstacle(LockUrl.parse(subject.url()), LockUrl.parse(place), subject.loader(), limit)
                .<Message>map(Message.Broken::new)
                .orElseGet(() -> new Message.Left(Optional.empty())));
    }

    private void run(BufferedReader in, TckSubject subject, TckConfig config) throws InterruptedException {
        endWith(in);
        Runtime.getRuntime().addShutdownHook(new Thread(this::lastWords, "tck-last-words"));
        try {
            TckResult result = TckRunner.run(subject, config, listener());
            done = true;
            say(new Message.Ended(result.ended(result.took(), result.trouble(), List.of())));
        } catch (RuntimeException | Error e) {
            StringWriter stack = new StringWriter();
            e.printStackTrace(new PrintWriter(stack));
            done = true;
            say(new Message.Broken(stack.toString()));
        }
    }

    private TckListener listener() {
        return new TckListener() {
            @Override
            public void opened(TckResult subject) {
                say(new Message.Opened(subject));
            }

            @Override
            public void started(String id) {
                say(new Message.Started(id));
            }

            @Override
            public void left(Optional<LockUrl> place) {
                say(new Message.Left(place.map(LockUrl::reveal)));
            }

            @Override
            public void finished(CheckResult check) {
                say(new Message.Finished(check));
            }
        };
    }

    private void say(Message message) {
        String line = Wire.line(message);
        synchronized (wire) {
            wire.print(line + "\n");
            wire.flush();
        }
    }

    private static void endWith(BufferedReader parent) {
        daemon("tck-parent", () -> {
            try {
                while (parent.readLine() != null) {
                    // The parent has nothing more to say.
                }
            } catch (IOException e) {
                // As good as the end.
            }
            // What a check has left is removed on the way, unless the provider stands in it.
            daemon("tck-end", () -> {
                LockSupport.parkNanos(END.toNanos());
                Runtime.getRuntime().halt(1);
            });
            System.exit(1);
        });
    }

    private static void daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Before its time: who ends this JVM, and what it was about. */
    private void lastWords() {
        if (done) {
            return;
        }
        Map<Thread, StackTraceElement[]> stacks = Thread.getAllStackTraces();
        String culprit = "";
        boolean signal = false;
        for (Map.Entry<Thread, StackTraceElement[]> entry : stacks.entrySet()) {
            int exit = exit(entry.getValue());
            if (exit >= 0) {
                culprit = text(entry.getKey(), entry.getValue(), exit);
            }
            signal |= entry.getKey().getName().matches("SIG(INT|TERM|HUP) handler");
        }
        say(new Message.Dying(culprit.isEmpty() && signal, culprit));
    }

    /** The index of the frame that asked for the end; negative if there is none. */
    private static int exit(StackTraceElement... stack) {
        for (int i = stack.length - 1; i >= 0; i--) {
            String type = stack[i].getClassName();
            if ((type.equals("java.lang.System") || type.equals("java.lang.Runtime"))
                    && stack[i].getMethodName().equals("exit")) {
                return i;
            }
        }
        return -1;
    }

    private static String text(Thread thread, StackTraceElement[] stack, int from) {
        StringBuilder text = new StringBuilder("thread ").append(thread.getName());
        for (int i = from; i < stack.length; i++) {
            text.append("\n    at ").append(stack[i]);
        }
        return text.toString();
    }
}
