// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the reference does beyond what the kit's tests ask of every provider. */
class ReferenceTest {

    private static final AtomicInteger WORLDS = new AtomicInteger();
    private static final Duration TTL = Duration.ofSeconds(10);

    private final String url = "lock:reference://world" + WORLDS.incrementAndGet() + "?clock=manual";
    private final List<LockClient> opened = new ArrayList<>();

    @AfterEach
    void closeClients() {
        opened.forEach(LockClient::close);
    }

    private LockClient open(String name) {
        LockClient client =
                Locks.open(url, ClientOptions.defaults().withName(name).withEventExecutor(Runnable::run));
        opened.add(client);
        return client;
    }

    private static ReferenceWorld world(LockClient client) {
        return client.unwrap(ReferenceWorld.class);
    }

    private static LockKey key(String name) {
        return LockKey.lock(LockName.of(name));
    }

    @Test
    void aWaiterIsGrantedAtTheInstantInWhichADeadHolderExpires() throws Exception {
        LockClient dead = open("dead");
        LockClient waiter = open("waiter");
        dead.lock("x").acquire();
        dead.unwrap(ReferenceFaults.class).cut(true);
        CompletableFuture<Lease> waiting = waiter.lock("x").acquireAsync();
        world(waiter).advance(TTL.minusNanos(1));
        assertThat(waiting).isNotDone();
        world(waiter).advance(Duration.ofNanos(1));
        assertThat(waiting).isDone();
    }

    @Test
    void theAlarmOfAClientThatHasGoneRingsOnTheClockOfAnother() throws Exception {
        LockClient dead = open("dead");
        LockClient first = open("first");
        LockClient second = open("second");
        dead.lock("x").acquire();
        dead.unwrap(ReferenceFaults.class).cut(true);
        CompletableFuture<Lease> leaves = first.lock("x").acquireAsync();
        CompletableFuture<Lease> stays = second.lock("x").acquireAsync();
        first.close();
        assertThat(leaves).isCompletedExceptionally();
        world(second).advance(TTL);
        assertThat(stays).isDone();
    }

    @Test
    void aBrokenLockWaitsForAHolderThatCannotAnswer() throws Exception {
        LockClient holder = open("holder");
        LockClient operator = open("operator");
        Lease lease = holder.lock("x").acquire();
        holder.unwrap(ReferenceFaults.class).cut(true);
        assertThat(operator.admin().breakLease(key("x"), lease.token(), "stuck"))
                .isTrue();
        assertThat(operator.admin().breakLease(key("x"), lease.token(), "stuck"))
                .isFalse();
        CompletableFuture<Lease> next = operator.lock("x").acquireAsync();
        world(operator).advance(TTL.dividedBy(2));
        assertThat(lease.isHeld()).as("it was told nothing").isTrue();
        assertThat(next).isNotDone();
        holder.unwrap(ReferenceFaults.class).cut(false);
        world(operator).advance(Duration.ofSeconds(2));
        assertThat(lease.lost().toCompletableFuture().join().cause()).isEqualTo(LeaseLoss.Cause.BROKEN);
        assertThat(next).isDone();
    }

    @Test
    void aRestartForgetsGrantsButNotTokensAndOpensWhenTheLastHasExpired() throws Exception {
        LockClient client = open("a");
        Lease lease = client.lock("x").acquire();
        ReferenceWorld world = world(client);
        world.restart();
        assertThatThrownBy(() -> client.lock("y").tryAcquire())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("closed for another 10000ms");
        CompletableFuture<Lease> waiting = client.lock("y").acquireAsync();
        world.advance(TTL.minusMillis(1));
        assertThat(waiting).isNotDone();
        assertThat(lease.state()).isEqualTo(Lease.State.LOST);
        world.advance(Duration.ofMillis(1));
        assertThat(waiting).isDone();
        assertThat(waiting.join().token()).isGreaterThan(lease.token());
    }

