// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockStatus;
import io.keyway.lock.peer.Opening;
import io.keyway.lock.peer.trace.Tracing;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** `keyway show --watch` on a terminal: looks each second and when the bell rings, draws, and ends at `q`. */
final class LiveWatch {
    private static final long EACH_NANOS = 1_000_000_000;

    /** Looks once. */
    interface Look {
        Statuses at(LockClient client) throws InterruptedException;
    }

    private final Console console;
    private final LockClient client;
    private final WatchPage page;
    private final Look look;
    /** Whether the members of a cluster can be asked for; a client of this machine would begin to be one by it. */
    private final boolean cluster;

    private final Map<String, String> servers = new ConcurrentHashMap<>();
    private final Thread watcher = Thread.currentThread();
    private final Object ending = new Object();
    private final ChangeBell bell;
    private volatile boolean quits;
    private volatile boolean resized;
    private boolean over;

    LiveWatch(Console console, LockClient client, String title, boolean cluster, Look look, ChangeBell bell) {
        this.console = console;
        this.client = client;
        this.page = new WatchPage(title);
        this.look = look;
        this.cluster = cluster;
        this.bell = bell;
    }

    /** Returns false if there is no terminal to draw on; otherwise when it was asked to end. */
    boolean run() throws InterruptedException {
        Optional<Terminal> taken = Terminal.take(console.out(), this::typed, this::resized);
        if (taken.isEmpty()) {
            return false;
        }
        try (Terminal terminal = taken.get();
                var events = client.addListener(this::heard)) {
            while (!quits) {
                Statuses found = look.at(client);
                page.looked(found, states(found), console.clock().nanoTime());
                watch(terminal);
            }
        } catch (InterruptedException e) {
            if (!quits) {
                throw e;
            }
        } finally {
            synchronized (ending) {
                over = true;
                if (quits) {
                    Thread.interrupted(); // has been heard
                }
            }
        }
        return true;
    }

    /** Draws, and again when the window has another size, until it is time to look. */
    private void watch(Terminal terminal) throws InterruptedException {
        long next = console.clock().nanoTime() + EACH_NANOS;
        while (!quits) {
            Terminal.Size size = terminal.size();
            String time = LocalTime.now(ZoneId.systemDefault())
                    .truncatedTo(ChronoUnit.SECONDS)
                    .toString();
            terminal.show(page.draw(size.rows(), size.columns(), time));
            if (console.out().checkError()) {
                quits = true; // nobody looks any more
            }
            bell.await(console.clock(), next - console.clock().nanoTime());
            if (!resized) {
                return;
            }
            resized = false;
        }
    }

    private void typed(int key) {
        if (key == 'q' || key == 'Q') {
            synchronized (ending) {
                quits = true;
                if (!over) {
                    watcher.interrupt(); // it may be asking somebody who does not answer
                }
            }
        }
    }

    private void resized() {
        resized = true;
        bell.ring();
    }

    private void heard(LockEvent event) {
        event.server().ifPresent(server -> {
            if (event.type() == LockEvent.Type.CONNECTED) {
                servers.put(server, "connected");
            } else if (event.type() == LockEvent.Type.DISCONNECTED) {
                servers.put(server, "not connected");
            }
        });
    }

    /** The members of a native cluster, elsewhere the servers that were heard of. */
    private Map<String, String> states(Statuses found) {
        Map<String, String> states = new HashMap<>();
        List<String> members = members();
        for (String member : members) {
            states.put(member, found.missing(member).orElse("answers"));
        }
        if (members.isEmpty()) {
            states.putAll(servers);
        }
        for (LockStatus status : found.found()) {
            if (status.holders().isEmpty()) {
                opening(status)
                        .ifPresent(opening -> states.merge(opening.server(), opening.toString(), (before, now) -> now));
            }
        }
        return states;
    }

    private List<String> members() {
        if (!cluster) {
            return List.of();
        }
        try {
            return client.unwrap(Tracing.class).members().toCompletableFuture().getNow(List.of());
        } catch (IllegalArgumentException e) {
            return List.of(); // another provider
        }
    }

    private Optional<Opening> opening(LockStatus status) {
        try {
            return client.unwrap(Opening.Watch.class).of(status.key().name());
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
