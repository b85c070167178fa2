// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Candidacy;
import io.keyway.lock.Candidate;
import io.keyway.lock.ClientClosedException;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.ElectionEvent;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.Subscription;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.reference.ReferenceWorld;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Elections over a client of a store; what candidates see of each other is judged by the compatibility kit too. */
class ElectionTest extends ReferenceClients {
    private static final String REAL = "lock:reference://election";

    private final List<ElectionEvent> events = new CopyOnWriteArrayList<>();

    private static void awaitLeading(Candidacy candidacy) {
        await().atMost(PATIENCE).until(candidacy::isLeading);
    }

    private static LockClient real(ElectionTest test, String name) {
        return test.open(REAL, ClientOptions.defaults().withName(name));
    }

    @Test
    void whatCannotBeIsRefused() {
        LockClient a = open("a");

        assertThatThrownBy(() -> a.election("x".repeat(510))).hasMessageContaining("510 bytes");
        assertThatThrownBy(() -> a.election("x").as("")).hasMessageContaining("cannot be empty");
        assertThatThrownBy(() -> a.election("x").as("y".repeat(1100))).hasMessageContaining("metadata");
        assertThatThrownBy(() -> a.election("x").observe(event -> {}, Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> a.election("x").with(LockOptions.none().withTtl(Duration.ofHours(24))))
                .isInstanceOf(IllegalArgumentException.class);
        LockClient blind = open("lock:reference://blind?without=list", ClientOptions.defaults());
        assertThatThrownBy(() -> blind.election("x").candidates())
                .isInstanceOf(UnsupportedFeatureException.class)
                .satisfies(e ->
                        assertThat(((UnsupportedFeatureException) e).feature()).contains(Feature.LIST));
        try (Candidacy alone = blind.election("x").stand()) {
            awaitLeading(alone);
            assertThatThrownBy(() -> alone.handOver("b", Duration.ofSeconds(1)))
                    .isInstanceOf(UnsupportedFeatureException.class);
            assertThat(alone.isLeading()).isTrue();
        }
    }

    @Test
    void aCandidateSaysOfItselfWhatItsOptionsSay() throws Exception {
        LockClient a = open("a");
        Candidacy leader = a.election("x")
                .with(LockOptions.none().withMetadata(Map.of("address", "10.0.0.7:80")))
                .as("seven")
                .stand();
        awaitLeading(leader);

        Candidate shown = open("b").election("x").leader().orElseThrow();

        assertThat(shown.name()).isEqualTo("seven");
        assertThat(shown.metadata()).containsEntry("address", "10.0.0.7:80");
        assertThat(shown.token()).hasValue(leader.leadership().orElseThrow().token());
    }

    @Test
    void aReleaseOfItsLeaseIsTheEndOfALeadership() throws Exception {
        Candidacy candidacy = real(this, "a").election("x").stand(events::add);
        awaitLeading(candidacy);

        candidacy.leadership().orElseThrow().close();

        assertThat(candidacy.isLeading()).isFalse();
        awaitLeading(candidacy);
        await().atMost(PATIENCE).until(() -> events.size() >= 3);
        assertThat(events)
                .extracting(ElectionEvent::type)
                .containsExactly(
                        ElectionEvent.Type.ELECTED, ElectionEvent.Type.SURRENDERED, ElectionEvent.Type.ELECTED);
        assertThat(events.get(1).loss()).isEmpty();
    }

    /** A service that is stopped by SURRENDERED never runs beside that of the next leader. */
    @Test
    void howeverALeadershipEndsTheListenerIsNotifiedBeforeTheLockIsFree() throws Exception {
        List<Consumer<Candidacy>> ways = List.of(
                Candidacy::surrender,
                each -> each.leadership().orElseThrow().release(),
                each -> each.leadership().orElseThrow().releaseAsync(),
                each -> each.leadership().orElseThrow().close(),
                each -> each.elected().thenAccept(Lease::release), // on the event thread, as the listener
                Candidacy::close);
        LockClient other = real(this, "other");
        LockClient a = real(this, "a");
        // A quarter of it is longer than the slowest machine takes.
        LockOptions patient = LockOptions.none().withTtl(Duration.ofMinutes(5));
        for (int i = 0; i < ways.size(); i++) {
            String name = "x" + i;
            List<Boolean> free = new CopyOnWriteArrayList<>();
            try (Candidacy candidacy = a.election(name).with(patient).stand(event -> {
                if (event.type() == ElectionEvent.Type.SURRENDERED) {
                    free.add(isFree(other, name));
                }
            })) {
                awaitLeading(candidacy);
                ways.get(i).accept(candidacy);
                await().atMost(PATIENCE).until(() -> !free.isEmpty());
            }
            assertThat(free).as("way %s", i).first().isEqualTo(false);
            await().atMost(PATIENCE).until(() -> isFree(other, name));
        }
    }

    private static boolean isFree(LockClient client, String name) {
        try {
            return client.lock(name).tryAcquire().map(Lease::release).isPresent();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Its lock would be given back a quarter of the ttl later all the same. */
    @Test
    void aListenerThatEndsItsOwnLeadershipIsNotWaitedFor() throws Exception {
        LockClient a = real(this, "a");
        CompletableFuture<Candidacy> own = new CompletableFuture<>();
        List<Object> seen = new CopyOnWriteArrayList<>();
        LockOptions patient = LockOptions.none().withTtl(Duration.ofMinutes(5));
        Candidacy candidacy = a.election("x").with(patient).stand(event -> {
            if (event.type() == ElectionEvent.Type.ELECTED) {
                Candidacy self = own.join();
                seen.add(self.leadership().orElseThrow().release());
                self.close();
            } else {
                seen.add(event.type());
            }
        });
        own.complete(candidacy);
        await().atMost(PATIENCE).until(() -> seen.size() == 2);
        assertThat(seen).containsExactly(ReleaseOutcome.UNKNOWN, ElectionEvent.Type.SURRENDERED);
        await().atMost(PATIENCE).until(() -> isFree(a, "x"));
    }

    /** An executor may run what it gets at once: the listener is notified by the thread that ends the leadership. */
    @Test
    void aListenerIsNotifiedUnderNoLock() throws Exception {
        LockClient a = open(REAL, ClientOptions.defaults().withName("a").withEventExecutor(Runnable::run));
        List<Consumer<Candidacy>> ways = List.of(
                Candidacy::surrender, each -> each.leadership().orElseThrow().release(), Candidacy::close);
        for (int i = 0; i < ways.size(); i++) {
            CompletableFuture<Candidacy> own = new CompletableFuture<>();
            CompletableFuture<Lease> led = new CompletableFuture<>();
            List<Object> answers = new CopyOnWriteArrayList<>();
            Candidacy candidacy = a.election("x" + i).stand(event -> {
                if (event.type() == ElectionEvent.Type.SURRENDERED) {
                    try {
                        answers.add(inThread(() -> own.join().elected() != null
                                        && led.join().releaseAsync() != null)
                                .get());
                    } catch (Exception e) {
                        answers.add(e);
                    }
                }
            });
            own.complete(candidacy);
            awaitLeading(candidacy);
            led.complete(candidacy.leadership().orElseThrow());
            ways.get(i).accept(candidacy);
            candidacy.close();
            assertThat(answers).as("way %s", i).first().isEqualTo(true);
        }
    }

    @Test
    void whoDoesNotStopItsWorkDoesNotLeadOnceMoreMeanwhile() throws Exception {
        LockClient a = open("a");
        LockClient other = open("other");
        ReferenceWorld world = a.unwrap(ReferenceWorld.class);
        List<Lease> runs = new CopyOnWriteArrayList<>();
        CountDownLatch stubborn = new CountDownLatch(1);
        Running<String> working = inThread(() -> a.election("x").lead(lease -> {
            runs.add(lease);
            while (runs.size() == 1 && stubborn.getCount() > 0) {
                Thread.onSpinWait(); // heeds no interrupt
            }
            return "run " + runs.size();
        }));
        try {
            await().until(() -> runs.size() == 1);
            other.admin().breakLease(key("x"), runs.get(0).token(), "of the test");
            world.advance(Duration.ofMinutes(1));
            assertThat(runs.get(0).isHeld()).isFalse();
            assertThat(other.election("x").candidates()).isEmpty();
            other.lock("x").tryAcquire().orElseThrow().release();
        } finally {
            stubborn.countDown();
        }
        assertThat(working.get()).isEqualTo("run 2");
    }

    /** The work may see a loss, and end, before the candidacy hears of it: here the event executor is held up. */
    @Test
    void workThatEndsBeforeItsCandidacyHearsOfTheLossIsDoneAgain() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            LockClient a = open(REAL, ClientOptions.defaults().withName("a").withEventExecutor(executor));
            List<Lease> runs = new CopyOnWriteArrayList<>();
            Running<String> working = inThread(() -> a.election("x").lead(lease -> {
                executor.execute(() -> hold(told));
                runs.add(lease);
                while (runs.size() == 1 && lease.isHeld()) {
                    Thread.onSpinWait();
                }
                return "run " + runs.size();
            }));
            await().until(() -> runs.size() == 1);
            real(this, "other").admin().breakLease(key("x"), runs.get(0).token(), "of the test");
            await().until(() -> working.thread().getState() == Thread.State.WAITING);
            told.countDown();
            assertThat(working.get()).isEqualTo("run 2");
        } finally {
            told.countDown();
            executor.shutdown();
        }
    }

    private static void hold(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void anInterruptFromElsewhereOutlivesTheLossOfALeadership() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            LockClient a = open(REAL, ClientOptions.defaults().withName("a").withEventExecutor(executor));
            List<Lease> runs = new CopyOnWriteArrayList<>();
            Running<String> working = inThread(() -> a.election("x").lead(lease -> {
                Thread.currentThread().interrupt();
                runs.add(lease);
                CompletableFuture<LeaseLoss> lost = lease.lost().toCompletableFuture();
                while (!lost.isDone()) {
                    Thread.onSpinWait();
                }
                // What else hears of that loss has heard of it when the executor is at its next task.
                CompletableFuture<Void> heard = CompletableFuture.runAsync(() -> {}, executor);
                while (!heard.isDone()) {
                    Thread.onSpinWait();
                }
                return "lost";
            }));
            await().until(() -> runs.size() == 1);
            real(this, "other").admin().breakLease(key("x"), runs.get(0).token(), "of the test");
            assertThatThrownBy(working::get).hasCauseInstanceOf(InterruptedException.class);
            assertThat(runs).hasSize(1);
        } finally {
            executor.shutdown();
        }
    }

