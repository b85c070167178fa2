// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockStatus;
import io.keyway.lock.Subscription;
import io.keyway.lock.peer.Opening;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Says on standard error whom a request waits for: one line that changes on a terminal, a line per change in a log.
 * Nothing is said about a lock that is free, nor of its holder before the request is known to wait: who holds it, when
 * the answer is merely slow, need not stand in the way.
 */
final class WaitingNotice implements Runnable, AutoCloseable {
    private static final long FIRST_NANOS = 200_000_000;
    private static final long TERMINAL_NANOS = 1_000_000_000;
    private static final long LOG_NANOS = 2_000_000_000;

    private final Console console;
    private final LockClient client;
    private final List<LockKey> keys;
    private final long begin;
    private final Thread thread = new Thread(this, "keyway-waiting-notice");
    private final Subscription events;
    private volatile boolean waits;

    /** Which of them is waited for. */
    private volatile LockKey key;

    private String told = "";
    /** Those that a log has heard of since somebody answered. */
    private final Set<String> troubles = new HashSet<>();

    private boolean closed;

    private WaitingNotice(Console console, LockClient client, List<LockKey> keys) {
        this.console = console;
        this.client = client;
        this.keys = List.copyOf(keys);
        this.key = keys.get(0);
        this.begin = console.clock().nanoTime();
        this.events = client.addListener(this::hear);
    }

    static WaitingNotice begin(Console console, LockClient client, List<LockKey> keys) {
        WaitingNotice notice = new WaitingNotice(console, client, keys);
        notice.thread.setDaemon(true);
        notice.thread.start();
        return notice;
    }

    private void hear(LockEvent event) {
        LockKey of = event.key();
        if (of == null || !keys.contains(of)) {
            return;
        }
        if (event.type() == LockEvent.Type.WAITING) {
            key = of;
            waits = true;
        } else if (event.type() == LockEvent.Type.GRANTED && of.equals(key)) {
            waits = false;
        }
    }

    @Override
    public void run() {
        long pause = FIRST_NANOS;
        // Never interrupted: a provider in the middle of a request must not lose its channel by that.
        while (pauseFor(pause)) {
            Optional<Situation> now = look();
            now.ifPresent(this::tell);
            pause = now.isEmpty() ? FIRST_NANOS : console.errIsTerminal() ? TERMINAL_NANOS : LOG_NANOS;
        }
    }

    private synchronized boolean pauseFor(long nanos) {
        long end = console.clock().nanoTime() + nanos;
        for (long left = nanos;
                left > 0 && !closed;
                left = end - console.clock().nanoTime()) {
            try {
                console.clock().await(this, left);
            } catch (InterruptedException e) {
                return false;
            }
        }
        return !closed;
    }

    /**
     * What is to be said.
     *
     * @param fixed what a log shows once
     * @param moving what changes each second, for a terminal
     * @param trouble nobody has answered, for this reason: a log shows each reason once, however often they alternate
     */
    record Situation(String fixed, String moving, boolean trouble) {
        Situation(String fixed, String moving) {
            this(fixed, moving, false);
        }
    }

    /** Empty: nobody is known to stand in the way of this request. */
    private Optional<Situation> look() {
        LockKey first = key;
        if (!client.features().contains(Feature.LIST)) {
            return Optional.of(new Situation("waiting for " + first.name(), ""));
        }
        Optional<Situation> now = look(first);
        // A request that nobody answers is not known to wait, and may be that for another one of the keys.
        for (int i = 0; now.isEmpty() && !waits && i < keys.size(); i++) {
            if (!keys.get(i).equals(first)) {
                now = look(keys.get(i));
            }
        }
        return now;
    }

    private Optional<Situation> look(LockKey at) {
        try {
            Optional<LockStatus> status = client.admin().show(at);
            Optional<Opening> opening = opening(at);
            return status.filter(found -> at.equals(key))
                    // A member that grants nothing yet does not say that a request waits for others.
                    .filter(found ->
                            waits || (opening.isPresent() && found.holders().isEmpty()))
                    .map(found -> describe(found, client.name(), opening));
        } catch (InterruptedException e) {
            return Optional.empty();
        } catch (LockException e) {
            return Optional.of(new Situation("waiting for " + at.name() + ": " + Failures.trouble(e), "", true));
        }
    }

    /** A member that grants nothing yet. */
    private Optional<Opening> opening(LockKey at) {
        try {
            return client.unwrap(Opening.Watch.class).of(at.name());
        } catch (IllegalArgumentException e) {
            return Optional.empty(); // another provider's client
        }
    }

    /** {@code opening}: why nobody holds it. */
    static Situation describe(LockStatus status, String self, Optional<Opening> opening) {
        List<LockStatus.Holder> holders = status.holders();
        StringBuilder fixed =
                new StringBuilder("waiting for ").append(status.key().name());
        String moving = "";
        if (!holders.isEmpty()) {
            // Whoever holds it stands in the way for longer than what is only kept.
            LockStatus.Holder first = holders.stream()
                    .filter(holder -> holder.kept().isEmpty())
                    .findFirst()
                    .orElse(holders.get(0));
            fixed.append(first.kept().isPresent() ? ", kept after " : ", held by ");
            fixed.append(StatusText.printable(first.client()));
            String command = first.metadata().get("command");
            if (command != null) {
                fixed.append(" (").append(StatusText.printable(command)).append(')');
            }
            if (holders.size() > 1) {
                fixed.append(" and ").append(holders.size() - 1).append(" more");
            }
            moving = first.kept()
                    .map(left -> ", free in " + Durations.show(left))
                    .orElse(" for " + Durations.show(first.since()));
        } else if (opening.isPresent()) {
            // A log is told once, so it is told for how long.
            Opening why = opening.get();
            fixed.append(": ").append(why.server()).append(why.why());
            moving = why.firstUse()
                    ? ""
                    : ", and grants nothing for another "
                            + Durations.show(why.left().plusMillis(999));
        }
        int place = place(status.waiters(), self);
        String queue =
                place == 0 ? "" : "; place " + place + " of " + status.waiters().size() + " in the queue";
        return new Situation(fixed + queue, fixed + moving + queue);
    }

    private static int place(List<LockStatus.Waiter> waiters, String self) {
        for (int i = 0; i < waiters.size(); i++) {
            if (waiters.get(i).client().equals(self)) {
                return i + 1;
            }
        }
        return 0;
    }

    private synchronized void tell(Situation now) {
        if (closed) {
            return;
        }
        if (console.errIsTerminal()) {
            String line = now.moving().isEmpty() ? now.fixed() : now.moving();
            // Wrapping is off for the moment: a line that is too long is cut, not broken.
            console.err().print("\r\033[?7lkeyway: " + line + "\033[K\033[?7h");
            console.err().flush();
            told = line;
        } else if (now.trouble() ? troubles.add(now.fixed()) : !Objects.equals(now.fixed(), told)) {
            if (!now.trouble()) {
                troubles.clear();
            }
            console.say((now.moving().isEmpty() ? now.fixed() : now.moving()) + ".");
            told = now.fixed();
        }
    }

    private String names() {
        return keys.stream().map(each -> each.name().value()).collect(Collectors.joining(", "));
    }

    /** Ends it and says how long it took, if anything was said before. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        events.close();
        closed = true;
        notifyAll();
        if (told.isEmpty()) {
            return;
        }
        if (console.errIsTerminal()) {
            console.err().print("\r\033[K");
            console.err().flush();
        } else {
            Duration took = Duration.ofNanos(console.clock().nanoTime() - begin);
            console.say("the wait for " + names() + " took " + Durations.show(took) + ".");
        }
    }
}