    @Test
    void aRestartWithMemoryCostsNothing() throws Exception {
        LockClient client = open("a");
        Lease lease = client.lock("x").acquire();
        ReferenceWorld world = world(client);
        world.kill();
        assertThatThrownBy(() -> client.admin().show(key("x"))).isInstanceOf(LockUnavailableException.class);
        world.restartWithMemory();
        world.advance(Duration.ofMinutes(1));
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void whatDeadClientsLeftGoesAwayThoughNobodyAsksForIt() throws Exception {
        LockClient dead = open("dead");
        LockClient other = open("other");
        for (int i = 0; i < 20; i++) {
            dead.lock("left/" + i).acquire();
        }
        dead.unwrap(ReferenceFaults.class).cut(true);
        dead.close();
        world(other).advance(TTL);
        for (int i = 0; i < 20; i++) {
            other.lock("used").acquire().close();
        }
        assertThat(world(other).store().isEmpty()).isTrue();
    }

    @Test
    void pagesOfManyNamesShowEachOnce() throws Exception {
        LockClient client = open("a");
        LockOptions lasting = LockOptions.none().withTtl(Duration.ofHours(1));
        for (int i = 0; i < 250; i++) {
            client.lock("p/" + i).with(lasting).acquire();
        }
        client.lock("q").acquire();
        List<LockKey> seen = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        do {
            LockPage page = client.admin().list("p/", cursor, 7);
            page.locks().forEach(status -> seen.add(status.key()));
            cursor = page.next();
        } while (cursor.isPresent());
        assertThat(seen).hasSize(250).doesNotHaveDuplicates();
    }

    @Test
    void aWorldEndsWithItsLastClientAndItsTokensAreNotGivenAgain() throws Exception {
        LockClient client = Locks.open(url);
        long token;
        try (Lease lease = client.lock("x").acquire()) {
            token = lease.token();
        }
        client.close();
        assertThat(open("again").lock("x").acquire().token()).isGreaterThan(token);
    }

    @Test
    void aWorldStaysWhileSomethingOfADeadClientIsHeld() throws Exception {
        LockClient dead = Locks.open(url);
        dead.lock("x").acquire();
        dead.unwrap(ReferenceFaults.class).cut(true);
        dead.close();
        LockClient next = open("next");
        assertThat(next.lock("x").tryAcquire()).isEmpty();
        world(next).advance(TTL);
        assertThat(next.lock("x").tryAcquire()).isPresent();
    }

    @Test
    void aWorldHasOneClockAndOneName() {
        open("manual");
        assertThatThrownBy(() -> Locks.open(url.replace("manual", "real")))
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("clock=manual");
        assertThatThrownBy(() -> Locks.open("lock:reference://a,b")).isInstanceOf(InvalidLockUrlException.class);
        assertThatThrownBy(() -> Locks.open("lock:reference://a:1")).isInstanceOf(InvalidLockUrlException.class);
    }

    @Test
    void whatTheUrlLeavesOutIsNotOffered() {
        assertThat(open("all").features())
                .containsExactlyInAnyOrder(
                        Feature.READ_WRITE,
                        Feature.SEMAPHORE,
                        Feature.FENCING,
                        Feature.FIFO,
                        Feature.LIST,
                        Feature.BREAK,
                        Feature.WAKE_UP,
                        Feature.UPGRADE,
                        Feature.HOLD_AT_LEAST,
                        Feature.DRAIN);
        LockClient bare = Locks.open("lock:reference://bare?clock=manual&without=fifo,upgrade");
        opened.add(bare);
        assertThat(bare.features())
                .doesNotContain(Feature.FIFO, Feature.UPGRADE)
                .contains(Feature.FENCING);
    }

    @Test
    void anAttemptThatComesAfterItsWithdrawalIsRefused() throws Exception {
        LockClient client = open("a");
        ReferenceStore store = world(client).store();
        Session session = new Session(store, client.unwrap(LockBackend.Signals.class), new ManualTime());
        Request request = new Request(77, key("x"), LockMode.EXCLUSIVE, 1, 1, TTL, true, new Owner("a", Map.of()));
        store.withdraw(session, request);
        assertThatThrownBy(() -> store.attempt(session, request)).isInstanceOf(NotExecutedException.class);
        Grant other = ((Attempt.Granted) store.attempt(
                        session, new Request(78, key("x"), LockMode.EXCLUSIVE, 1, 1, TTL, true, request.owner())))
                .grant();
        assertThat(other.id()).isEqualTo(78);
    }
}
