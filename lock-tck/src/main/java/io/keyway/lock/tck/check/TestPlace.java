// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.spi.Leftovers;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The place beside the subject's URL that the checks of a run may change for good ({@code LockProvider.testUrl}), and
 * whether something may be left there. What is left when this JVM ends is removed by a shutdown hook, after the clients
 * of the check are closed, which would write again; the process that started the JVM is notified too, for an end that
 * runs no hooks. Any thread may ask.
 */
public final class TestPlace {
    private static final Logger LOG = System.getLogger(TestPlace.class.getName());
    private static final Duration AT_EXIT = Duration.ofSeconds(10);
    /** On a slow machine a lease may end in the first of them. */
    private static final int LOOKS = 5;

    private final LockUrl subject;
    private final Optional<LockUrl> url;
    private final boolean shared;
    private final ClassLoader loader;
    private final Consumer<Optional<LockUrl>> told;
    private @Nullable LockUrl left;
    private @Nullable Thread hook;
    /** Those that were opened since something may be left. */
    private final List<LockClient> clients = new ArrayList<>();

    /** So many are being opened, or remove what is left. */
    private int working;

    private boolean ending;

    /**
     * A place in which nothing is left.
     *
     * @param subject the URL that is tested
     * @param url the place; empty if the provider names none
     * @param shared whether the provider names the same for another run
     * @param loader finds the provider
     * @param told is given what may be left from now on; empty when nothing is
     */
    TestPlace(
            LockUrl subject,
            Optional<LockUrl> url,
            boolean shared,
            ClassLoader loader,
            Consumer<Optional<LockUrl>> told) {
        this.subject = subject;
        this.url = url;
        this.shared = shared;
        this.loader = loader;
        this.told = told;
    }

    /** A segment of names that no other run has, always of one length. */
    static String word() {
        long least = Long.parseLong("1000000000000", 36);
        return Long.toString(ThreadLocalRandom.current().nextLong(least, Long.MAX_VALUE), 36);
    }

    Optional<LockUrl> url() {
        return url;
    }

    boolean isShared() {
        return shared;
    }

    /** Where something may be left. */
    synchronized Optional<LockUrl> left() {
        return Optional.ofNullable(left);
    }

    /** A client is about to be opened there. */
    void changes(LockUrl where) {
        synchronized (this) {
            if (left == null) {
                hook = atExit(where);
            }
            left = where;
        }
        told.accept(Optional.of(where));
    }

    /** Nothing is left there. */
    void cleared() {
        Thread former;
        synchronized (this) {
            left = null;
            former = hook;
            hook = null;
            clients.clear();
        }
        told.accept(Optional.empty());
        if (former != null) {
            try {
                Runtime.getRuntime().removeShutdownHook(former);
            } catch (IllegalStateException e) {
                // It runs already, and finds nothing.
            }
        }
    }

    /**
     * Opens a client of a check.
     *
     * @throws IllegalStateException while what is left is removed at the end of this JVM
     */
    LockClient open(Supplier<LockClient> how) {
        if (!begins()) {
            throw new IllegalStateException("this JVM ends, and " + left + " is cleared: no client is opened");
        }
        LockClient client = null;
        try {
            client = how.get();
            return client;
        } finally {
            ended(client);
        }
    }

    /** Removes what is left there, of which no client is open; unless that is done since this JVM ends. */
    void removeLeft(Duration limit) throws Exception {
        LockUrl where = left().orElse(null);
        if (where == null || !begins()) {
            return;
        }
        try {
            remove(subject, where, loader, limit);
        } finally {
            ended(null);
        }
        cleared();
    }

    private synchronized boolean begins() {
        working += ending ? 0 : 1;
        return !ending;
    }

    private synchronized void ended(@Nullable LockClient client) {
        working--;
        if (client != null && left != null) {
            clients.add(client);
        }
        notifyAll();
    }

    /** No client is opened from now on; returns those that may write, unless one takes too long to open. */
    private synchronized List<LockClient> end(Duration limit) {
        ending = true;
        long from = System.nanoTime();
        try {
            for (long rest = limit.toNanos(); working > 0 && rest > 0; rest = limit.toNanos() - passed(from)) {
                TimeUnit.NANOSECONDS.timedWait(this, rest);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return List.copyOf(clients);
    }

    private @Nullable Thread atExit(LockUrl where) {
        Thread thread = new Thread(() -> removeAtExit(where), "tck-place");
        try {
            Runtime.getRuntime().addShutdownHook(thread);
            return thread;
        } catch (IllegalStateException e) {
            return null;
        }
    }

    /** A provider that hangs must not keep the JVM. */
    void removeAtExit(LockUrl where) {
        long from = System.nanoTime();
        List<Thread> closes = end(AT_EXIT.dividedBy(4)).stream()
                .map(client -> begin("tck-place-close", client::close))
                .toList();
        closes.forEach(close -> join(close, from, AT_EXIT.dividedBy(2)));
        Thread work = begin(
                "tck-place-removal",
                () -> obstacle(subject, where, loader, AT_EXIT.dividedBy(2))
                        .ifPresent(why -> LOG.log(Level.WARNING, "What a check has left is still there: " + why)));
        join(work, from, AT_EXIT);
    }

    private static long passed(long from) {
        return System.nanoTime() - from;
    }

    private static Thread begin(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void join(Thread thread, long from, Duration limit) {
        try {
            TimeUnit.NANOSECONDS.timedJoin(thread, Math.max(1, limit.toNanos() - passed(from)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Removes what is left at the place, if that is no place of applications: one in which a lock can be had while it
     * is held at the subject's URL.
     *
     * @param loader finds the provider
     * @param limit how long the removal may take
     * @throws Exception if something may be left
     */
    public static void remove(LockUrl subject, LockUrl place, ClassLoader loader, Duration limit) throws Exception {
        ClientOptions named = ClientOptions.defaults().withName("tck-place");
        try (LockClient here = Locks.open(subject, named, loader);
                LockClient there = Locks.open(place, named, loader)) {
            if (!areApart(here, there, "tck/place/" + word())) {
                throw new IllegalStateException(
                        "a lock that is held at " + subject + " keeps others out there, so that it may be in use");
            }
            there.unwrap(Leftovers.class).remove(limit);
        }
    }

    /** As {@link #remove}; returns why something may be left, without secrets, and where. Empty if nothing is. */
    public static Optional<String> obstacle(LockUrl subject, LockUrl place, ClassLoader loader, Duration limit) {
        try {
            remove(subject, place, loader, limit);
            return Optional.empty();
        } catch (Exception e) {
            return Optional.of(SecretMasker.of(subject).text(text(place, String.valueOf(e.getMessage()))));
        }
    }

    static String text(LockUrl place, String why) {
        return "what is left at " + place + ", a place for tests, was not removed: " + why + "; remove it yourself";
    }

    /**
     * Whether a lock can be had there while it is held here; both are in use for nothing else.
     *
     * @throws IllegalStateException if the lease here ended before that was known, each time
     */
    static boolean areApart(LockClient here, LockClient there, String name) throws InterruptedException {
        for (int i = 0; i < LOOKS; i++) {
            try (Lease held = here.lock(name).acquire()) {
                Lease same = there.lock(name).tryAcquire().orElse(null);
                boolean all = held.isHeld();
                if (same != null && same.release() == ReleaseOutcome.UNKNOWN) {
                    // It is released in the background, by a write after the removal.
                    throw new IllegalStateException("the release of a lock there was not answered in time");
                }
                if (all) {
                    return same != null;
                }
            }
        }
        throw new IllegalStateException("a lease of the subject ended before it was known whether the place is apart");
    }
}
