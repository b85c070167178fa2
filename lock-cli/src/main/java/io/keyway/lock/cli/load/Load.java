// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import io.keyway.lock.AddressMap;
import io.keyway.lock.Feature;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.tck.journal.MachineClock;
import io.keyway.lock.tck.proxy.ServerProxies;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A load: sends each client bursts of commands until all is done, cuts some of them from the servers now and then, and
 * judges what they did. For one thread, which may be interrupted: then the load ends early.
 */
public final class Load implements AutoCloseable {
    /** Takes before anything counts, fewer where they take two seconds: then the code is compiled that is measured. */
    private static final int WARM_UP = 300;

    /** So many names belong to each member, or server, of a few. */
    private static final int PROBES = 12;

    private static final long START_SECONDS = 120;
    private static final long END_SECONDS = 20;
    private static final long JUDGED_EVERY = TimeUnit.SECONDS.toNanos(5);

    /** Where one client is. */
    private enum Stage {
        STARTING,
        READY,
        PROBED,
        WARM,
        BUSY,
        DONE,
        GONE
    }

    private final LoadPlan plan;
    private final LockUrl url;
    private final boolean inside;
    private final boolean mapped;
    private final LoadRecord record;
    /** Of the time before it counts: the code that reads what clients tell has to be loaded, too. */
    private final LoadRecord rehearsal;

    private final Cuts cuts;
    private final List<LoadProcess> clients = new ArrayList<>();
    private final Stage[] stages;
    private final int[] left;
    private final Object news = new Object();
    private @Nullable RuntimeException failure;
    private volatile boolean ending;
    private long probed;
    private long finished;
    private long lastCheck;

    /**
     * A load that has not begun.
     *
     * @param provider of that URL
     * @param say is told each line about the course of things
     */
    public Load(LoadPlan plan, LockUrl url, LockProvider provider, Consumer<String> say) {
        this.plan = plan;
        this.url = url;
        this.inside = provider.scope(url) == Scope.JVM;
        this.mapped = provider.info().options().stream()
                .anyMatch(option -> option.name().equals(AddressMap.OPTION.name()));
        long piece = plan.duration().orElse(plan.lockWait()).toSeconds() > 100
                ? TimeUnit.SECONDS.toNanos(1)
                : TimeUnit.MILLISECONDS.toNanos(100);
        boolean deathIsProven = provider.scope(url) == Scope.MACHINE;
        boolean caching = provider.features(url).contains(Feature.CACHING);
        this.record = new LoadRecord(plan.clients(), deathIsProven, caching, piece);
        this.rehearsal = new LoadRecord(plan.clients(), deathIsProven, caching, piece);
        this.stages = new Stage[plan.clients()];
        Arrays.fill(stages, Stage.STARTING);
        this.left = new int[plan.clients()];
        Arrays.fill(left, plan.ops());
        this.cuts = new Cuts(plan, record, new SplittableRandom(plan.seed()), say);
    }

    /** Why the links of the clients of this URL cannot be cut; empty if they can. */
    public static Optional<String> uncuttable(LockUrl url, LockProvider provider) {
        if (provider.scope(url) == Scope.JVM) {
            return Optional.empty(); // its world cuts them
        }
        if (url.isOpaque() || url.hosts().isEmpty()) {
            return Optional.of("it names no server with a port before which a proxy could stand");
        }
        return ServerProxies.servers(url).size() == url.hosts().size()
                ? Optional.empty()
                : Optional.of("it does not say the port of each server, so that no proxy can stand before it");
    }

    /** What the clients have done up to now. */
    LoadRecord record() {
        return record;
    }

    /**
     * Runs it; progress is told by a line a second.
     *
     * @param progress is told what to show of the course
     * @return how it went
     * @throws IOException if a client cannot be started
     * @throws IllegalStateException if a client cannot work, with the reason
     * @throws IllegalArgumentException if that is so since the URL or the plan does not fit what it reaches
     */
    public LoadResult run(String prefix, Consumer<String> progress) throws IOException {
        boolean interrupted = false;
        try {
            start(prefix);
            await(Stage.READY);
            probe();
            all("warm " + WARM_UP);
            await(Stage.WARM);
            record.start(System.nanoTime());
            lastCheck = record.start();
            cuts.begin(clients, record.start());
            for (int i = 0; i < clients.size(); i++) {
                synchronized (news) {
                    burst(i);
                }
            }
            watch(progress);
        } catch (InterruptedException e) {
            interrupted = true;
        }
        long end = finished == 0 ? System.nanoTime() : finished;
        end();
        record.judge(Long.MIN_VALUE);
        return new LoadResult(
                plan, url.toString(), record, record.start() == 0 ? 0 : end - record.start(), interrupted);
    }

    private void start(String prefix) throws IOException {
        SplittableRandom random = new SplittableRandom(plan.seed());
        for (int i = 0; i < plan.clients(); i++) {
            ClientSettings settings = new ClientSettings(
                    LoadRecord.name(i),
                    prefix,
                    plan.locks(),
                    plan.leaseTime(),
                    plan.lockWait(),
                    plan.hold(),
                    random.nextLong(),
                    plan.recall());
            int client = i;
            Consumer<String> heard = line -> heard(client, line);
            if (inside) {
                clients.add(LoadProcess.inside(settings, url, heard));
            } else if (plan.cutEvery().isEmpty()) {
                clients.add(LoadProcess.start(settings, url, null, heard));
            } else {
                ServerProxies links = ServerProxies.before(ServerProxies.servers(url));
                clients.add(LoadProcess.start(settings, links.through(url, mapped), links, heard));
            }
        }
    }

