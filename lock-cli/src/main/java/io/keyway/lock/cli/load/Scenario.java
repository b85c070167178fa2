// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import io.keyway.lock.AddressMap;
import io.keyway.lock.Feature;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.tck.proxy.ServerProxies;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** The four tests of the lock service whose load this is, with real clients of any provider. */
public final class Scenario implements AutoCloseable {
    /** Their names. */
    public enum Name {
        /** Five ask for one lock at the same time: one has it; when it gives it back, one of the others has it. */
        MUTUAL_EXCLUSION,
        /** A holder that is cut off knows by the end of its lease that it has lost the lock. */
        PARTITION_CLIENT,
        /** When the holder is cut off, one that waits has the lock after the lease. */
        PARTITION_SERVER,
        /** A lock that nobody else wants stays with the client that gave it back. */
        CACHED;

        /** As users write it. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    private static final int RIVALS = 5;
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final LockUrl url;
    private final Duration lease;
    private final boolean inside;
    private final boolean caches;
    private final boolean cuttable;
    private final boolean mapped;
    private final String lock;
    private final RequestCount count = new RequestCount();
    private final List<Actor> actors = new ArrayList<>();

    /** With leases of that time, and that prefix of all names. */
    public Scenario(LockUrl url, LockProvider provider, Duration lease, String prefix) {
        this.url = url;
        this.lease = lease;
        this.inside = provider.scope(url) == Scope.JVM;
        this.caches = provider.features(url).contains(Feature.CACHING);
        this.cuttable = Load.uncuttable(url, provider).isEmpty();
        this.mapped = provider.info().options().stream()
                .anyMatch(option -> option.name().equals(AddressMap.OPTION.name()));
        this.lock = prefix + "/scenario";
    }

    /**
     * Plays one.
     *
     * @return what was seen, in a sentence
     * @throws IllegalStateException if it was not as it must be, with what was seen
     */
    public String play(Name name) throws IOException, InterruptedException {
        return switch (name) {
            case MUTUAL_EXCLUSION -> mutualExclusion();
            case PARTITION_CLIENT -> partitionOfTheClient();
            case PARTITION_SERVER -> partitionForTheServer();
            case CACHED -> cached();
        };
    }

    private Actor actor(boolean cut) throws IOException, InterruptedException {
        String name = "actor-" + (actors.size() + 1);
        Actor actor = inside
                ? Actor.inside(url, count, name, lease)
                : Actor.process(
                        url,
                        mapped,
                        cut && cuttable ? ServerProxies.before(ServerProxies.servers(url)) : null,
                        name,
                        lease);
        actors.add(actor);
        warm(actor);
        return actor;
    }

    /** Connects it, and loads its code, before it has to be in time. */
    private void warm(Actor actor) throws InterruptedException {
        String own = lock + "-" + actors.size();
        require(actor.acquire(own, PATIENCE).isPresent(), "a lock of its own was not granted");
        actor.release(own);
    }

    private String mutualExclusion() throws IOException, InterruptedException {
        for (int i = 0; i < RIVALS; i++) {
            actor(false);
        }
        int first = winner(-1);
        actors.get(first).release(lock);
        int second = winner(first);
        require(!actors.get(first).isHeld(lock), "the first holder still believes after its release");
        return "client " + (first + 1) + " had it alone, then client " + (second + 1);
    }

    /** Each but one asks for it, all at the same time; exactly one gets it. */
    private int winner(int except) throws InterruptedException {
        CyclicBarrier start = new CyclicBarrier(except < 0 ? RIVALS : RIVALS - 1);
        Map<Integer, Future<OptionalLong>> asked = new TreeMap<>();
        ExecutorService threads = Executors.newFixedThreadPool(RIVALS);
        try {
            for (int i = 0; i < RIVALS; i++) {
                Actor rival = actors.get(i);
                if (i != except) {
                    asked.put(i, threads.submit(() -> {
                        start.await();
                        return rival.acquire(lock, lease);
                    }));
                }
            }
            List<Integer> winners = new ArrayList<>();
            for (Map.Entry<Integer, Future<OptionalLong>> each : asked.entrySet()) {
                if (each.getValue().get().isPresent()) {
                    winners.add(each.getKey());
                }
            }
            require(winners.size() == 1, winners.size() + " clients had the lock");
            require(actors.get(winners.get(0)).isHeld(lock), "the holder does not believe");
            return winners.get(0);
        } catch (ExecutionException e) {
            throw new IllegalStateException("a client could not ask: " + e.getCause(), e);
        } finally {
            threads.shutdownNow();
        }
    }

    private String partitionOfTheClient() throws IOException, InterruptedException {
        Actor holder = actor(true);
        require(holder.acquire(lock, lease).isPresent(), "a free lock was not granted");
        holder.cut();
        long cut = System.nanoTime();
        if (!holder.answersWhileCut()) {
            TimeUnit.NANOSECONDS.sleep(lease.toNanos());
            holder.heal();
        }
        require(holder.isToldOfLoss(lock, lease.multipliedBy(2)), "its loss was not told within two leases");
        long told = System.nanoTime() - cut;
        require(!holder.isHeld(lock), "it still believes");
        if (holder.answersWhileCut()) {
            holder.heal();
        }
        return (holder.answersWhileCut() ? "cut off" : "stopped, since there is no link to cut")
                + ", its holder was notified after " + LoadText.time(told);
    }

    private String partitionForTheServer() throws IOException, InterruptedException {
        Actor holder = actor(true);
        Actor next = actor(false);
        OptionalLong first = holder.acquire(lock, lease);
        require(first.isPresent(), "a free lock was not granted");
        holder.cut();
        long cut = System.nanoTime();
        OptionalLong second = next.acquire(lock, lease.multipliedBy(3));
        long waited = System.nanoTime() - cut;
        require(second.isPresent(), "nobody else had the lock within three leases");
        require(second.getAsLong() > first.getAsLong(), "the next token is not higher");
        holder.heal();
        require(!holder.isHeld(lock), "the first holder still believes");
        require(next.isHeld(lock), "the next one does not believe");
        return "the next client had it after " + LoadText.time(waited);
    }

    private String cached() throws IOException, InterruptedException {
        Actor user = Actor.inside(url, count, "actor-1", lease);
        actors.add(user);
        warm(user);
        Actor other = actor(false);
        require(user.acquire(lock, lease).isPresent(), "a free lock was not granted");
        user.release(lock);
        TimeUnit.NANOSECONDS.sleep(lease.toNanos() * 2);
        require(user.acquire(lock, lease).isPresent(), "it was not granted again");
        boolean fromCache = count.tookFromCache();
        user.release(lock);
        require(fromCache == caches, "two leases later it was " + (fromCache ? "" : "not ") + "served from a cache");
        require(other.acquire(lock, lease).isPresent(), "another client did not get it within a lease");
        return caches
                ? "two leases later it was served from the cache, and another client got it when it asked"
                : "this provider keeps no cache, so it was asked again";
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }

    @Override
    public void close() throws InterruptedException {
        for (Actor each : actors) {
            each.close();
        }
    }
}
