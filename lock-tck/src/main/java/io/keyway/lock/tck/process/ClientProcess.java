// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.process;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** A process with a client of its own that does what it is told: acquires, asks, releases. Closing kills it. */
public final class ClientProcess implements AutoCloseable {
    private static final String TOKEN = "token ";
    private static final String FAILED = "failed ";

    private final ChildJvm jvm;

    private ClientProcess(ChildJvm jvm) {
        this.jvm = jvm;
    }

    /** Starts a process that opens a client of that URL; returns when it is open. */
    public static ClientProcess open(String url) throws InterruptedException {
        return open(List.of(), url);
    }

    /** Starts a process with these options of its JVM, which opens a client of that URL; returns when it is open. */
    public static ClientProcess open(List<String> options, String url) throws InterruptedException {
        return opened(ChildJvm.start(options, ClientProgram.class), url);
    }

    /**
     * Starts a process of that class path, which opens a client of that URL with that name and ttl; returns when it is
     * open.
     */
    public static ClientProcess open(String classPath, String url, String name, Duration ttl)
            throws InterruptedException {
        return open(List.of(), classPath, url, name, ttl);
    }

    /** The same, whose command follows those words. */
    public static ClientProcess open(List<String> before, String classPath, String url, String name, Duration ttl)
            throws InterruptedException {
        return opened(
                ChildJvm.startOn(before, classPath, ClientProgram.class, name, Long.toString(ttl.toMillis())), url);
    }

    /** The URL is told, since a command line can be read by everybody. */
    private static ClientProcess opened(ChildJvm jvm, String url) throws InterruptedException {
        jvm.ask(url, "ready");
        return new ClientProcess(jvm);
    }

    /** The process, to be killed or stopped. */
    public ChildJvm jvm() {
        return jvm;
    }

    /**
     * Tries to acquire a lock.
     *
     * @return the token; empty if it was held by another one all the time
     * @throws AssertionError if the client failed otherwise, with its message
     */
    public OptionalLong acquire(String name, Duration wait) throws InterruptedException {
        String answer = tryAcquire(name, wait);
        if (answer.startsWith(FAILED)) {
            throw new AssertionError(answer);
        }
        return token(answer);
    }

    /** As {@link #acquire}, but empty too if the client failed, as it does when no server can be reached. */
    public OptionalLong acquireIfReachable(String name, Duration wait) throws InterruptedException {
        return token(tryAcquire(name, wait));
    }

    private String tryAcquire(String name, Duration wait) throws InterruptedException {
        return ask("acquire " + name + " " + wait.toMillis());
    }

    private static OptionalLong token(String answer) {
        return answer.startsWith(TOKEN)
                ? OptionalLong.of(Long.parseLong(answer.substring(TOKEN.length())))
                : OptionalLong.empty();
    }

    /** What the lease of that name that was acquired last says of itself. */
    public boolean isHeld(String name) throws InterruptedException {
        return Boolean.parseBoolean(ask("held " + name));
    }

    /** Waits until that lease says that it was lost, and why; empty if it does not. */
    public Optional<LeaseLoss.Cause> loss(String name, Duration wait) throws InterruptedException {
        String answer = ask("loss " + name + " " + wait.toMillis());
        return answer.equals("none") ? Optional.empty() : Optional.of(LeaseLoss.Cause.valueOf(answer));
    }

    /** Releases that lease. */
    public ReleaseOutcome release(String name) throws InterruptedException {
        return ReleaseOutcome.valueOf(ask("release " + name));
    }

    private String ask(String line) throws InterruptedException {
        return jvm.ask(line, "answer");
    }

    @Override
    public void close() throws InterruptedException {
        jvm.close();
    }
}