    /** Whether a client that is cut from all servers of the URL is cut from the locks. */
    private void probe() throws InterruptedException {
        if (plan.cutEvery().isEmpty() || inside) {
            return;
        }
        LoadProcess first = clients.get(0);
        first.cut();
        first.tell("probe " + PROBES);
        await(Stage.PROBED, 0);
        first.heal();
        if (probed > 0) {
            throw new IllegalStateException("a client that is cut from the servers of the URL still gets locks: they"
                    + " tell their clients other addresses; write into the URL what the servers call themselves");
        }
    }

    private void all(String line) {
        clients.forEach(each -> each.tell(line));
    }

    private void await(Stage stage) throws InterruptedException {
        await(stage, clients.size() - 1);
    }

    /** Until all clients up to that one are so far. */
    private void await(Stage stage, int last) throws InterruptedException {
        long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        synchronized (news) {
            while (Arrays.stream(stages, 0, last + 1).anyMatch(each -> each.compareTo(stage) < 0)) {
                fail();
                long left = limit - System.nanoTime();
                if (left <= 0) {
                    throw new IllegalStateException(
                            "not all clients were ready within " + START_SECONDS + " s; do the servers answer?");
                }
                TimeUnit.NANOSECONDS.timedWait(news, left);
            }
            fail();
        }
    }

    private void fail() {
        if (failure != null) {
            throw failure;
        }
    }

    /** The first one counts. */
    private void failed(RuntimeException why) {
        synchronized (news) {
            failure = failure == null ? why : failure;
            news.notifyAll();
        }
    }

    private void watch(Consumer<String> progress) throws InterruptedException {
        long second = TimeUnit.SECONDS.toNanos(1);
        long shown = record.start() + second;
        while (true) {
            long wake = Math.min(shown, cuts.due());
            if (plan.duration().isPresent()) {
                wake = Math.min(wake, record.start() + plan.duration().get().toNanos());
            }
            synchronized (news) {
                fail();
                if (isTimeOver() || Arrays.stream(stages).allMatch(each -> each.compareTo(Stage.DONE) >= 0)) {
                    finished = System.nanoTime();
                    return;
                }
                long left = wake - System.nanoTime();
                if (left > 0) {
                    TimeUnit.NANOSECONDS.timedWait(news, left);
                }
            }
            long now = System.nanoTime();
            cuts.turn(now);
            if (now - shown >= 0) {
                progress.accept(LoadText.progress(record, now));
                shown += second;
            }
            if (now - lastCheck >= JUDGED_EVERY) {
                lastCheck = now;
                long keep =
                        Math.max(TimeUnit.SECONDS.toNanos(20), plan.leaseTime().toNanos() * 3);
                record.judge(MachineClock.now() - keep);
            }
        }
    }

    /** Everybody gives back what is held. */
    private void end() {
        ending = true;
        cuts.end();
        all("end");
        boolean interrupted = false;
        for (LoadProcess each : clients) {
            try {
                each.end(interrupted ? 1 : END_SECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
                each.close();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void heard(int client, String line) {
        LoadRecord record = counts(client) ? this.record : rehearsal;
        if (!line.startsWith("load ")) {
            record.journal(client, line);
            return;
        }
        String[] words = line.split(" ", 4);
        switch (words[1]) {
            case "took" -> record.took(client, Long.parseLong(words[2]), !words[3].equals("asked"));
            case "gave" -> record.gave(client, Long.parseLong(words[2]));
            case "lost" -> record.lost(client);
            case "error" -> record.error(client, line.substring("load error ".length()));
            case "requests" -> record.requests(client, Long.parseLong(words[2]));
            case "ready" -> reach(client, Stage.READY);
            case "probed" -> {
                synchronized (news) {
                    probed = Long.parseLong(words[2]);
                }
                reach(client, Stage.PROBED);
            }
            case "warm" -> reach(client, Stage.WARM);
            case "done" -> {
                synchronized (news) {
                    burst(client);
                }
            }
            case "failed" -> failed(new IllegalStateException(line.substring("load failed ".length())));
            case "refused" -> failed(new IllegalArgumentException(line.substring("load refused ".length())));
            case "gone" -> {
                synchronized (news) {
                    if (stages[client].compareTo(Stage.DONE) < 0 && !ending) {
                        failed(new IllegalStateException(LoadRecord.name(client) + " has ended by itself"));
                    }
                }
                reach(client, Stage.GONE);
            }
            default -> {
                // It says that it has done what it was told.
            }
        }
    }

    /** Whether what it tells now is part of the load. */
    private boolean counts(int client) {
        synchronized (news) {
            return stages[client].compareTo(Stage.WARM) >= 0;
        }
    }

    private void reach(int client, Stage stage) {
        synchronized (news) {
            if (stages[client].compareTo(stage) < 0) {
                stages[client] = stage;
            }
            news.notifyAll();
        }
    }

    private boolean isTimeOver() {
        return plan.duration()
                .map(most -> System.nanoTime() - record.start() >= most.toNanos())
                .orElse(false);
    }

    /** The next burst, or none any more. */
    private void burst(int client) {
        int commands = plan.ops() == 0 ? plan.burst() : Math.min(plan.burst(), left[client]);
        if (isTimeOver() || commands == 0) {
            reach(client, Stage.DONE);
            return;
        }
        left[client] -= commands;
        reach(client, Stage.BUSY);
        record.command(client, commands);
        clients.get(client).tell("burst " + commands);
    }

    @Override
    public void close() {
        clients.forEach(LoadProcess::close);
    }
}