    @Test
    void theCloseOfAClientEndsWhoeverStandsOrWaits() throws Exception {
        LockClient a = real(this, "a");
        Candidacy leader = a.election("x").stand(events::add);
        awaitLeading(leader);
        Candidacy waits = a.election("x").as("second").stand();
        Candidacy back = a.election("y").stand();
        awaitLeading(back);
        CountDownLatch leads = new CountDownLatch(1);
        Running<String> working = inThread(() -> a.election("z").lead(lease -> {
            leads.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                return "stopped";
            }
            return "never";
        }));
        leads.await();
        back.surrender();

        a.close();

        for (Candidacy each : List.of(leader, waits, back)) {
            assertThatThrownBy(() -> each.ended().toCompletableFuture().get(2, TimeUnit.MINUTES))
                    .hasCauseInstanceOf(ClientClosedException.class);
            assertThatThrownBy(() -> each.elected().toCompletableFuture().get(2, TimeUnit.MINUTES))
                    .hasCauseInstanceOf(ClientClosedException.class);
            assertThat(each.isLeading()).isFalse();
        }
        assertThatThrownBy(working::get).hasCauseInstanceOf(ClientClosedException.class);
        assertThat(events.get(events.size() - 1).loss().map(LeaseLoss::cause)).contains(LeaseLoss.Cause.CLIENT_CLOSED);
        await().atMost(PATIENCE).until(() -> threadsOf("a").isEmpty());
    }

    @Test
    void onlyALeaderHandsOverAndAlwaysToItself() throws Exception {
        LockClient a = real(this, "a");
        Candidacy leader = a.election("x").stand();
        awaitLeading(leader);
        Candidacy second = a.election("x").as("second").stand();
        awaitWaiters(a, "x", 1);

        assertThat(leader.handOver("a", Duration.ofSeconds(1))).isTrue();
        assertThat(leader.isLeading()).isTrue();
        assertThatThrownBy(() -> second.handOver("a", Duration.ofSeconds(1)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("second does not lead x");
        assertThat(leader.handOver("second", Duration.ofSeconds(20))).isTrue();
        awaitLeading(second);
        assertThat(a.admin().show(key("x~hand-over"))).isEmpty();
        awaitWaiters(a, "x", 1);
    }

    @Test
    void workThatEndsWhileItLeadsIsDone() throws Exception {
        LockClient a = real(this, "a");

        String result = a.election("x").lead(lease -> {
            lease.ensureHeld();
            return "under " + (lease.token() > 0);
        });

        assertThat(result).isEqualTo("under true");
        await().atMost(PATIENCE)
                .until(() -> a.lock("x").tryAcquire().map(Lease::release).isPresent());
    }

    @Test
    void anObserverSaysWhenItCannotSee() throws Exception {
        LockClient a = open("a");
        LockClient b = open("b");
        Candidacy leader = a.election("x").as("seven").stand();
        awaitLeading(leader);
        try (Subscription observer = b.election("x").observe(events::add)) {
            await().atMost(PATIENCE).until(() -> !events.isEmpty());
            faults(b).cut(true);
            await().atMost(PATIENCE).until(() -> {
                time(a).advance(Duration.ofSeconds(1));
                return events.size() >= 2;
            });
            faults(b).cut(false);
            await().atMost(PATIENCE).until(() -> {
                time(a).advance(Duration.ofSeconds(1));
                return events.size() >= 3;
            });
        }
        assertThat(events)
                .extracting(event -> event.type() + " " + event.leader())
                .containsExactly("ELECTED seven", "UNCERTAIN seven", "CERTAIN seven");
    }
}
